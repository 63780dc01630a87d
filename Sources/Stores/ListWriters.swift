import Documents

/// Who may have something of their own in a list's store: local documents and kept answers.
///
/// The memberships are recorded in the system store, and a request looks its writer's up before the update. So the list's
/// store repeats the members (`receipt/list-writer/<account>`): an update of an account whose membership has ended since
/// is refused in its transaction, and what was written before is removed after that (``DocumentStore/forget(writer:)``).
/// Without the note `receipt/list-writers`, as in a new list's store, every account that the request found to be a
/// member may write.
enum ListWriters {
  fileprivate static let note = LocalID(receipt: "list-writers")
  fileprivate static let folder = LocalID.receiptPrefix + "list-writer/"

  fileprivate static func id(of account: AccountID) -> LocalID {
    LocalID(stored: folder + account.text)
  }

  /// Checks that the author of an update is not a former member of the list.
  /// - Throws: `absent`, as for everybody who is not on the list.
  static func require(_ changes: StoreChanges, in store: StoreName) throws {
    guard case .list = store, case .user(let account) = changes.author,
      try changes.view.local(note) != nil, try changes.view.local(id(of: account)) == nil
    else { return }
    throw ServiceError.absent
  }
}

extension StoreChanges {
  /// Writes to a list's store who its members are.
  package mutating func setListWriters(_ accounts: [AccountID]) throws {
    let former = Set(try view.localValues(.below(ListWriters.folder)) { id, _ in id })
    let present = Set(accounts.map(ListWriters.id))
    for id in former.subtracting(present) { write(LocalEdit(id, nil)) }
    let mark = LocalDocument(revision: 1, body: DocumentBody.empty.bytes)
    for id in present.subtracting(former) { write(LocalEdit(id, mark)) }
    if try view.local(ListWriters.note) == nil { write(LocalEdit(ListWriters.note, mark)) }
  }

  /// Lets every member write, who may have joined since, until ``setListWriters(_:)``.
  package mutating func forgetListWriters() { write(LocalEdit(ListWriters.note, nil)) }
}
