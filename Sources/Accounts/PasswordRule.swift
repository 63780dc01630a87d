import ICU

/// Which passwords are taken: 8 to 1,024 bytes of UTF-8 without NUL.
package enum PasswordRule {
  /// The shortest and the longest, in bytes.
  package static let bytes = 8...1_024

  /// Checks a new password.
  /// - Throws: ``AccountError`` with code `invalidPassword`.
  static func check(_ password: Secret) throws(AccountError) {
    guard bytes.contains(password.byteCount) else {
      throw AccountError(
        .invalidPassword,
        "A password has \(bytes.lowerBound) to \(bytes.upperBound) bytes.")
    }
    guard !password.exposed.utf8.contains(0) else {
      throw AccountError(.invalidPassword, "A password must not contain NUL.")
    }
  }

  /// What is hashed: normal form C (RFC 8265 section 4.2.1), so that keyboards that compose differently
  /// type the same password.
  static func normalized(_ password: Secret) -> [UInt8] {
    Array(password.exposed.normalized(.canonical).utf8)
  }
}
