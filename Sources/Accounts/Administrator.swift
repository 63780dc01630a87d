import Crypto
import Documents
import JSON
import NIOConcurrencyHelpers
package import Stores
import Text

/// The administrator. Only the configuration names one. The service never reads a role from a stored document
/// (CVE-2017-12635 gave administrator rights through a second parser).
package struct Administrator: Sendable {
  /// The name when the configuration does not set one.
  package static let standardName = "admin"

  /// The name. No user can sign up with it.
  package let name: UserName
  /// The password's hash. The password itself is not stored.
  let password: PasswordHash
  /// The account's id, derived from the name.
  package let id: AccountID
  /// The skeleton of the name for comparison with similar ones; nil when ICU's data is missing.
  private let skeleton: [UInt8]?

  /// Makes an administrator from a name and a password hash.
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

  /// Whether a name is the administrator's or looks like it: `adrnin`, or `admin` with a Cyrillic `а`.
  ///
  /// Source: Unicode Technical Standard 39, section 4.
  func isTaken(for other: UserName) -> Bool {
    guard other != name else { return true }
    guard let skeleton, let look = Self.skeletons?.skeleton(of: other.key) else { return false }
    return look == skeleton
  }

  private static let skeletons = TextSkeleton()

  /// Makes an administrator from a password that an operator chose. Blocks for the time of one hash.
  /// - Throws: `invalidName`; `invalidPassword`, also for a commonly used password; `hashingBusy` when the system
  ///   has not enough memory.
  package init(
    name: String, password: Secret, scrypt: ScryptParameters = .standard
  ) throws {
    try PasswordRule.check(password)
    try PasswordRule.checkUnknown(password, of: try UserName(name))
    guard let hash = PasswordHash(of: password, scrypt) else { throw ServiceError.hashingBusy }
    try self.init(name: name, password: hash)
  }
}

/// The administrator of a running process, whose password another process may change.
final class CurrentAdministrator: Sendable {
  private struct State: Sendable {
    var administrator: Administrator?
    var epoch: Int
  }

  private let state: NIOLockedValueBox<State>

  /// - Parameter epoch: the epoch of the administrator's tokens; nil for a random one, so that they end with the process.
  ///   Nothing about them is stored then.
  init(_ administrator: Administrator?, epoch: Int?) {
    state = NIOLockedValueBox(
      State(
        administrator: administrator, epoch: epoch ?? Int.random(in: 1...Int(Int32.max))))
  }

  /// The administrator, nil if the service has none, and the epoch of the administrator's tokens.
  var present: (administrator: Administrator?, epoch: Int) {
    state.withLockedValue { ($0.administrator, $0.epoch) }
  }

  /// Takes another password and its epoch.
  /// - Returns: whether the epoch is new.
  func replace(_ administrator: Administrator, epoch: Int) -> Bool {
    state.withLockedValue { state in
      guard state.epoch != epoch else { return false }
      state = State(administrator: administrator, epoch: epoch)
      return true
    }
  }
}

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
    return try generate(isShown: false)
  }

  /// Generates another password, whose hash is on disk before this returns. For the command line, which shows it at
  /// once.
  /// - Throws: `keys` when the file can't be written. The old password remains valid then, unless only syncing the
  ///   directory has failed.
  package func reset() throws -> Secret {
    let password = try generate(isShown: true)
    guard let fresh = password.fresh else { throw Self.failed }
    return fresh
  }

  /// Records that a new password was shown.
  /// - Throws: `keys` when the file can't be written. The next start generates another password then.
  package func noteShown(_ password: Password) throws {
    try write(password.hash, isShown: true)
  }

  private func generate(isShown: Bool) throws -> Password {
    let password = Self.random()
    guard let hash = PasswordHash(of: password, scrypt) else { throw Self.failed }
    try write(hash, isShown: isShown)
    return Password(hash: hash, fresh: password)
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
    else { throw ServiceError(.keys, "The administrator's file is damaged.") }
    return isShown ? hash : nil
  }

  /// 28 characters from an alphabet of 32, which is 140 random bits, in groups of four. The alphabet lacks
  /// characters that look alike: 0, 1, l and o.
  static func random() -> Secret {
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
