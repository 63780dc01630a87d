import Crypto
import Documents
import Stores

/// The ids of the system store's documents. A user's go by a hash of the name's key, so that a tombstone,
/// which stays, does not spell a name out.
enum AccountKeys {
  /// What the ids of users' documents start with.
  static let userPrefix = "user:"

  /// A user's document.
  static func user(_ name: UserName) -> DocumentID { DocumentID(stored: userPrefix + hash(name)) }

  /// A user's name and password.
  static func credentials(_ name: UserName) -> LocalID { LocalID(receipt: "user:" + hash(name)) }

  /// Notes that somebody has a name of before which, as new names are kept, would be this one.
  static func formerName(_ name: UserName) -> LocalID {
    LocalID(receipt: "former:" + hash(name))
  }

  /// Notes that all names of before were looked at.
  static let formerNames = LocalID(receipt: "formers")

  /// What the ids of notes on guests start with.
  static let guestPrefix = "guest:"

  /// What became of a guest.
  static func guest(_ id: AccountID) -> DocumentID { DocumentID(stored: guestPrefix + id.text) }

  /// The guest whom such a note is on; nil for any other document.
  static func guest(of id: DocumentID) -> AccountID? {
    guard id.text.utf8.starts(with: guestPrefix.utf8) else { return nil }
    return AccountID(
      String(decoding: id.text.utf8.dropFirst(guestPrefix.utf8.count), as: UTF8.self))
  }

  /// A session that was logged out.
  static func revoked(_ session: String) -> LocalID { LocalID(receipt: "revoked:" + session) }

  /// An ID token of another issuer that was exchanged, by the hash of what is signed.
  static func exchanged(_ token: String) -> LocalID { LocalID(receipt: "exchanged:" + token) }

  /// A store that is to be erased.
  static func erasure(_ store: StoreName) -> DocumentID {
    DocumentID(stored: "erasure:" + store.key)
  }

  private static func hash(_ name: UserName) -> String {
    Hex.string(Array(SHA256.hash(data: Array(name.key.utf8))))
  }
}
