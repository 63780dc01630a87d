package import Accounts
package import Documents
package import Hotels
import Scheduling
package import Stores

/// Shared lists: their members, titles and descriptions.
///
/// The system store records the members of every list (``ListDirectory``), so that joining, leaving and erasing an
/// account are one commit each. Every request reads it there. The list's own store repeats the members in its
/// `wiki` document, for devices. A list's store is created before the list is recorded, with a request to erase it,
/// so that a crash leaves nothing behind.
package struct ListService: Sendable {
  let stores: DatabaseManager
  package let directory: ListDirectory
  let accounts: AccountService
  let hotels: HotelService
  let ownedBytes: Int64
  let now: @Sendable () -> Timestamp

  /// Makes a service over all stores.
  /// - Parameter ownedBytes: the bytes of all lists of one owner.
  /// - Parameter now: the stores' clock.
  package init(
    stores: DatabaseManager, accounts: AccountService, hotels: HotelService,
    ownedBytes: Int64 = ListLimits.ownedBytes, now: @escaping @Sendable () -> Timestamp
  ) {
    self.stores = stores
    self.hotels = hotels
    self.accounts = accounts
    self.ownedBytes = ownedBytes
    self.now = now
    directory = ListDirectory(stores: stores)
  }

  /// Tells the answers of accounts that wait that memberships have changed.
  func tell(_ accounts: some Sequence<AccountID>) {
    stores.subscriptions.checkRights(of: accounts.map { Author.user($0) })
  }

  /// The role of an account on a list; nil when the account is not a member or the list is absent. Every request
  /// must ask again.
  package func role(of account: AccountID, in list: AccountID) async throws -> ListRole? {
    try await directory.role(of: account, in: list)
  }

  /// Whether an account's membership of a list has ended within ``ListLimits/leftSeconds``. One indexed read.
  package func hasLeft(_ list: AccountID, _ account: AccountID) async throws -> Bool {
    let now = now()
    return try await directory.read(orAbsent: false) { view in
      guard let note = try view.local(ListKeys.left(account, list)) else { return false }
      let root = try ListDirectory.root(of: note)
      return (root["list"]?.stringEquals(list.text) ?? false)
        && now < ListDirectory.time("until", in: root)
    }
  }

  /// Creates a list.
  /// - Throws: `invalidDocument`, `documentTooLarge`, `quotaExceeded`; `storageFull` while the disk's last space is kept
  ///   for others; the stores' errors.
  package func make(
    title: String, markdown: String, dates: TripChange = TripChange(), owner: ListMember,
    as context: WriteContext,
    answer: Answering<SharedList>? = nil
  ) async throws -> SharedList {
    try stores.requireSpaceForNewcomers()
    let (list, now) = (AccountID.random(), now())
    let body = try ListDocument.body(
      title: ListText.title(title), markdown: ListText.markdown(markdown), dates: dates,
      owner: owner.username, at: now)
    let store = StoreName.list(list)
    try await stores.update(.system, as: context) { changes in try changes.noteErasure(of: store) }
    let id = ListDocument.id(of: list)
    let document = try await stores.withStore(store) { store in
      try await store.update(loading: [id], as: context) { changes in
        _ = try changes.put(id, base: nil, body: body)
      }
      return try await store.readInline { view in try ListDocument(list, in: view) }
    }
    guard let document else { throw ServiceError.absent }
    let made: SharedList
    do {
      made = try await stores.update(.system, as: context, answer: answer) { [ownedBytes] changes in
        try changes.requireRoom(for: owner.account, within: ownedBytes)
        let members = try changes.makeList(list, ownedBy: owner.account, owner.username, at: now)
        try changes.dropErasure(of: store)
        return SharedList(list, document, members, role: .owner)
      }
    } catch {
      // After any other error the list may exist nevertheless. If it does not, a later start erases its store.
      let isRefused =
        error is WriteReceipt.AnsweredBefore
        || [.quotaExceeded, .missing, .receiptMismatch].contains(ServiceError(error)?.code)
      if isRefused { try? await accounts.erase(store: store) }
      throw error
    }
    try? await show(list)
    return made
  }

  /// A list.
  /// - Throws: `absent` when the list does not exist or the account is not a member.
  package func list(_ id: AccountID, for account: AccountID) async throws -> SharedList {
    guard let members = try await directory.members(of: id),
      let role = members.member(account)?.role
    else { throw ServiceError.absent }
    return SharedList(id, try await document(of: id), members, role: role)
  }

  /// The lists of which an account is a member, in the order of their ids. A page ends early when the lists are long; see
  /// ``ListLimits/listPageBytes``.
  /// - Parameter last: the list after which the page starts.
  /// - Returns: the lists; those of the page that can't be read because they are damaged; and the id after which the next
  ///   page starts; nil at the end.
  package func lists(
    of account: AccountID, after last: AccountID?, limit: Int
  ) async throws -> (lists: [SharedList], damaged: [AccountID], next: AccountID?) {
    let found = try await directory.lists(of: account, after: last, limit: limit + 1)
    var (lists, damaged, bytes): ([SharedList], [AccountID], Int) = ([], [], 0)
    for (index, (id, _)) in found.prefix(limit).enumerated() {
      // A list that is deleted in the meantime is left out.
      do {
        let list = try await list(id, for: account)
        lists.append(list)
        bytes += list.pageBytes
      } catch let error as ServiceError {
        if error.code.isOfDamage {
          damaged.append(id)
        } else if error.code != .absent {
          throw error
        }
      }
      let isLast = index == limit - 1 || bytes >= ListLimits.listPageBytes
      if isLast { return (lists, damaged, index + 1 < found.count ? id : nil) }
    }
    return (lists, damaged, nil)
  }

  /// The lists that an account owns, in the order of their ids.
  package func lists(ownedBy account: AccountID) async throws -> [AccountID] {
    try await directory.lists(of: account, after: nil, limit: ListLimits.perAccount)
      .filter { $0.role == .owner }.map(\.id)
  }

  /// A check of a list's state. It throws when the state is not the required one.
  package typealias Condition = @Sendable (ListTag) throws -> Void

  /// Changes the title, the description or the days of a list.
  /// - Parameter seen: the description that the author saw; nil to replace whatever is there.
  /// - Parameter condition: checked in the update that writes.
  /// - Returns: the list, with its members when the condition was checked.
  /// - Throws: `absent`; `forbidden` for a reader; `invalidDocument`, `documentTooLarge`; what the condition
  ///   throws.
  @discardableResult
  package func change(
    _ id: AccountID, by account: AccountID, title: String?, markdown: String?, seen: String? = nil,
    dates: TripChange = TripChange(),
    condition: @escaping Condition = { _ in }, as context: WriteContext,
    answer: Answering<SharedList>? = nil
  ) async throws -> SharedList {
    let title = try title.map(ListText.title)
    let markdown = try markdown.map(ListText.markdown)
    let role = try await requireWriter(account, of: id)
    guard let members = try await directory.members(of: id) else { throw ServiceError.absent }
    let document = ListDocument.id(of: id)
    let whole = answer.map { answer -> Answering<SharedList?> in { $0.flatMap(answer) } }
    for _ in 0..<ListLimits.mergeAttempts {
      let text = try await description(markdown, since: seen, of: id)
      let list = try await stores.update(
        .list(id), creating: false, loading: [document], as: context, answer: whole
      ) { changes -> SharedList? in
        guard var known = try ListDocument(id, in: changes.view) else { throw ServiceError.absent }
        try condition(ListTag(revision: known.revision, version: members.head.version))
        guard text.theirs?.equalsBytes(of: known.markdown) ?? true else { return nil }
        try known.change(
          title: title, markdown: text.joined, dates: dates, in: &changes, as: document)
        return SharedList(id, known, members, role: role)
      }
      guard let list else { continue }
      // A right that ended during the write: the answer is an error.
      try await requireWriter(account, of: id)
      return list
    }
    throw ServiceError(.overloaded, "Others change the list's description too fast")
  }

  /// A list's own document.
  /// - Throws: `absent`.
  func document(of list: AccountID) async throws -> ListDocument {
    let document = try await stores.withExisting(.list(list)) { store in
      try await store.readInline { view in try ListDocument(list, in: view) }
    }
    guard let document else { throw ServiceError.absent }
    return document
  }

  /// Deletes a list. The deletion is durable before the list's store is erased.
  /// - Parameter condition: checked in the update that deletes the list; nil for none. Only a condition needs the list's
  ///   own document: a list can be deleted without it, also when it can't be read.
  /// - Throws: `absent`; `forbidden` for everyone but the owner; what the condition throws.
  package func end(
    _ id: AccountID, by account: AccountID, condition: Condition? = nil,
    as context: WriteContext, answer: Answering<Void>? = nil
  ) async throws {
    try await requireOwner(account, of: id)
    let revision: RevisionID? =
      if condition == nil { nil } else { try await document(of: id).revision }
    let now = now()
    let whole = answer.map { answer -> Answering<EndedList> in { _ in answer(()) } }
    let ended = try await stores.update(.system, as: context, answer: whole) { changes in
      guard try changes.role(of: account, in: id) == .owner else { throw ServiceError.absent }
      guard let head = try ListDirectory.head(of: id, in: changes.view) else {
        throw ServiceError.absent
      }
      if let condition, let revision {
        try condition(ListTag(revision: revision, version: head.version))
      }
      return try changes.endList(id, of: account, at: now)
    }
    tell(ended.members)
    for store in ended.stores { try await accounts.erase(store: store) }
    // ``catchUp()`` removes what is left after a failure.
    if !ended.isDone { _ = try? await removeRests() }
    // ``catchUp()`` removes the other members' drafts: the owner, who makes this request, can't limit their number.
    try? await removeDrafts(on: id, of: account, as: context)
  }

  /// Deletes all lists that an account owns, or offers them to the other members, one commit each. It runs before the
  /// account is deleted. The account's own commit removes it from the remaining lists.
  package func settleOwned(
    by account: AccountID, handingOn handsOn: Bool, as context: WriteContext
  ) async throws {
    for list in try await lists(ownedBy: account) {
      guard handsOn, try await directory.memberCounts(of: [list]) != [1] else {
        try await end(list, by: account, as: context)
        continue
      }
      // A list that can't be read does not keep the account.
      let title = (try? await document(of: list).title) ?? ""
      let now = now()
      try await stores.update(.system, as: context) { changes in
        try changes.giveUp(list, of: account, titled: title, at: now)
      }
      try? await show(list)
      try await Slice.giveWay()
    }
  }

  /// - Throws: `absent` when the list does not exist or the account is not a member; `forbidden` for a reader.
  @discardableResult
  package func requireWriter(_ account: AccountID, of list: AccountID) async throws -> ListRole {
    let role = try await requireMember(account, of: list)
    guard role.mayWrite else { throw ServiceError.readersRead }
    return role
  }

  /// - Throws: `absent` when the list does not exist or the account is not a member.
  package func requireMember(_ account: AccountID, of list: AccountID) async throws -> ListRole {
    guard let role = try await directory.role(of: account, in: list) else {
      throw ServiceError.absent
    }
    return role
  }

  /// - Throws: `absent` when the list does not exist or the account is not a member; `forbidden` for all but the
  ///   owner.
  func requireOwner(_ account: AccountID, of list: AccountID) async throws {
    guard try await requireMember(account, of: list) == .owner else {
      throw ServiceError.ownersOnly
    }
  }

  // MARK: Writing the members to the list's own store

  /// Writes a list's members to its store and its document, and removes the record that this is still to do. A failure is
  /// made up for within half a minute, or at the next start.
  ///
  /// If names of former members were removed, the record stays for ``catchUp()``, which also removes them from the disk.
  package func show(_ list: AccountID) async throws {
    try await write(membersOf: list, isThorough: false)
  }

  private func write(membersOf list: AccountID, isThorough: Bool) async throws {
    var (version, isNamed) = (0, false)
    // Again if another change of the members was written before this older one.
    repeat {
      guard let members = try await directory.members(of: list) else { return }
      version = members.head.version
      tell(members.all.map(\.account))
      isNamed = try await write(members, of: list, isThorough: isThorough) || isNamed
    } while try await directory.head(of: list)?.version ?? version != version
    guard isThorough || !isNamed else { return }
    try await stores.update(.system, as: .server) { [version] changes in
      // The list's head has the record's version, too. A record that can't be read has nothing besides.
      let id = ListKeys.stale(list)
      guard try unlessDamaged({ try changes.view.local(id) != nil }) ?? true,
        try ListDirectory.head(of: list, in: changes.view)?.version == version
      else { return }
      changes.write(LocalEdit(id, nil))
    }
  }

  /// - Returns: whether names of former members were removed.
  private func write(
    _ members: ListMembers, of list: AccountID, isThorough: Bool
  ) async throws -> Bool {
    try await stores.withStore(.list(list), creating: false) { store in
      guard let store else { return false }
      let ids: Set = [ListDocument.id(of: list)]
      let isNamed = try await store.update(loading: ids, as: .server) { changes in
        try changes.setListWriters(members.all.map { ($0.account, $0.role.mayWrite) })
        return try changes.show(members, on: list)
      }
      // The engine overwrites what was removed. Its log still has it until now.
      if isThorough { try await store.compact() }
      return isNamed
    }
  }

  /// Completes what a crash or a failure left undone: writes members to the lists' documents, and removes drafts
  /// that were published or whose list was deleted. Runs at every start. A step that damage ends stops no other.
  /// - Parameter limit: if other processes publish drafts, too: a publication that began later is left alone.
  /// - Returns: the failures. The next start tries them again.
  /// - Throws: the system store's errors but damage.
  package func finish(begunBefore limit: Timestamp? = nil) async throws -> [any Error] {
    let shown = try await finishEach(in: ListKeys.range(ListKeys.stalePrefix)) { _, list in
      try await write(membersOf: list, isThorough: true)
    }
    return try await shown + finishPublications(begunBefore: limit) + endOwnerless()
      + removeRests() + removeEndedDrafts()
  }

  /// The part of ``finish()`` that may run at any time: after the command line has deleted an account, or after a
  /// step has failed.
  /// - Returns: the failures.
  package func catchUp() async throws -> [any Error] {
    try await finish(begunBefore: now().adding(seconds: -60))
  }

  /// Removes the records that are left of lists with many members, which have ended, in updates that take little time each.
  /// - Returns: the failures.
  private func removeRests() async throws -> [any Error] {
    try await finishEach(in: ListKeys.range(ListKeys.endedPrefix)) { note, list in
      var isDone = false
      while !isDone {
        let now = now()
        let removed = try await stores.update(.system, as: .server) { changes in
          let removed = try changes.removeRecords(of: list, at: now)
          if removed.isDone { changes.write(LocalEdit(note, nil)) }
          return removed
        }
        tell(removed.members)
        isDone = removed.isDone
        try await Slice.giveWay()
      }
    }
  }
}

extension StoreChanges {
  /// The role of an account on a list; nil when it is not a member.
  func role(of account: AccountID, in list: AccountID) throws -> ListRole? {
    try ListDirectory.role(of: account, in: list, view)
  }

  /// The member that an account is after this update; nil when it is none.
  func member(_ account: AccountID, of list: AccountID) throws -> ListMember? {
    try local(ListKeys.member(account, of: list)).flatMap { note in
      try ListDirectory.member(account, note, in: view)
    }
  }
}
