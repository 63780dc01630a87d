import Documents
import Stores

/// The ids of the system store's documents. A user's id contains a hash of the name's key, so that the tombstone,
/// which remains, does not reveal the name.
enum AccountKeys {
  /// The prefix of the ids of users' documents.
  static let userPrefix = "user:"
  /// The ids of all users' documents: ";" is the byte after ":".
  static let users = DocumentRange(start: userPrefix, end: "user;", includesEnd: false)

  static func user(_ name: UserName) -> DocumentID { DocumentID(stored: userPrefix + hash(name)) }

  /// The local document with a user's name and password hash.
  static func credentials(_ name: UserName) -> LocalID { LocalID(receipt: "user:" + hash(name)) }

  /// The display name of another issuer's user.
  static func displayName(of account: AccountID) -> LocalID {
    LocalID(receipt: "display-name:" + account.text)
  }

  /// The prefix of the ids of guests' documents.
  static let guestPrefix = "guest:"

  /// The document of a guest that was adopted or erased.
  static func guest(_ id: AccountID) -> DocumentID { DocumentID(stored: guestPrefix + id.text) }

  /// The guest of such a document; nil for any other document.
  static func guest(of id: DocumentID) -> AccountID? {
    guard id.text.utf8.starts(with: guestPrefix.utf8) else { return nil }
    return AccountID(
      String(decoding: id.text.utf8.dropFirst(guestPrefix.utf8.count), as: UTF8.self))
  }

  /// The record of a session that was logged out.
  static func revoked(_ session: String) -> LocalID { LocalID(receipt: "revoked:" + session) }

  /// The record of another issuer's ID token that was exchanged, by the hash of its signed bytes.
  static func exchanged(_ token: String) -> LocalID { LocalID(receipt: "exchanged:" + token) }

  /// The record of a store that is to be erased.
  static func erasure(_ store: StoreName) -> DocumentID {
    DocumentID(stored: "erasure:" + store.key)
  }

  /// The ids of all such records.
  static let erasures = DocumentRange(start: "erasure:", end: "erasure;", includesEnd: false)

  private static func hash(_ name: UserName) -> String { Hex.digest(of: name.key, digits: 64) }
}
