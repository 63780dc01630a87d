import Documents
import ICU

/// What is asked of names that nobody has yet. Accounts of before keep theirs, and log in with them.
extension UserName {
  /// Checks besides that a name can be told from others by looking at it: no character that shows nothing (the
  /// zero-width ones, soft hyphens, variation selectors, fillers), no blank but the plain one, and that one only
  /// between other characters and not twice in a row.
  ///
  /// Then it is prepared and enforced by PRECIS' profile UsernameCaseMapped: wide and narrow forms become the usual
  /// ones, and each part between blanks has characters of the IdentifierClass only and keeps the rule of directions.
  /// ``key`` is the name as the profile has it; ``text`` keeps the capital letters, for show.
  ///
  /// Stricter than the profile: joiners (CONTEXTJ) are refused everywhere.
  ///
  /// Source: RFC 8265, section 3.3.
  /// - Throws: `invalidName`.
  package init(ofNewcomer raw: String) throws(AccountError) {
    let given = try UserName(raw)
    try Self.checkLooks(given.text)
    try self.init(Self.widthMapped(given.text))
    try Self.checkLooks(text)
    for part in key.unicodeScalars.split(separator: " ") {
      let part = Array(part)
      if let scalar = Self.illegal(in: part) {
        throw AccountError(
          .invalidName, "A name must consist of letters and digits: not \(Self.code(scalar)).")
      }
      guard Self.keepsDirection(part) else {
        throw AccountError(
          .invalidName, "A name must not mix directions of writing within a word.")
      }
    }
  }

  /// The name with the usual forms of characters in the places of wide and narrow ones; nil where it has none.
  package var widthMapped: UserName? {
    guard text.unicodeScalars.contains(where: \.isWidthVariant) else { return nil }
    return try? UserName(Self.widthMapped(text))
  }

  /// RFC 8265, section 3.3.2, step 1.
  private static func widthMapped(_ text: String) -> String {
    var mapped = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      if scalar.isWidthVariant {
        mapped += String(scalar).normalized(.compatible).unicodeScalars
      } else {
        mapped.append(scalar)
      }
    }
    return String(mapped)
  }

  private static func checkLooks(_ text: String) throws(AccountError) {
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
