package import Accounts
package import Documents
package import Hotels
import JSON
import Lanes
package import Stores

/// Shared lists: who is on them, and what they say of themselves.
///
/// Who is on a list stands in the system store (``ListDirectory``), so that joining, leaving and erasing an account are
/// one commit each, and every request asks there. The list's own store shows it in its `wiki` document, for devices.
/// A list's store is made before the list is known, with a note to erase it, so that a crash leaves nothing behind.
package struct ListService: Sendable {
  let stores: DatabaseManager
  let directory: ListDirectory
  let accounts: AccountService
  let hotels: HotelService
  let now: @Sendable () -> Timestamp
  /// Tells observers that their lists have become others.
  package let memberships = MembershipWatch()

  /// A service over all stores.
  /// - Parameter now: the stores' clock.
  package init(
    stores: DatabaseManager, accounts: AccountService, hotels: HotelService,
    now: @escaping @Sendable () -> Timestamp
  ) {
    self.stores = stores
    self.hotels = hotels
    self.accounts = accounts
    self.now = now
    directory = ListDirectory(stores: stores)
  }

  /// What somebody is to a list; nil for nothing, as for a list that is absent. To be asked for each request.
  package func role(of account: AccountID, in list: AccountID) async throws -> ListRole? {
    try await directory.role(of: account, in: list)
  }

  /// Makes a list.
  /// - Throws: `invalidDocument`, `documentTooLarge`, `quotaExceeded`; the stores' errors.
  package func make(
    title: String, markdown: String, owner: ListMember
  ) async throws -> SharedList {
    var generator = SystemRandomNumberGenerator()
    let (list, now) = (AccountID.random(using: &generator), now())
    let body = try ListDocument.body(
      title: ListText.title(title), markdown: ListText.markdown(markdown), owner: owner.username,
      at: now)
    let store = StoreName.list(list)
    try await WriteReceipt.aside {
      try await directory.update { changes in try changes.noteErasure(of: store) }
      try await stores.withStore(store) { store in
        _ = try await store.put(ListDocument.id(of: list), base: nil, body: body)
      }
    }
    do {
      try await directory.update { changes in
        try changes.makeList(list, ownedBy: owner.account, owner.username, at: now)
        try changes.dropErasure(of: store)
      }
    } catch {
      try? await accounts.erase(store: store)
      throw error
    }
    await tryToShow(list)
    return try await self.list(list, for: owner.account)
  }

  /// A list.
  /// - Throws: `absent` for a list that is absent or that the account is not on.
  package func list(_ id: AccountID, for account: AccountID) async throws -> SharedList {
    guard let members = try await directory.members(of: id),
      let role = members.member(account)?.role
    else { throw ServiceError.absent }
    let document = try await stores.withExisting(.list(id)) { store in
      try await store.readInline { view in try ListDocument(id, in: view) }
    }
    guard let document else { throw ServiceError.absent }
    return SharedList(id, document, members, role: role)
  }

  /// The lists that an account is on, in the order of their ids.
  /// - Parameter last: start after this list.
  /// - Returns: besides, where to go on; nil at the end.
  package func lists(
    of account: AccountID, after last: AccountID?, limit: Int
  ) async throws -> (lists: [SharedList], next: AccountID?) {
    let found = try await directory.lists(of: account, after: last, limit: limit + 1)
    var lists: [SharedList] = []
    for (id, _) in found.prefix(limit) {
      // One that ends meanwhile is left out.
      do { lists.append(try await list(id, for: account)) } catch let error as ServiceError {
        guard error.code == .absent else { throw error }
      }
    }
    return (lists, found.count > limit ? found.dropLast().last?.id : nil)
  }

  /// The names of some of those who are on a list.
  package func usernames(
    of accounts: some Sequence<AccountID> & Sendable, on list: AccountID
  ) async throws -> [AccountID: String] {
    try await directory.usernames(of: Set(accounts), on: list)
  }

  /// How many are on each of some lists, for the operator; in their order.
  package func memberCounts(of lists: [AccountID]) async throws -> [Int] {
    try await directory.memberCounts(of: lists)
  }

  /// The lists that an account owns, in the order of their ids.
  package func lists(ownedBy account: AccountID) async throws -> [AccountID] {
    try await directory.lists(of: account, after: nil, limit: ListLimits.perAccount)
      .filter { $0.role == .owner }.map(\.id)
  }

  /// Throws where a list is not in the state that is demanded.
  package typealias Condition = @Sendable (ListTag) throws -> Void

  /// Gives a list another title or description.
  /// - Parameter condition: looked at in the update that writes.
  /// - Returns: how often the members had changed when the condition was looked at.
  /// - Throws: `absent`; `forbidden` for a reader; `invalidDocument`, `documentTooLarge`; what the condition throws.
  @discardableResult
  package func change(
    _ id: AccountID, by account: AccountID, title: String?, markdown: String?,
    condition: @escaping Condition = { _ in }
  ) async throws -> Int {
    let title = try title.map(ListText.title)
    let markdown = try markdown.map(ListText.markdown)
    try await requireWriter(account, of: id)
    guard let head = try await directory.head(of: id) else { throw ServiceError.absent }
    let (document, now) = (ListDocument.id(of: id), now())
    try await stores.withExisting(.list(id)) { store in
      try await store.update(loading: [document]) { changes in
        guard let known = try ListDocument(id, in: changes.view) else { throw ServiceError.absent }
        try condition(ListTag(revision: known.revision, version: head.version))
        guard let body = try known.changed(title: title, markdown: markdown, at: now) else {
          return
        }
        try changes.put(document, base: known.revision, body: body)
      }
    }
    return head.version
  }

  /// The revision of a list's own document.
  /// - Throws: `absent`.
  func revision(of list: AccountID) async throws -> RevisionID {
    let document = try await stores.withExisting(.list(list)) { store in
      try await store.readInline { view in try ListDocument(list, in: view) }
    }
    guard let document else { throw ServiceError.absent }
    return document.revision
  }

  /// Ends a list, durably before its store is erased.
  /// - Parameter condition: looked at in the update that ends it.
  /// - Throws: `absent`; `forbidden` for anybody but the owner; what the condition throws.
  package func end(
    _ id: AccountID, by account: AccountID, condition: @escaping Condition = { _ in }
  ) async throws {
    try await requireOwner(account, of: id)
    let revision = try await revision(of: id)
    let (ended, members) = try await directory.update { changes in
      guard try changes.role(of: account, in: id) == .owner else { throw ServiceError.absent }
      guard let head = try ListDirectory.head(of: id, in: changes.view) else {
        throw ServiceError.absent
      }
      try condition(ListTag(revision: revision, version: head.version))
      let members = try ListDirectory.members(of: id, in: changes.view)?.all ?? []
      return (try changes.endList(id), members)
    }
    memberships.changed(members.map(\.account))
    for store in ended { try await accounts.erase(store: store) }
    // The others' drafts, which their owner does not size, go by ``catchUp()``.
    await tryToRemoveDrafts(on: id, of: account)
  }

  /// The end of a membership stands whether the drafts go at once or at the next start.
  func tryToRemoveDrafts(on list: AccountID, of author: AccountID) async {
    do { try await removeDrafts(on: list, of: author) } catch { return }
  }

  /// Ends or hands on all lists that an account owns, each in a commit of its own; before the account ends, whose own
  /// commit takes it off the lists that are left.
  package func settleOwned(by account: AccountID, handingOn handsOn: Bool) async throws {
    for list in try await lists(ownedBy: account) {
      guard handsOn, let heir = try await directory.members(of: list)?.heir else {
        try await end(list, by: account)
        continue
      }
      try await handOn(list, to: heir.account, by: account)
      try await Slice.giveWay()
    }
  }

  /// - Throws: `absent` for a list that is absent or that the account is not on; `forbidden` for a reader.
  @discardableResult
  package func requireWriter(_ account: AccountID, of list: AccountID) async throws -> ListRole {
    let role = try await requireMember(account, of: list)
    guard role.mayWrite else { throw ServiceError.readersRead }
    return role
  }

  /// - Throws: `absent` for a list that is absent or that the account is not on.
  package func requireMember(_ account: AccountID, of list: AccountID) async throws -> ListRole {
    guard let role = try await directory.role(of: account, in: list) else {
      throw ServiceError.absent
    }
    return role
  }

  /// - Throws: `absent` for a list that is absent or that the account is not on; `forbidden` for all but the owner.
  func requireOwner(_ account: AccountID, of list: AccountID) async throws {
    guard try await requireMember(account, of: list) == .owner else {
      throw ServiceError.ownersOnly
    }
  }
}

/// Bringing the members into the list's own store.
extension ListService {
  /// Lists that ``finish()`` looks up at a time.
  private static let atOnce = 100

  /// Writes a list's members into its document, and forgets the note that they are not there yet. What fails is done
  /// at the next change or the next start.
  package func show(_ list: AccountID) async throws {
    try await Upkeep.run { try await write(membersOf: list) }
  }

  private func write(membersOf list: AccountID) async throws {
    guard let members = try await directory.members(of: list) else { return }
    memberships.changed(members.all.map(\.account))
    let id = ListDocument.id(of: list)
    try await stores.withStore(.list(list), creating: false) { store in
      try await store?.update(loading: [id]) { changes in
        guard let document = try ListDocument(list, in: changes.view),
          let body = try document.showing(members)
        else { return }
        try changes.put(id, base: document.revision, body: body)
        // The names of those who are gone are in no earlier revision either.
        if document.names(othersThan: members) { changes.dropHistory(of: id) }
      }
    }
    try await directory.update { changes in
      guard let note = try changes.view.local(ListKeys.stale(list)),
        try ListDirectory.root(of: note)["version"]?.int == members.head.version
      else { return }
      changes.write(LocalEdit(ListKeys.stale(list), nil))
    }
  }

  /// Does what a stop or a failure has left to be done: shows the members of lists, removes drafts that were published or
  /// whose list has ended. Once at every start.
  /// - Returns: what could not be done; it is left for the next start.
  package func finish() async throws -> [any Error] {
    try await showStaleLists() + finishPublications() + removeEndedDrafts()
  }

  /// The part of it that may be done at any time: after an account has ended by the command line, or a step has failed.
  /// - Returns: what could not be done.
  package func catchUp() async throws -> [any Error] {
    try await showStaleLists() + removeEndedDrafts()
  }

  private func showStaleLists() async throws -> [any Error] {
    var failures: [any Error] = []
    var tried: Set<AccountID> = []
    while true {
      let lists = try await directory.staleLists(limit: Self.atOnce + tried.count)
        .filter { tried.insert($0).inserted }
      guard !lists.isEmpty else { return failures }
      for list in lists {
        do { try await show(list) } catch { failures.append(error) }
      }
    }
  }
}

extension StoreChanges {
  /// What somebody is to a list.
  func role(of account: AccountID, in list: AccountID) throws -> ListRole? {
    try view.local(ListKeys.membership(account, list)).flatMap(ListDirectory.role)
  }
}
