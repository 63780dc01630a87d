import Crypto
import Documents
import Stores

/// The administrator of several processes: `{"version":1,"secret":…,"password":{…}}`.
///
/// `secret` is 256 random bits in hexadecimal. The epoch of the administrator's tokens depends on it and on the
/// password. So every process accepts the tokens of the others, and a changed password ends them.
package struct SharedAdministrator: Sendable {
  let secrets: SharedSecrets
  private let scrypt: ScryptParameters

  package init(_ secrets: SharedSecrets, scrypt: ScryptParameters = .standard) {
    self.secrets = secrets
    self.scrypt = scrypt
  }

  /// The stored password; when none is stored, a new one, which only this process knows until ``store(_:)``.
  /// - Throws: `keys` for a damaged document; the store's errors.
  package func password() async throws -> (password: AdministratorFile.Password, epoch: Int) {
    let content = try await change { _ in }
    let fresh = content.password == nil ? try generatePassword() : nil
    let hash = if let fresh { fresh.hash } else { try Self.hash(in: content) }
    return (
      AdministratorFile.Password(hash: hash, fresh: fresh?.password),
      Self.epoch(content.secret, Array(hash.value.bytes))
    )
  }

  /// Stores a new password, unless another process has stored one meanwhile. It is stored just before it is shown,
  /// because no one would know the password of a process that stored it and then failed to start.
  /// - Returns: whether it is the administrator's password now.
  /// - Throws: `keys` for a damaged document; the store's errors.
  package func store(_ password: AdministratorFile.Password) async throws -> Bool {
    let content = try await change { content in
      content.password = content.password ?? password.hash.value
    }
    return content.password?.bytes == password.hash.value.bytes
  }

  /// The stored password and the epoch of its tokens; nil when none is stored. Writes nothing.
  /// - Throws: `keys` for a damaged document; the store's errors.
  package func storedPassword() async throws -> (hash: PasswordHash, epoch: Int)? {
    guard let content = try await secrets.read(.administrator).map({ try Self.content(of: $0) }),
      content.password != nil
    else { return nil }
    let hash = try Self.hash(in: content)
    return (hash, Self.epoch(content.secret, Array(hash.value.bytes)))
  }

  /// The epoch of the tokens of an administrator whose password an operator has chosen.
  /// - Throws: `keys` for a damaged document; the store's errors.
  package func epoch(of password: Secret) async throws -> Int {
    Self.epoch(try await change { _ in }.secret, Array(password.exposed.utf8))
  }

  /// Stores another random password. The running processes use it within a second.
  /// - Returns: the password, to be shown once.
  package func reset() async throws -> Secret {
    let (fresh, hash) = try generatePassword()
    _ = try await change { $0.password = hash.value }
    return fresh
  }

  struct Content: Sendable {
    var secret: [UInt8]
    var password: JSONValue?
  }

  /// Changes the document, which is created if it is missing.
  func change(_ edit: @escaping @Sendable (inout Content) -> Void) async throws -> Content {
    let secret = (0..<32).map { _ in UInt8.random(in: .min ... .max) }
    let bytes = try await secrets.change(.administrator) { bytes in
      var content = try bytes.map { try Self.content(of: $0) } ?? Content(secret: secret)
      edit(&content)
      var object: JSONObject = ["version": 1, "secret": .string(Hex.string(content.secret))]
      if let password = content.password { object.append("password", password) }
      return JSONValue.object(object).bytes
    }
    return try Self.content(of: bytes)
  }

  /// Reads the document.
  /// - Throws: `keys`.
  static func content(of bytes: [UInt8]) throws -> Content {
    guard let root = try? JSONValue(parsing: bytes, limits: .small), root["version"]?.int == 1,
      let secret = root["secret"]?.string.flatMap({ Hex.bytes($0.utf8) }), secret.count == 32
    else { throw damaged }
    return Content(secret: secret, password: root["password"])
  }

  private static func hash(in content: Content) throws -> PasswordHash {
    guard
      let hash = content.password.flatMap({ value in
        (try? ParsedJSON(value.bytes, limits: .small)).flatMap { PasswordHash($0.root) }
      })
    else { throw damaged }
    return hash
  }

  private func generatePassword() throws -> (password: Secret, hash: PasswordHash) {
    let password = AdministratorFile.random()
    guard let hash = PasswordHash(of: password, scrypt) else { throw ServiceError.hashingBusy }
    return (password, hash)
  }

  /// 31 bits, never 0.
  private static func epoch(_ secret: [UInt8], _ password: [UInt8]) -> Int {
    let code = HMAC<SHA256>.authenticationCode(for: password, using: SymmetricKey(data: secret))
    return code.prefix(4).reduce(0) { $0 << 8 | Int($1) } % Int(Int32.max) + 1
  }

  private static let damaged = ServiceError(.keys, "The administrator's document is damaged.")
}
