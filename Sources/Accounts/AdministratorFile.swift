import Documents
import Stores

/// The file with the hash of the administrator's generated password: `{"version":1,"shown":…,"password":{…}}`.
///
/// The password itself is not stored. If the server stops after generating a password and before showing it, the
/// next start replaces it.
package struct AdministratorFile: Sendable {
  /// A password's hash and, for a new one, the password.
  package struct Password: Sendable {
    package let hash: PasswordHash
    /// The password, to be shown once; nil when it was shown before.
    package let fresh: Secret?
  }

  private let file: SecretFile
  private let scrypt: ScryptParameters

  package init(_ path: String, scrypt: ScryptParameters = .standard) {
    file = SecretFile(path: path, title: "administrator's file")
    self.scrypt = scrypt
  }

  /// The present password; when none was shown yet, a new one, whose hash is on disk before this returns. Blocks
  /// for the time of one hash.
  /// - Throws: `keys` when the file is damaged, other users may read it, or it can't be written.
  package func password() throws -> Password {
    if let bytes = try file.read(), let hash = try Self.shownHash(in: bytes) {
      return Password(hash: hash, fresh: nil)
    }
    let (hash, fresh) = try generate(isShown: false)
    return Password(hash: hash, fresh: fresh)
  }

  /// Whether the file can be read, but is no file of a password.
  package var isDamaged: Bool {
    guard let bytes = try? file.read() else { return false }
    do { _ = try Self.shownHash(in: bytes) } catch { return true }
    return false
  }

  /// A password that no one knows, for as long as the file is damaged.
  /// - Throws: `keys`.
  package func unknownPassword() throws -> Password {
    guard let hash = PasswordHash(of: Self.random(), scrypt) else { throw Self.failed }
    return Password(hash: hash, fresh: nil)
  }

  /// Generates another password, whose hash is on disk before this returns. For the command line, which shows it at
  /// once.
  /// - Throws: `keys` when the file can't be written. The old password remains valid then, unless only syncing the
  ///   directory has failed.
  package func reset() throws -> Secret { try generate(isShown: true).fresh }

  /// Records that a new password was shown.
  /// - Throws: `keys` when the file can't be written. The next start generates another password then.
  package func noteShown(_ password: Password) throws { try write(password.hash, isShown: true) }

  private func generate(isShown: Bool) throws -> (hash: PasswordHash, fresh: Secret) {
    let password = Self.random()
    guard let hash = PasswordHash(of: password, scrypt) else { throw Self.failed }
    try write(hash, isShown: isShown)
    return (hash, password)
  }

  private func write(_ hash: PasswordHash, isShown: Bool) throws {
    try file.replace(Self.content(hash.value, isShown: isShown))
  }

  static func content(_ password: JSONValue, isShown: Bool) -> [UInt8] {
    let value: JSONValue = ["version": 1, "shown": .bool(isShown), "password": password]
    return value.bytes + [UInt8(ascii: "\n")]
  }

  /// The password's hash in a file as JSON; nil when the password was not shown.
  /// - Throws: `keys`.
  static func shownPassword(in bytes: [UInt8]) throws -> JSONValue? {
    try shownHash(in: bytes)?.value
  }

  /// The hash of a password that was shown; nil when it was not.
  private static func shownHash(in bytes: [UInt8]) throws -> PasswordHash? {
    guard let root = try? ParsedJSON(bytes, limits: .small).root, root["version"]?.int == 1,
      let isShown = root["shown"]?.bool, let hash = root["password"].flatMap(PasswordHash.init)
    else {
      throw ServiceError(
        .keys,
        "The administrator's file is damaged; hotel-bookmarks admin reset-password makes it anew.")
    }
    return isShown ? hash : nil
  }

  /// 28 characters from an alphabet of 32, which is 140 random bits, in groups of four. The alphabet lacks
  /// characters that look alike: 0, 1, l and o.
  static func random() -> Secret {
    let characters = Array("23456789abcdefghijkmnpqrstuvwxyz".utf8)
    var bytes: [UInt8] = []
    for index in 0..<28 {
      if index > 0, index.isMultiple(of: 4) { bytes.append(UInt8(ascii: "-")) }
      bytes.append(characters.randomElement() ?? UInt8(ascii: "x"))
    }
    return Secret(String(decoding: bytes, as: UTF8.self))
  }

  private static let failed = ServiceError(.keys, "No password could be made.")
}
