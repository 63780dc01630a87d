import Documents
import Stores

/// The ids of the records of lists in the system store.
enum ListKeys {
  /// The prefix of the records of lists whose stores don't contain their members yet.
  static let stalePrefix = "list-stale/"

  static func list(_ list: AccountID) -> LocalID { LocalID(receipt: "list/" + list.text) }

  static func members(of list: AccountID) -> String { "list-member/" + list.text + "/" }

  static func member(_ account: AccountID, of list: AccountID) -> LocalID {
    LocalID(receipt: members(of: list) + account.text)
  }

  static func lists(of account: AccountID) -> String { "lists-of/" + account.text + "/" }

  static func membership(_ account: AccountID, _ list: AccountID) -> LocalID {
    LocalID(receipt: lists(of: account) + list.text)
  }

  /// The prefix of the records of the lists that an account was on.
  static func left(by account: AccountID) -> String { "left/" + account.text + "/" }

  /// The record that an account was on a list. It has only the first three digits of the list's id, so that an account
  /// has at most 4,096 of them; a later one takes the place of another list's.
  static func left(_ account: AccountID, _ list: AccountID) -> LocalID {
    LocalID(receipt: left(by: account) + list.text.prefix(3))
  }

  static func stale(_ list: AccountID) -> LocalID { LocalID(receipt: stalePrefix + list.text) }

  /// The prefix of the records of lists that have ended.
  static let endedPrefix = "list-ended/"

  static func ended(_ list: AccountID) -> LocalID { LocalID(receipt: endedPrefix + list.text) }

  /// The prefix of the records of drafts that are to be removed.
  static let endedDraftsPrefix = "list-drafts/"
  /// The prefix of the records of drafts that are being published.
  static let publishingPrefix = "publishing/"

  /// The prefix of the records of imports.
  static let importedPrefix = "list-import/"

  /// The record of one import.
  static func imported(by account: AccountID, marked mark: AccountID) -> LocalID {
    LocalID(receipt: importedPrefix + account.text + "/" + mark.text)
  }

  static func importer(of id: LocalID) -> AccountID? {
    let prefix = LocalID.receiptPrefix.utf8.count + importedPrefix.utf8.count
    return AccountID(String(decoding: id.text.utf8.dropFirst(prefix).prefix(32), as: UTF8.self))
  }

  static func endedDrafts(of author: AccountID, on list: AccountID) -> LocalID {
    LocalID(receipt: endedDraftsPrefix + list.text + "/" + author.text)
  }

  static func publishing(
    _ document: DocumentID, on list: AccountID, by author: AccountID
  ) -> LocalID {
    let digest = Hex.digest(of: list.text + document.text, digits: 32)
    return LocalID(receipt: publishingPrefix + digest + "/" + author.text)
  }

  /// The prefix of the invitations of an account by name.
  static func invited(_ account: AccountID) -> String { "invited/" + account.text + "/" }

  static func invited(_ account: AccountID, to list: AccountID) -> LocalID {
    LocalID(receipt: invited(account) + list.text)
  }

  /// The prefix of the invitations to a list by name.
  static func invited(to list: AccountID) -> String { "invited-to/" + list.text + "/" }

  static func invitation(of account: AccountID, to list: AccountID) -> LocalID {
    LocalID(receipt: invited(to: list) + account.text)
  }

  /// Whom a list is offered by its owner.
  static func offer(of list: AccountID) -> LocalID { LocalID(receipt: "list-offer/" + list.text) }

  /// The prefix of the accounts whose invitations an account does not see.
  static func blocked(by account: AccountID) -> String { "invitation-block/" + account.text + "/" }

  static func block(of inviter: AccountID, by account: AccountID) -> LocalID {
    LocalID(receipt: blocked(by: account) + inviter.text)
  }

  static func invitation(_ hash: String) -> LocalID { LocalID(receipt: "invitation/" + hash) }

  static func invitations(to list: AccountID) -> String { "invitations/" + list.text + "/" }

  static func invitation(_ id: AccountID, to list: AccountID) -> LocalID {
    LocalID(receipt: invitations(to: list) + id.text)
  }

  static func link(_ hash: String) -> LocalID { LocalID(receipt: "list-link/" + hash) }

  static func links(to list: AccountID) -> String { "list-links/" + list.text + "/" }

  static func link(_ id: AccountID, to list: AccountID) -> LocalID {
    LocalID(receipt: links(to: list) + id.text)
  }

  /// All ids with this prefix. The prefix ends with a slash; `0` is the next byte after the slash.
  static func range(_ prefix: String) -> DocumentRange { .below(LocalID.receiptPrefix + prefix) }

  /// The id of an account, list or invitation at the end of a record's id.
  static func last(of id: LocalID) -> AccountID? {
    AccountID(String(decoding: id.text.utf8.suffix(32), as: UTF8.self))
  }
}
