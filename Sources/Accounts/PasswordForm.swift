import Crypto
import Documents
import Stores

/// Of what a password's hash is made; the raw values are stored.
enum PasswordForm: String, Sendable {
  /// The password.
  case plain = "scrypt"
  /// The password's MD5 as 32 hexadecimal digits in lower case. The travel-sample's web app sends it at each log-in
  /// instead of the password, so both log this user in. It protects the password from nobody who listens.
  case digest = "scrypt-md5"

  /// The form for a new account.
  /// - Parameter digest: what the client sends at log-ins instead of the password; nil for the password.
  /// - Throws: `invalidPassword` for a text that is not the password's MD5, or for a password that looks like one.
  init(of password: Secret, sentAs digest: Secret?) throws {
    guard let digest else {
      self = .plain
      return
    }
    let bytes = PasswordRule.normalized(password)
    guard !Self.isDigest(bytes), Self.digest(of: bytes).elementsEqual(digest.exposed.utf8) else {
      throw ServiceError(
        .invalidPassword, "password must be the MD5 of rawpassword, 32 hexadecimal digits.")
    }
    self = .digest
  }

  /// What is hashed for a password, or for a digest in its place.
  func hashed(_ password: [UInt8]) -> [UInt8] {
    switch self {
    case .digest where !Self.isDigest(password): Self.digest(of: password)
    case .plain, .digest: password
    }
  }

  /// The form for a new password of an account whose password has this form. A password that looks like a digest
  /// is hashed itself.
  func next(for password: [UInt8]) -> PasswordForm { Self.isDigest(password) ? .plain : self }

  /// The MD5 of a password, as 32 hexadecimal digits.
  static func digest(of password: [UInt8]) -> [UInt8] {
    Array(Hex.string(Array(Insecure.MD5.hash(data: password))).utf8)
  }

  private static func isDigest(_ password: [UInt8]) -> Bool {
    password.count == Insecure.MD5.byteCount * 2
      && password.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
  }
}
