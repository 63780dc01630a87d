import Crypto
import Documents
import ICU
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
  package init(name: String, password: PasswordHash) throws(AccountError) {
    let name = try UserName(name)
    let digest = SHA256.hash(data: Array("administrator:\(name.key)".utf8))
    guard let id = AccountID(Hex.string(Array(digest.prefix(16)))) else {
      throw AccountError(.invalidName, "This name has no account.")
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
  ) throws(AccountError) {
    try PasswordRule.check(password)
    try PasswordRule.checkUnknown(password, of: try UserName(name))
    guard let hash = PasswordHash(of: password, scrypt) else { throw .hashingBusy }
    try self.init(name: name, password: hash)
  }
}
