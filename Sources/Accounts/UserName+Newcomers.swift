import Documents
import Stores
import Text

/// The rules for the names of users.
extension UserName {
  /// Makes a new user name. Checks first that the name can be told from others by sight: no invisible characters
  /// (zero-width characters, soft hyphens, variation selectors, fillers), no blanks but the plain space, and that
  /// one only between other characters and not twice in a row.
  ///
  /// Then the name is prepared and enforced by the PRECIS profile UsernameCaseMapped. Wide and narrow forms become
  /// the usual ones. Each part between spaces must have characters of the IdentifierClass only and obey the Bidi
  /// Rule. ``key`` is the name in the form of the profile; ``text`` keeps the capital letters for display.
  ///
  /// This is stricter than the profile: joiners (CONTEXTJ) are always refused.
  ///
  /// Source: RFC 8265, section 3.3.
  /// - Throws: `invalidName`.
  package init(ofNewcomer raw: String) throws {
    let given = try UserName(raw)
    try Self.checkVisibility(given.text)
    try self.init(Self.widthMapped(given.text))
    try Self.checkVisibility(text)
    for part in key.unicodeScalars.split(separator: " ") {
      let part = Array(part)
      if let scalar = Self.illegal(in: part) {
        throw ServiceError(
          .invalidName, "A name must consist of letters and digits: not \(Self.code(scalar)).")
      }
      guard Self.keepsDirection(part) else {
        throw ServiceError(.invalidName, "A name must not mix directions of writing within a word.")
      }
    }
  }

  /// The name as a sign-up spells it: wide and narrow characters in the usual forms, and without blanks at its ends,
  /// which keyboards add.
  package var usualSpelling: UserName {
    var scalars = Self.widthMapped(text).unicodeScalars[...]
    while scalars.first?.properties.isWhitespace ?? false { scalars.removeFirst() }
    while scalars.last?.properties.isWhitespace ?? false { scalars.removeLast() }
    let mapped = String(Substring(scalars))
    return mapped.equalsBytes(of: text) ? self : (try? UserName(mapped)) ?? self
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

  private static func checkVisibility(_ text: String) throws {
    for scalar in text.unicodeScalars {
      if Self.isInvisible(scalar) {
        throw ServiceError(
          .invalidName, "A name must not contain invisible characters: \(Self.code(scalar)).")
      }
      if Self.isUnusualSpace(scalar) {
        throw ServiceError(
          .invalidName, "A name must not contain spaces other than U+0020: \(Self.code(scalar)).")
      }
    }
    let parts = text.utf8.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
    guard !parts.contains(where: \.isEmpty) else {
      throw ServiceError(
        .invalidName, "A name must not begin or end with a space, or contain two in a row.")
    }
  }

  private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
    scalar.properties.generalCategory == .format || scalar.properties.isDefaultIgnorableCodePoint
  }

  private static func isUnusualSpace(_ scalar: Unicode.Scalar) -> Bool {
    // The empty Braille pattern is a symbol, but looks like a space.
    scalar.properties.generalCategory == .spaceSeparator && scalar != " " || scalar == "\u{2800}"
  }

  /// The code point in the form `U+200D`.
  private static func code(_ scalar: Unicode.Scalar) -> String {
    let digits = String(scalar.value, radix: 16, uppercase: true)
    return "U+" + String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits
  }

  // The characters of new names: those of PRECIS' IdentifierClass.
  //
  // Source: RFC 8264, sections 4.2, 8 and 9; RFC 5892, appendix A, for the contextual rules.

  /// The first character that is not allowed in a part of a name; nil for none.
  static func illegal(in part: [Unicode.Scalar]) -> Unicode.Scalar? {
    part.indices.first { !isLegal(at: $0, in: part) }.map { part[$0] }
  }

  private static func isLegal(at index: Int, in part: [Unicode.Scalar]) -> Bool {
    let scalar = part[index]
    if valid.contains(scalar.value) { return true }
    if disallowed.contains(scalar.value) { return false }
    if let isLegal = inContext(at: index, in: part) { return isLegal }
    if (0x21...0x7E).contains(scalar.value) { return true }
    let properties = scalar.properties
    guard !scalar.isConjoiningJamo, !properties.isDefaultIgnorableCodePoint,
      !properties.isNoncharacterCodePoint
    else { return false }
    // A character with a compatibility mapping (HasCompat) is refused; the mapped characters are to be used
    // instead.
    guard String(scalar).normalized(.compatible).unicodeScalars.elementsEqual([scalar])
    else { return false }
    switch properties.generalCategory {
    case .lowercaseLetter, .uppercaseLetter, .otherLetter, .decimalNumber, .modifierLetter,
      .nonspacingMark, .spacingMark:
      return true
    default: return false
    }
  }

  /// RFC 8264, section 9.6, "Exceptions": always valid.
  private static let valid: Set<UInt32> = [0xDF, 0x3C2, 0x6FD, 0x6FE, 0xF0B, 0x3007]
  /// RFC 8264, section 9.6, "Exceptions": never valid.
  private static let disallowed: Set<UInt32> = [
    0x640, 0x7FA, 0x302E, 0x302F, 0x3031, 0x3032, 0x3033, 0x3034, 0x3035, 0x303B,
  ]

  /// Whether a character with a contextual rule (CONTEXTO) is in an allowed context; nil for other characters.
  private static func inContext(at index: Int, in part: [Unicode.Scalar]) -> Bool? {
    let before = index > 0 ? part[index - 1] : nil
    let after = index + 1 < part.count ? part[index + 1] : nil
    switch part[index].value {
    case 0xB7: return before == "l" && after == "l"
    case 0x375: return after?.script == .greek
    case 0x5F3, 0x5F4: return before?.script == .hebrew
    case 0x30FB: return part.contains { [.hiragana, .katakana, .han].contains($0.script) }
    case 0x660...0x669: return !part.contains { (0x6F0...0x6F9).contains($0.value) }
    case 0x6F0...0x6F9: return !part.contains { (0x660...0x669).contains($0.value) }
    default: return nil
    }
  }

  /// Whether a part obeys the Bidi Rule. The rule applies only to parts with a character of a right-to-left script.
  ///
  /// Source: RFC 5893, section 2, "The Bidi Rule", by its numbers.
  static func keepsDirection(_ part: [Unicode.Scalar]) -> Bool {
    let directions = part.map(\.direction)
    let rightward: [TextDirection?] = [.rightToLeft, .arabicLetter, .arabicNumber]
    guard directions.contains(where: rightward.contains) else { return true }
    let neutral: [TextDirection?] = [
      .europeanNumber, .europeanSeparator, .commonSeparator, .europeanTerminator, .otherNeutral,
      .boundaryNeutral, .nonspacingMark,
    ]
    // Conditions 5 and 6 concern left-to-right names, which can't have such a character.
    guard let first = directions.first, first == .rightToLeft || first == .arabicLetter else {
      return false
    }
    let last = directions.last { $0 != .nonspacingMark } ?? nil
    let hasBothNumbers = directions.contains(.europeanNumber) && directions.contains(.arabicNumber)
    return directions.allSatisfy { rightward.contains($0) || neutral.contains($0) }
      && (rightward.contains(last) || last == .europeanNumber) && !hasBothNumbers
  }

  /// The generated name of another issuer's user: a hash of issuer and subject. Equal subjects of two issuers get
  /// different names, and a name reveals neither.
  init(issuer: String, subject: String) {
    // The length before the issuer separates issuer and subject unambiguously.
    let text = "\(issuer.utf8.count):\(issuer)\(subject)"
    self.init(issuedDigits: Hex.digest(of: text, digits: 64))
  }
}
