import Documents

/// What is asked of names that nobody has yet. Accounts of before keep theirs, and log in with them.
extension UserName {
  /// Checks besides that a name can be told from others by looking at it: no character that shows nothing (the
  /// zero-width ones, soft hyphens, variation selectors, fillers), no blank but the plain one, and that one only
  /// between other characters and not twice in a row.
  ///
  /// In the spirit of PRECIS (RFC 8265, section 3.4; RFC 8264, sections 9.6 and 9.13), which refuses them too.
  /// - Throws: `invalidName`.
  package init(ofNewcomer raw: String) throws(AccountError) {
    try self.init(raw)
    for scalar in text.unicodeScalars {
      if Self.isInvisible(scalar) {
        throw AccountError(
          .invalidName, "A name must not contain invisible characters: \(Self.code(scalar)).")
      }
      if Self.isOddBlank(scalar) {
        throw AccountError(
          .invalidName, "A name must not contain blanks but the plain one: \(Self.code(scalar)).")
      }
    }
    let parts = text.utf8.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
    guard !parts.contains(where: \.isEmpty) else {
      throw AccountError(
        .invalidName, "A name must not begin or end with a blank, or have two in a row.")
    }
  }

  private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.generalCategory == .format || scalar.properties.isDefaultIgnorableCodePoint
  }

  private static func isOddBlank(_ scalar: Unicode.Scalar) -> Bool {
    // The empty pattern of Braille is a symbol, and looks like a blank.
    scalar.properties.generalCategory == .spaceSeparator && scalar != " " || scalar == "\u{2800}"
  }

  /// `U+200D`.
  private static func code(_ scalar: Unicode.Scalar) -> String {
    let digits = String(scalar.value, radix: 16, uppercase: true)
    return "U+" + String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
  }
}
