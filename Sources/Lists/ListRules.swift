package import Accounts
package import Documents
package import Stores

/// The rules for changing members, within an update of the system store.
///
/// Each rule records that the list's store does not contain its present members yet. ``ListService`` writes them
/// there after the commit, or at the next start after a crash.
extension StoreChanges {
  /// Creates a list with its owner.
  /// - Returns: the list's members.
  /// - Throws: `quotaExceeded` when the account has too many lists; `missing` for an account that was just deleted.
  mutating func makeList(
    _ list: AccountID, ownedBy owner: AccountID, _ username: String, at now: Timestamp
  ) throws -> ListMembers {
    try requireCapacity(for: owner, username, making: true)
    let name = try PersonName(username, of: owner, in: view)
    let member = ListMember(account: owner, name: name, role: .owner, joinedAt: now)
    try write(member, of: list)
    noteRoom(of: list, ownedBy: owner, StoreRoom.stepBytes)
    let head = countUp(list, from: ListHead(version: 0, createdAt: now))
    return ListMembers(head, all: [member])
  }

  /// Adds a member to a list, or changes a member's role.
  /// - Returns: whether anything has changed.
  /// - Throws: `absent` for an absent list; `forbidden` for the owner, whose role can't be changed; `invitationGone` for a
  ///   list without an owner; `quotaExceeded`; `missing` for an account that was just deleted.
  mutating func putMember(
    _ account: AccountID, _ username: String, role: ListRole, on list: AccountID, at now: Timestamp
  ) throws -> Bool {
    let head = try head(of: list)
    if var known = try ListDirectory.member(account, of: list, in: view) {
      guard known.role != role else { return false }
      guard known.role != .owner else { throw ServiceError.ownerStays }
      (known.role, freesSpace) = (role, true)
      try write(known, of: list)
    } else {
      // Nobody could remove who joins a list without an owner.
      guard head.endsAt == nil else { throw ServiceError.invitationGone }
      let prefix = LocalID.receiptPrefix + ListKeys.members(of: list)
      guard try view.localUsage(of: prefix).count < ListLimits.members else {
        throw ServiceError.listIsFull
      }
      try requireCapacity(for: account, username, making: false)
      let member = ListMember(
        account: account, name: PersonName(username), role: role, joinedAt: now)
      try write(member, of: list)
      try eraseInvitation(of: account, to: list)
      // A member who joins again keeps the drafts that are not removed yet.
      write(LocalEdit(ListKeys.endedDrafts(of: account, on: list), nil))
    }
    countUp(list, from: head)
    return true
  }

  /// Removes a member from a list.
  /// - Throws: `absent` for an absent list; `missing` for an account that is not a member; `forbidden` for the
  ///   owner.
  mutating func removeMember(_ account: AccountID, from list: AccountID, at now: Timestamp) throws {
    let head = try head(of: list)
    guard let role = try role(of: account, in: list) else { throw ServiceError.noMember }
    guard role != .owner else { throw ServiceError.ownerStays }
    freesSpace = true
    erase(account, from: list, at: now)
    try eraseInvitation(of: account, to: list)
    countUp(list, from: try leave(list, head, at: now))
  }

  /// Makes a member the owner. The former owner becomes an editor, and an offer of the list ends.
  /// - Parameter limit: the bytes of all lists of one owner.
  /// - Throws: `absent` for an absent list, and when `owner` is not the owner any more; `missing` for an account
  ///   that is not a member; `quotaExceeded` for one that has no room for the list.
  mutating func handOn(
    _ list: AccountID, from owner: AccountID, to account: AccountID, within limit: Int64
  ) throws {
    let head = try head(of: list)
    let former = try formerOwner(owner, of: list)
    guard var next = try ListDirectory.member(account, of: list, in: view) else {
      throw ServiceError.noMember
    }
    guard next.role != .owner else { return }
    let bytes = try ListRoom.bytes(of: list, ownedBy: owner, in: view)
    do { try requireRoom(for: account, bytes, within: limit) } catch {
      throw ServiceError.nextOwnerIsFull
    }
    try moveRoom(of: list, from: owner, to: account)
    try write(former, of: list)
    next.role = .owner
    try write(next, of: list)
    try eraseOffer(of: list)
    countUp(list, from: head)
  }

  /// Takes a list from its owner, who becomes an editor, and offers it to all members.
  mutating func giveUp(
    _ list: AccountID, of owner: AccountID, titled title: String, at now: Timestamp
  ) throws {
    let head = try head(of: list)
    try write(formerOwner(owner, of: list), of: list)
    countUp(list, from: try release(list, of: owner, titled: title, head, at: now))
  }

  /// An owner as an editor, for the caller to write.
  /// - Throws: `absent` for everyone but the owner.
  private func formerOwner(_ owner: AccountID, of list: AccountID) throws -> ListMember {
    guard var former = try ListDirectory.member(owner, of: list, in: view), former.role == .owner
    else { throw ServiceError.absent }
    former.role = .editor
    return former
  }

  /// Makes a member the owner of a list without one.
  /// - Throws: `missing` for any other list and account; `quotaExceeded` for an account that has no room for the list.
  mutating func takeOver(_ list: AccountID, by account: AccountID, within limit: Int64) throws {
    let head = try head(of: list)
    guard let known = try OwnerlessList.of(list, in: view),
      var next = try ListDirectory.member(account, of: list, in: view)
    else { throw ServiceError.noInvitation }
    do { try requireRoom(for: account, known.bytes, within: limit) } catch {
      throw ServiceError.nextOwnerIsFull
    }
    write(LocalEdit(ListKeys.end(of: list, at: known.endsAt), nil))
    noteRoom(of: list, ownedBy: account, known.bytes)
    next.role = .owner
    try write(next, of: list)
    countUp(list, from: ListHead(version: head.version, createdAt: head.createdAt))
  }

  /// How many members, and how many users who are invited by name, one update removes from a list that has ended.
  private static let removedAtOnce = 100

  /// Deletes a list: removes its members, invitations and links, and stores a request to erase its store. Without its head the list
  /// is absent for everybody. If it has many members, a record says that the others are still to be removed
  /// (``ListService/removeRests()``), so that this update does not take long.
  /// - Parameter owner: the owner, whose record is removed in any case.
  /// - Parameter erased: a member whose account is erased at the same time; nil for none.
  mutating func endList(
    _ list: AccountID, of owner: AccountID? = nil, at now: Timestamp,
    withAccount erased: AccountID? = nil
  ) throws -> EndedList {
    guard let head = try ListDirectory.head(of: list, in: view) else { return EndedList() }
    if let end = head.endsAt { write(LocalEdit(ListKeys.end(of: list, at: end), nil)) }
    if let owner = try owner ?? ListDirectory.owner(of: list, in: view) {
      write(LocalEdit(ListRoom.id(owner, list), nil))
    }
    write(LocalEdit(ListKeys.list(list), nil))
    write(LocalEdit(ListKeys.stale(list), nil))
    var ended = try removeRecords(of: list, at: now, withAccount: erased)
    if let owner, !ended.members.contains(owner) {
      erase(owner, from: list, at: owner == erased ? nil : now)
    }
    if !ended.isDone { note(ListKeys.ended(list), [:]) }
    try noteErasure(of: .list(list))
    ended.stores = [.list(list)]
    return ended
  }

  /// Removes records of a list that has ended, as many as fit into one update. Those of links and invitations that can't
  /// be read stay: they lead to a list that is absent, and must not keep an account from being erased.
  mutating func removeRecords(
    of list: AccountID, at now: Timestamp, withAccount erased: AccountID? = nil
  ) throws -> EndedList {
    var ended = EndedList()
    ended.members = try view.localIDs(
      ListKeys.range(ListKeys.members(of: list)), atMost: Self.removedAtOnce, ListKeys.last)
    for account in ended.members { erase(account, from: list, at: account == erased ? nil : now) }
    ended.isDone = ended.members.count < Self.removedAtOnce
    guard ended.isDone else { return ended }
    let open = try unlessDamaged { try Invitation.all(of: list, in: view) } ?? []
    for invitation in open { erase(invitation) }
    let links: Void? = try unlessDamaged { try eraseLinks(to: list) }
    if links == nil { try eraseAll(ListKeys.links(to: list)) }
    let invited = try PersonalInvitation.accounts(
      invitedTo: list, atMost: Self.removedAtOnce, in: view)
    for account in invited { try eraseInvitation(of: account, to: list) }
    ended.isDone = invited.count < Self.removedAtOnce
    return ended
  }

  /// Removes an account from all lists, and its invitations. A list that it owns is deleted or offered to the other
  /// members; see ``OwnerlessList``. A list without another member is deleted.
  /// - Returns: the stores to erase.
  mutating func leaveLists(
    _ account: AccountID, ownedListsAreHandedOn handsOn: Bool, at now: Timestamp
  ) throws -> [StoreName] {
    var ended: [StoreName] = []
    let lists = try ListDirectory.lists(of: account, after: nil, limit: .max, in: view)
    for (list, role) in lists {
      let head = try ListDirectory.head(of: list, in: view)
      let prefix = LocalID.receiptPrefix + ListKeys.members(of: list)
      if role == .owner, try !handsOn || view.localUsage(of: prefix).count == 1 {
        ended += try endList(list, of: account, at: now, withAccount: account).stores
        continue
      }
      erase(account, from: list, at: nil)
      guard let head else { continue }
      let next =
        try role == .owner
        ? release(list, of: account, titled: "", head, at: now) : leave(list, head, at: now)
      countUp(list, from: next)
    }
    try eraseInvitations(of: account)
    try eraseAll(ListKeys.left(by: account))
    return ended
  }

  private func head(of list: AccountID) throws -> ListHead {
    guard let head = try ListDirectory.head(of: list, in: view) else { throw ServiceError.absent }
    return head
  }

  /// Checks that the account exists and may make or join one more list. An account that is being deleted must not get a
  /// membership that would never be removed. Lists of others don't count against one's own: no one can prevent an
  /// account from making lists.
  private func requireCapacity(
    for account: AccountID, _ username: String, making isMade: Bool
  ) throws {
    guard try hasUser(account, named: username) else { throw ServiceError.noUser }
    let count = try ListDirectory.count(ofListsOf: account, made: isMade, in: view)
    guard count < (isMade ? ListLimits.owned : ListLimits.joined) else {
      throw isMade ? ServiceError.tooManyOwned : ServiceError.tooManyJoined
    }
  }

  // MARK: Writing the records

  /// Records a member, in both directions. Who made the list stays as it was recorded.
  private mutating func write(_ member: ListMember, of list: AccountID) throws {
    let id = ListKeys.membership(member.account, list)
    let isMade = try view.local(id).map(ListDirectory.isMade) ?? (member.role == .owner)
    note(
      ListKeys.member(member.account, of: list),
      [
        "name": .string(member.username), "role": .string(member.role.rawValue),
        "joinedAt": .time(member.joinedAt),
      ])
    note(id, ["role": .string(member.role.rawValue), "made": .bool(isMade)])
  }

  /// Records that the members of a list have changed.
  @discardableResult
  private mutating func countUp(_ list: AccountID, from head: ListHead) -> ListHead {
    let next = ListHead(version: head.version + 1, createdAt: head.createdAt, endsAt: head.endsAt)
    let version: JSONValue = .number(JSONNumber(next.version))
    var record: JSONObject = ["version": version, "createdAt": .time(next.createdAt)]
    if let end = next.endsAt { record.append("endsAt", .time(end)) }
    note(ListKeys.list(list), .object(record))
    note(ListKeys.stale(list), ["version": version])
    return next
  }

  /// Records that a list's store has to get its present members, because an earlier one is put in its place.
  package mutating func noteEarlier(_ list: AccountID) throws {
    guard let head = try ListDirectory.head(of: list, in: view) else { return }
    note(ListKeys.stale(list), ["version": .number(JSONNumber(head.version))])
  }

  /// Ends a membership.
  /// - Parameter now: nil for an account that is erased, of which nothing remains.
  private mutating func erase(_ account: AccountID, from list: AccountID, at now: Timestamp?) {
    if let end = now?.adding(seconds: ListLimits.leftSeconds) {
      note(
        ListKeys.left(account, list), ["list": .string(list.text), "until": .time(end)],
        expires: end)
    }
    note(ListKeys.endedDrafts(of: account, on: list), ["list": .string(list.text)])
    write(LocalEdit(ListKeys.member(account, of: list), nil))
    write(LocalEdit(ListKeys.membership(account, list), nil))
  }

  mutating func eraseAll(_ prefix: String) throws {
    for id in try view.localIDs(ListKeys.range(prefix), { $0 }) { write(LocalEdit(id, nil)) }
  }

  /// Writes a local document of the service.
  mutating func note(_ id: LocalID, _ body: JSONValue, expires: Timestamp? = nil) {
    write(LocalEdit(id, LocalDocument(revision: 1, body: body.bytes), expires: expires))
  }
}

extension ListErasure {
  /// The rules for shared lists when an account is erased.
  /// - Parameter now: the clock.
  package static func ofLists(now: @escaping @Sendable () -> Timestamp) -> ListErasure {
    ListErasure(
      leave: { changes, account, handsOn in
        try changes.leaveLists(account, ownedListsAreHandedOn: handsOn, at: now())
      },
      end: { changes, list in try changes.endList(list, at: now()).stores })
  }
}

/// What an update has removed of a list that has ended.
struct EndedList: Sendable {
  /// The stores to erase; empty for an absent list.
  var stores: [StoreName] = []
  /// The accounts whose membership was removed.
  var members: [AccountID] = []
  /// Whether no record of the list is left.
  var isDone = true
}

extension JSONValue {
  /// A time in milliseconds since 1970.
  static func time(_ moment: Timestamp) -> JSONValue {
    .number(JSONNumber(Int(clamping: moment.milliseconds)))
  }
}

extension ServiceError.Code {
  /// The invitation was used or withdrawn, or has expired.
  package static let invitationGone = Self("invitationGone")
  /// Only users can do this; a guest must sign up first.
  package static let accountNeeded = Self("accountNeeded")
}

/// The errors of lists.
extension ServiceError {
  /// Shared lists belong to accounts. A guest must sign up first.
  package static let accountNeeded = ServiceError(
    .accountNeeded, "Shared lists need an account: sign up; the account gets the guest's bookmarks")
  /// The error for removing the owner or changing their role.
  static let ownerStays = ServiceError(
    .forbidden, "The owner can't leave the list: hand it on first, or delete it")
  static let listIsFull = ServiceError(
    .quotaExceeded, "The list is full: at most \(ListLimits.members) members and invited users")
  static let tooManyOwned = ServiceError(
    .quotaExceeded, "An account can be on at most \(ListLimits.owned) lists that it has made")
  static let tooManyJoined = ServiceError(
    .quotaExceeded, "An account can join at most \(ListLimits.joined) lists")
  package static let noMember = ServiceError(.missing, "No member of the list has this name")
  static let noUser = ServiceError(.missing, "No user has this name")
  /// The error for a reader who tries to write.
  package static let readersRead = ServiceError(
    .noRight, "You may read this list; only its owner and editors may change it")
  /// The error for everyone but the owner.
  package static let ownersOnly = ServiceError(.forbidden, "Only the list's owner may do that")
}
