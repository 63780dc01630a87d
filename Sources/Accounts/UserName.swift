import Documents
import ICU
import Stores

/// A user's name: 1 to 239 bytes of UTF-8 in normal form C with at least one letter or digit, without
/// `/`, `:`, `,`, backtick, control characters, line separators and bidirectional controls.
///
/// Two names are the same person's when their ``key`` has the same bytes: normal form C of the lower-case
/// mapping of normal form C (Unicode chapter 3.13, `toLowercase`, no locale). So `Demo` is `demo` and the
/// two spellings of `é` are one, while `ß` and `ss`, or a Latin and a Cyrillic `a`, stay different.
///
/// A name is never a path, an id or a store's name: stores go by random ids.
///
/// Whoever comes from another issuer has no such name but ``issuedPrefix`` and 64 hex digits, which nobody can
/// sign up with: it has a colon.
package struct UserName: Sendable, Hashable {
  /// The longest name, in bytes.
  package static let maximumBytes = 239

  /// The name in normal form C, as it is shown.
  package let text: String
  /// What is compared.
  package let key: String

  /// Checks the rules on the bytes of normal form C: some characters turn into forbidden ones there
  /// (U+1FEF into a backtick).
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

  /// What the names of those begin with who come from another issuer.
  package static let issuedPrefix = "oidc:"

  /// Reads a name that this service gave: one that somebody signed up with, or one of another issuer's.
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

  /// - Parameter digits: 64 lower-case hex digits.
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

  private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
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
