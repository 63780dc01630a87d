import Crypto
import Documents
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
  package init(name: String, password: Secret, scrypt: ScryptParameters = .standard) throws {
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
