import Accounts
package import Documents
import Hotels
import NIOConcurrencyHelpers
package import Stores

/// The shared lists of an import in progress. Their stores are not recorded as lists yet, and a request to erase
/// each of them is stored.
///
/// The import's last step replaces the account's own store by the imported one, which contains a random mark
/// (``mark``). Before that step, the system store records the lists with the same mark.
/// ``ListService/finishImport(_:begunBefore:as:)`` compares both marks: if they are equal, the lists are kept, and
/// otherwise erased. Each import has a record of its own, because several servers may import into one account.
package final class ListImport: Sendable {
  /// The local document of the account's own store that contains the mark of the import that filled it.
  private static let markID = LocalID(receipt: "imported")

  /// How often a long import is renewed: every five minutes.
  package static let renewalSeconds: Int64 = 300

  private let lists: ListService
  private let owner: ListMember
  private let mark: AccountID
  private let context: WriteContext
  /// The bytes of all lists that were made but the last.
  private let given = NIOLockedValueBox<Int64>(0)
  /// The lists that were made, each with its id in the export.
  private let made = NIOLockedValueBox<[(list: AccountID, former: AccountID)]>([])

  package init(_ lists: ListService, for owner: ListMember, as context: WriteContext) {
    self.lists = lists
    self.context = context
    self.owner = owner
    mark = .random()
  }

  /// Creates a store for a list.
  /// - Parameter former: the list's id in the export. The import gives it a new id.
  /// - Throws: `quotaExceeded` for more lists than one account may have.
  package func target(of former: AccountID) async throws -> ImportTarget {
    let owner = owner.account
    let known = try await lists.directory.read(orAbsent: 0) { view in
      try ListDirectory.count(ofListsOf: owner, made: true, in: view)
    }
    guard made.withLockedValue({ $0.count + known < ListLimits.owned }) else {
      throw ServiceError.tooManyOwned
    }
    try await requireRoom()
    let list = AccountID.random()
    made.withLockedValue { $0.append((list, former)) }
    try await lists.stores.update(.system, as: context) { changes in
      try changes.noteErasure(of: .list(list))
    }
    try await lists.stores.withStore(.list(list)) { _ in }
    return ImportTarget(list: list, calledBefore: former, in: lists.stores)
  }

  /// Checks that the lists so far leave room for another one. Each of them has a limit of its own, too.
  /// - Throws: `quotaExceeded`.
  private func requireRoom() async throws {
    if let list = made.withLockedValue({ $0.last?.list }) {
      let bytes = try await lists.stores.withExisting(.list(list)) { store in
        try await store.read { view in try StoreRoom.bytes(of: view) }
      }
      given.withLockedValue { $0 += StoreRoom.rounded(bytes) }
    }
    let (given, owner, limit) = (given.withLockedValue { $0 }, owner.account, lists.ownedBytes)
    try await lists.stores.update(.system, as: context) { changes in
      try changes.requireRoom(for: owner, given + StoreRoom.stepBytes, within: limit)
    }
  }

  /// Shows other servers that the import goes on. They remove what an abandoned import has left, which is known by the
  /// time of its last change.
  /// - Parameter own: the store that will replace the account's own.
  package func renew(_ own: DocumentStore) async throws {
    let made = made.withLockedValue { $0.map(\.list) }
    try await lists.stores.update(.system, as: context) { changes in
      for list in made { try changes.noteErasure(of: .list(list)) }
    }
    try await setMark(in: own)
  }

  /// Records the lists, gives the account's drafts on them the lists' new ids, and writes the mark to the store that
  /// will replace the account's own. This is the last step before that replacement.
  /// - Throws: `invalidExport` for a list without its own document, which no one could see, and for one whose title,
  ///   description or days are not valid.
  package func prepare(_ own: DocumentStore) async throws {
    for (list, former) in self.made.withLockedValue({ $0 }) {
      let document = try await lists.stores.withStore(.list(list)) { store in
        try await store.readInline { view in try ListDocument(list, in: view) }
      }
      guard let document else {
        throw ServiceError(
          .invalidExport,
          "The section of the list \(former) needs the list's own document: "
            + "the id is the list's, the type \(ListDocument.type)")
      }
      do {
        _ = try (
          ListText.title(document.title), ListText.markdown(document.markdown),
          TripDates(of: document.members)
        )
      } catch {
        throw ServiceError(
          .invalidExport, "The list \(former): \(ServiceError(error)?.reason ?? "")")
      }
      try await moveDrafts(from: former, to: list, in: own)
    }
    let (made, mark, owner, now) = (
      made.withLockedValue { $0.map(\.list) }, mark, owner, lists.now()
    )
    try await lists.stores.update(.system, as: context) { changes in
      changes.note(
        ListKeys.imported(by: owner.account, marked: mark),
        [
          "username": .string(owner.username), "at": .time(now),
          "lists": .array(made.map { .string($0.text) }),
        ])
    }
    try await setMark(in: own)
  }

  /// Moves drafts to a list's new id. The account's own store is imported before its lists, so the ids were not known then.
  private func moveDrafts(
    from former: AccountID, to list: AccountID, in own: DocumentStore
  ) async throws {
    while true {
      let drafts = try await own.read(inSlices: ListDraftsReader(on: former)) { reader, view in
        try reader.read(view) ? reader.drafts : nil
      }
      guard !drafts.isEmpty else { return }
      let moves = try drafts.map { draft in
        let moved = try ListDraft(
          of: draft.subject, on: list, base: draft.base, content: draft.content)
        return (
          from: try ListDraft.id(of: draft.document, on: former),
          to: try ListDraft.id(of: moved.document, on: list), draft: moved
        )
      }
      let ids = Set(moves.flatMap { [$0.from, $0.to] })
      try await own.update(loading: ids, as: context) { changes in
        for move in moves {
          if let tree = try changes.view.newest(move.from) {
            changes.write(
              try Edit.deleteAllLeaves(move.from, in: tree, limit: changes.historyLimits))
          }
          var draft = move.draft
          try draft.write(over: try changes.view.document(move.to), in: &changes)
        }
      }
    }
  }

  private func setMark(in own: DocumentStore) async throws {
    let document = LocalDocument(revision: 1, body: Array(mark.text.utf8))
    try await own.update(as: context) { changes in changes.write(LocalEdit(Self.markID, document)) }
  }

  /// Makes the lists visible, or erases them when the imported store did not replace the account's own.
  /// - Parameter answer: makes the import's answer from the result.
  /// - Returns: whether the lists are visible.
  @discardableResult
  package func finish(answer: Answering<Bool>? = nil) async throws -> Bool {
    let isDone = try await lists.finishImport(
      ListKeys.imported(by: owner.account, marked: mark), as: context, answer: answer)
    // The lists of an import that failed before it was recorded.
    let made = made.withLockedValue { $0.map(\.list) }
    for list in made where try await lists.directory.head(of: list) == nil {
      try await lists.accounts.erase(store: .list(list))
    }
    return isDone
  }

  /// The mark in an account's own store; nil when no import has filled it.
  static func mark(of account: AccountID, in stores: DatabaseManager) async throws -> [UInt8]? {
    try await stores.readInline(.user(account)) { view in try view.local(markID)?.body } ?? nil
  }
}

extension ListService {
  /// Completes an import, if it is recorded.
  /// - Parameter id: its record.
  /// - Parameter limit: if other processes import, too: an import that began later is not undone, because it may still
  ///   replace the account's own store.
  /// - Returns: whether the imported store is the account's own, so that its lists are visible.
  @discardableResult
  func finishImport(
    _ id: LocalID, begunBefore limit: Timestamp? = nil, as context: WriteContext,
    answer: Answering<Bool>? = nil
  ) async throws -> Bool {
    guard let account = ListKeys.importer(of: id), let mark = ListKeys.last(of: id) else {
      return false
    }
    let note = try await directory.record(id)
    let isFilled = try await ListImport.mark(of: account, in: stores) == Array(mark.text.utf8)
    // Another process may have completed it.
    guard let note else { return isFilled }
    let lists = (note["lists"]?.array ?? []).compactMap { $0.string.flatMap(AccountID.init) }
    let name = note["username"]?.string ?? ""
    let at = Timestamp(milliseconds: Int64(note["at"]?.int ?? 0))
    if let limit, !isFilled, limit <= at { return false }
    let isDone = try await stores.update(.system, as: context, answer: answer) { changes in
      // Another process may have completed it meanwhile.
      guard try changes.local(id) != nil else { return isFilled }
      let isDone = try isFilled && changes.hasUser(account, named: name)
      if isDone {
        for list in lists {
          _ = try changes.makeList(list, ownedBy: account, name, at: at)
          try changes.dropErasure(of: .list(list))
        }
      }
      changes.write(LocalEdit(id, nil))
      return isDone
    }
    for list in lists {
      if isDone { try await show(list) } else { try await accounts.erase(store: .list(list)) }
    }
    return isDone
  }

  /// Completes the imports that a crash interrupted. Runs at every start, before the lists with a request to erase are
  /// erased.
  /// - Parameter limit: see ``finishImport(_:begunBefore:as:)``.
  /// - Returns: the failures.
  package func finishImports(begunBefore limit: Timestamp? = nil) async throws -> [any Error] {
    let records: [LocalID] = try await directory.read(orAbsent: []) { view in
      try view.localIDs(ListKeys.range(ListKeys.importedPrefix)) { $0 }
    }
    var failures: [any Error] = []
    for record in records {
      do { try await finishImport(record, begunBefore: limit, as: .server) } catch {
        failures.append(error)
      }
    }
    return failures
  }
}
