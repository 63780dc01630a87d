import Crypto
import Documents
package import Stores

/// The administrator, whom the configuration names and no document can: no role is ever read from a
/// stored document (CVE-2017-12635 was one that came in through a second parser).
package struct Administrator: Sendable {
  /// The name; nobody can sign up with it.
  package let name: UserName
  /// The password.
  let password: Secret
  /// The account's id, made of the name.
  package let id: AccountID

  /// An administrator by name and password.
  /// - Throws: `invalidName`, `invalidPassword`.
  package init(name: String, password: Secret) throws(AccountError) {
    try PasswordRule.check(password)
    let name = try UserName(name)
    let digest = SHA256.hash(data: Array("administrator:\(name.key)".utf8))
    guard let id = AccountID(Hex.string(Array(digest.prefix(16)))) else {
      throw AccountError(.invalidName, "This name has no account.")
    }
    self.name = name
    self.password = password
    self.id = id
  }
}
