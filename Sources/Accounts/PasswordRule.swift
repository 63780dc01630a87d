import Documents
import Stores
import Text

/// The rules for passwords: 8 to 1,024 bytes of UTF-8 without NUL.
package enum PasswordRule {
  /// The permitted lengths in bytes.
  package static let bytes = 8...1_024

  /// Checks a new password.
  /// - Throws: ``ServiceError`` with code `invalidPassword`.
  static func check(_ password: Secret) throws {
    guard bytes.contains(password.byteCount) else {
      throw ServiceError(
        .invalidPassword,
        "A password has \(bytes.lowerBound) to \(bytes.upperBound) bytes.")
    }
    guard !password.exposed.utf8.contains(0) else {
      throw ServiceError(.invalidPassword, "A password must not contain NUL.")
    }
  }

  /// The bytes that are hashed: normal form C (RFC 8265 section 4.2.1), so that keyboards that compose characters
  /// differently produce the same password.
  static func normalized(_ password: Secret) -> [UInt8] {
    Array(password.exposed.normalized(.canonical).utf8)
  }

  /// Default passwords of installations, and the first entries of lists of the most used passwords, of 8 bytes and
  /// more; shorter ones are refused for their length. Compared without case.
  private static let known = [
    "00000000", "11111111", "12341234", "12345678", "123456789", "1234567890", "123123123",
    "1q2w3e4r", "1qaz2wsx", "abcd1234", "abcdefgh", "admin123", "admin1234", "adminadmin",
    "administrator", "adminpass", "asdfghjk", "changeit", "changeme", "change-me", "change_me",
    "changethis", "couchbase", "couchdb1", "default1", "hotel-bookmarks", "hotelbookmarks",
    "iloveyou", "letmein1", "password", "password1", "password12", "password123", "passw0rd",
    "p@ssw0rd", "p@ssword", "qwerty123", "qwertyui", "qwertyuiop", "rootroot", "secret123",
    "sunshine", "supersecret", "trustno1", "welcome1",
  ]

  /// Refuses commonly used passwords for the administrator, because whoever finds the server tries them
  /// (CVE-2022-24706 was a default secret).
  /// - Throws: ``ServiceError`` with code `invalidPassword`.
  static func checkUnknown(_ password: Secret, of name: UserName) throws {
    let text = password.exposed.lowercased()
    let isOneByte = Set(text.utf8).count == 1
    let isKnown = known.contains { $0.equalsBytes(of: text) } || name.key.equalsBytes(of: text)
    guard !isOneByte, !isKnown else {
      throw ServiceError(.invalidPassword, "This password is too common.")
    }
  }
}
