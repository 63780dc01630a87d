import Documents
import Stores
import Text

/// A user name: 1 to 239 bytes of UTF-8 in normal form C with at least one letter or digit, without `/`, `:`, `,`,
/// backtick, control characters, line separators and bidirectional controls.
///
/// Two names are equal when their ``key`` has the same bytes: normal form C of the lower-case mapping of normal
/// form C (Unicode chapter 3.13, `toLowercase`, no locale). So `Demo` equals `demo`, and the two spellings of `é`
/// are equal. `ß` and `ss` differ, and so do a Latin and a Cyrillic `a`.
///
/// A name is never used as a path, an id or a store's name. Stores have random ids.
///
/// A user of another issuer has a generated name: ``issuedPrefix`` and 64 hexadecimal digits. No one can sign up
/// with it, because it contains a colon.
package struct UserName: Sendable, Hashable {
  package static let maximumBytes = 239

  /// The name in normal form C, for display.
  package let text: String
  /// The text by which names are compared.
  package let key: String

  /// Makes a name. The rules are checked on the bytes of normal form C, because the normalisation turns some
  /// characters into forbidden ones (U+1FEF into a backtick).
  /// - Throws: ``ServiceError`` with code `invalidName`.
  package init(_ raw: String) throws {
    guard raw.utf8.count <= Self.maximumBytes * 3 else { throw Self.wrongLength }
    let text = raw.normalized(.canonical)
    guard (1...Self.maximumBytes).contains(text.utf8.count) else { throw Self.wrongLength }
    guard !text.utf8.contains(where: "/:,`".utf8.contains) else {
      throw ServiceError(.invalidName, "A name must not contain / : , or a backtick.")
    }
    guard !text.unicodeScalars.contains(where: Self.isControl) else {
      throw ServiceError(.invalidName, "A name must not contain control characters.")
    }
    guard text.unicodeScalars.contains(where: Self.isLetterOrDigit) else {
      throw ServiceError(.invalidName, "A name must contain a letter or a digit.")
    }
    self.text = text
    key = text.lowercased().normalized(.canonical)
  }

  /// The prefix of the names of other issuers' users.
  package static let issuedPrefix = "oidc:"

  var isGenerated: Bool { text.utf8.starts(with: Self.issuedPrefix.utf8) }

  /// Reads a name that the service has stored: one from a sign-up, or a generated one.
  /// - Throws: `invalidName`.
  package init(given text: String) throws {
    let digits = text.utf8.dropFirst(Self.issuedPrefix.utf8.count)
    if text.utf8.starts(with: Self.issuedPrefix.utf8), digits.count == 64,
      Hex.bytes(digits) != nil
    {
      self.init(issuedDigits: String(Substring(digits)))
    } else {
      try self.init(text)
    }
  }

  /// Makes a generated name.
  /// - Parameter digits: 64 lower-case hexadecimal digits.
  init(issuedDigits digits: String) {
    text = Self.issuedPrefix + digits
    key = text
  }

  package static func == (left: UserName, right: UserName) -> Bool {
    left.key.equalsBytes(of: right.key)
  }

  package func hash(into hasher: inout Hasher) { key.hashBytes(into: &hasher) }

  private static let wrongLength = ServiceError(
    .invalidName, "A name has 1 to \(maximumBytes) bytes.")

  /// Whether a character is a control character, a line separator or a bidirectional control.
  static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator, .surrogate: true
    default: scalar.properties.isBidiControl
    }
  }

  private static func isLetterOrDigit(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
      .decimalNumber, .letterNumber:
      true
    default: false
    }
  }
}
