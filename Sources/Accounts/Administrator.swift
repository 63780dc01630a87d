import Crypto
import Documents
import ICU
import JSON
package import Stores

/// The administrator, whom the configuration names and no document can: no role is ever read from a
/// stored document (CVE-2017-12635 was one that came in through a second parser).
package struct Administrator: Sendable {
  /// The name that counts unless the configuration says another.
  package static let standardName = "admin"

  /// The name; nobody can sign up with it.
  package let name: UserName
  /// The password's hash; the password itself is kept nowhere.
  let password: PasswordHash
  /// The account's id, made of the name.
  package let id: AccountID
  /// What the name looks like; nil where ICU's data is not there.
  private let skeleton: [UInt8]?

  /// An administrator by name and password.
  /// - Throws: `invalidName`.
  package init(name: String, password: PasswordHash) throws {
    let name = try UserName(name)
    let digest = SHA256.hash(data: Array("administrator:\(name.key)".utf8))
    guard let id = AccountID(Hex.string(Array(digest.prefix(16)))) else {
      throw ServiceError(.invalidName, "This name has no account.")
    }
    self.name = name
    self.password = password
    self.id = id
    skeleton = Self.skeletons?.skeleton(of: name.key)
  }

  /// Whether a name is the administrator's, or looks like it: `adrnin`, or `admin` with a Cyrillic `а`.
  ///
  /// Source: Unicode Technical Standard 39, section 4.
  func isTaken(for other: UserName) -> Bool {
    guard other != name else { return true }
    guard let skeleton, let look = Self.skeletons?.skeleton(of: other.key) else { return false }
    return look == skeleton
  }

  private static let skeletons = TextSkeleton()

  /// An administrator whose password an operator chose. Blocks for the time of one hash.
  /// - Throws: `invalidName`; `invalidPassword`, also for one that everybody knows; `hashingBusy` where the
  ///   system does not give the memory.
  package init(
    name: String, password: Secret, scrypt: ScryptParameters = .standard
  ) throws {
    try PasswordRule.check(password)
    try PasswordRule.checkUnknown(password, of: try UserName(name))
    guard let hash = PasswordHash(of: password, scrypt) else { throw ServiceError.hashingBusy }
    try self.init(name: name, password: hash)
  }
}

/// The file that keeps the hash of a password that was drawn for the administrator:
/// `{"version":1,"shown":…,"password":{…}}`.
///
/// The password itself is nowhere once it was shown. One that nobody has seen, because the server ended
/// between drawing it and showing it, is replaced at the next start.
package struct AdministratorFile: Sendable {
  /// A password's hash and, where it was drawn just now, the password.
  package struct Password: Sendable {
    /// The hash.
    package let hash: PasswordHash
    /// The password, to be shown once; nil for one that was shown before.
    package let fresh: Secret?
  }

  private let file: SecretFile
  private let scrypt: ScryptParameters

  /// The file at a path.
  package init(_ path: String, scrypt: ScryptParameters = .standard) {
    file = SecretFile(path: path, title: "administrator's file")
    self.scrypt = scrypt
  }

  /// The password that was shown; without one a new one, whose hash is on disk before this returns. Blocks
  /// for the time of one hash.
  /// - Throws: `keys` when the file is not one that this service wrote, others may read it, or it can't be
  ///   written.
  package func password() throws -> Password {
    if let bytes = try file.read(), let hash = try Self.shownHash(in: bytes) {
      return Password(hash: hash, fresh: nil)
    }
    return try draw(isShown: false)
  }

  /// Draws another password, on disk before this returns; for the command line, which shows it at once.
  /// - Throws: `keys` when the file can't be written; the old password stands then.
  package func reset() throws -> Secret {
    let password = try draw(isShown: true)
    guard let fresh = password.fresh else { throw Self.failed }
    return fresh
  }

  /// Notes that a fresh password was shown.
  /// - Throws: `keys` when the file can't be written; the next start draws another password then.
  package func noteShown(_ password: Password) throws {
    try write(password.hash, isShown: true)
  }

  private func draw(isShown: Bool) throws -> Password {
    let password = Self.random()
    guard let hash = PasswordHash(of: password, scrypt) else { throw Self.failed }
    try write(hash, isShown: isShown)
    return Password(hash: hash, fresh: password)
  }

  private func write(_ hash: PasswordHash, isShown: Bool) throws {
    let value: JSONValue = ["version": 1, "shown": .bool(isShown), "password": hash.value]
    try file.replace(value.bytes + [UInt8(ascii: "\n")])
  }

  /// The hash of a password that was shown; nil for one that was not.
  private static func shownHash(in bytes: [UInt8]) throws -> PasswordHash? {
    guard let root = try? ParsedJSON(bytes, limits: .small).root, root["version"]?.int == 1,
      let isShown = root["shown"]?.bool, let hash = root["password"].flatMap(PasswordHash.init)
    else { throw ServiceError(.keys, "The administrator's file is damaged.") }
    return isShown ? hash : nil
  }

  /// 28 characters of 32, which is 140 random bits, in groups of four. None looks like another: there is no
  /// 0, 1, l or o.
  private static func random() -> Secret {
    let characters = Array("23456789abcdefghijkmnpqrstuvwxyz".utf8)
    var generator = SystemRandomNumberGenerator()
    var bytes: [UInt8] = []
    for index in 0..<28 {
      if index > 0, index.isMultiple(of: 4) { bytes.append(UInt8(ascii: "-")) }
      bytes.append(characters.randomElement(using: &generator) ?? UInt8(ascii: "x"))
    }
    return Secret(String(decoding: bytes, as: UTF8.self))
  }

  private static let failed = ServiceError(.keys, "No password could be made.")
}
