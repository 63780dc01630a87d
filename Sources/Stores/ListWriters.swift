import Documents

/// Who may have something of their own in a list's store: local documents and kept answers.
///
/// The memberships are recorded in the system store, and a request looks its writer's up before the update. So the list's
/// store repeats the members (`receipt/list-writer/<account>`): an update of an account whose membership has ended since
/// is refused in its transaction, and what was written before is removed after that (``DocumentStore/forget(writer:)``).
/// The body is `{"writes":true}`, and `{}` for a member who may only read.
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
      try changes.view.local(note) != nil, try !has(account, in: changes.view)
    else { return }
    throw ServiceError.absent
  }

  /// Whether the list's store knows an account as a member.
  static func has(_ account: AccountID, in view: any StoreView) throws -> Bool {
    try view.local(id(of: account)) != nil
  }
}

extension StoreChanges {
  /// Writes to a list's store who its members are. Devices of a reader go on without what was refused of them. If the
  /// reader may write now, they begin again, and send it.
  package mutating func setListWriters(_ members: [(account: AccountID, mayWrite: Bool)]) throws {
    let known = try view.localValues(.below(ListWriters.folder)) { id, note in (id, note.body) }
    var former = Dictionary(known) { $1 }
    let (reads, writes) = (DocumentBody.empty.bytes, JSONValue.object(["writes": true]).bytes)
    for (account, mayWrite) in members {
      let (id, mark) = (ListWriters.id(of: account), mayWrite ? writes : reads)
      let known = former.removeValue(forKey: id)
      guard known != mark else { continue }
      write(LocalEdit(id, LocalDocument(revision: 1, body: mark)))
      if mayWrite { try forgetCheckpoints(of: account) }
    }
    for id in former.keys { write(LocalEdit(id, nil)) }
    guard try view.local(ListWriters.note) == nil else { return }
    write(LocalEdit(ListWriters.note, LocalDocument(revision: 1, body: reads)))
  }

  /// Lets every member write, who may have joined since, until ``setListWriters(_:)``.
  package mutating func forgetListWriters() { write(LocalEdit(ListWriters.note, nil)) }
}
