package import Accounts
import Documents
import JSON
package import Stores

/// The rules about who is on a list, over the system store's changes in the making.
///
/// Each leaves a note that the list's store does not show its members yet; ``ListService`` brings them there after the
/// commit, and whoever starts the server next after a crash.
extension StoreChanges {
  /// Makes a list of one account.
  /// - Throws: `quotaExceeded` where the account is on too many lists; `missing` for one that has just ended.
  mutating func makeList(
    _ list: AccountID, ownedBy owner: AccountID, _ username: String, at now: Timestamp
  ) throws {
    try requireRoom(for: owner, username)
    let member = ListMember(account: owner, username: username, role: .owner, joinedAt: now)
    write(member, of: list)
    countUp(list, from: ListHead(version: 0, createdAt: now))
  }

  /// Puts somebody on a list, or gives a member another role.
  /// - Returns: whether anything has changed.
  /// - Throws: `absent` for a list that is absent; `forbidden` for the owner, who stays it; `quotaExceeded`; `missing` for
  ///   an account that has just ended.
  mutating func putMember(
    _ account: AccountID, _ username: String, role: ListRole, on list: AccountID, at now: Timestamp
  ) throws -> Bool {
    let head = try head(of: list)
    if var known = try ListDirectory.member(account, of: list, in: view) {
      guard known.role != role else { return false }
      guard known.role != .owner else { throw ServiceError.ownerStays }
      known.role = role
      write(known, of: list)
    } else {
      let prefix = LocalID.receiptPrefix + ListKeys.members(of: list)
      guard try view.localUsage(of: prefix).count < ListLimits.members else {
        throw ServiceError(
          .quotaExceeded, "The list is full: at most \(ListLimits.members) members")
      }
      try requireRoom(for: account, username)
      let member = ListMember(account: account, username: username, role: role, joinedAt: now)
      write(member, of: list)
      // Whoever comes back keeps the drafts that have not gone yet.
      write(LocalEdit(ListKeys.endedDrafts(of: account, on: list), nil))
    }
    countUp(list, from: head)
    return true
  }

  /// Takes a member off a list.
  /// - Throws: `absent` for a list that is absent; `missing` for nobody on it; `forbidden` for the owner.
  mutating func removeMember(_ account: AccountID, from list: AccountID) throws {
    let head = try head(of: list)
    guard let role = try role(of: account, in: list) else { throw ServiceError.noMember }
    guard role != .owner else { throw ServiceError.ownerStays }
    erase(account, from: list)
    countUp(list, from: head)
  }

  /// Makes a member the owner; who was it stays as an editor.
  /// - Throws: `absent` for a list that is absent, and where the former owner is not it any more; `missing` for nobody on
  ///   the list.
  mutating func handOn(
    _ list: AccountID, from owner: AccountID, to account: AccountID
  ) throws {
    let head = try head(of: list)
    guard var former = try ListDirectory.member(owner, of: list, in: view), former.role == .owner
    else { throw ServiceError.absent }
    guard var next = try ListDirectory.member(account, of: list, in: view) else {
      throw ServiceError.noMember
    }
    guard next.role != .owner else { return }
    former.role = .editor
    write(former, of: list)
    next.role = .owner
    write(next, of: list)
    countUp(list, from: head)
  }

  /// Ends a list: nobody is on it any more, its invitations are gone, its store is noted to be erased.
  /// - Returns: the store; none where the list is absent.
  mutating func endList(_ list: AccountID) throws -> [StoreName] {
    guard let members = try ListDirectory.members(of: list, in: view) else { return [] }
    for member in members.all { erase(member.account, from: list) }
    for invitation in try Invitation.all(of: list, in: view) { erase(invitation) }
    write(LocalEdit(ListKeys.list(list), nil))
    write(LocalEdit(ListKeys.stale(list), nil))
    try noteErasure(of: .list(list))
    return [.list(list)]
  }

  /// Takes an account off all lists. Those that it owns end, or go to the member who has been there the longest,
  /// editors first; a list without another member ends.
  /// - Returns: the stores that are to be erased.
  mutating func leaveLists(
    _ account: AccountID, ownedListsAreHandedOn handsOn: Bool
  ) throws -> [StoreName] {
    var ended: [StoreName] = []
    let lists = try ListDirectory.lists(of: account, after: nil, limit: .max, in: view)
    for (list, role) in lists {
      if role == .owner {
        guard handsOn, var heir = try ListDirectory.members(of: list, in: view)?.heir else {
          ended += try endList(list)
          continue
        }
        heir.role = .owner
        write(heir, of: list)
      }
      erase(account, from: list)
      if let head = try ListDirectory.head(of: list, in: view) { countUp(list, from: head) }
    }
    return ended
  }

  private func head(of list: AccountID) throws -> ListHead {
    guard let head = try ListDirectory.head(of: list, in: view) else { throw ServiceError.absent }
    return head
  }

  /// An account that ends in this very moment gets no membership that nobody would take back.
  private func requireRoom(for account: AccountID, _ username: String) throws {
    guard try hasUser(account, named: username) else { throw ServiceError.noUser }
    let most = ListLimits.perAccount
    let lists = try ListDirectory.lists(of: account, after: nil, limit: most, in: view)
    guard lists.count < most else {
      throw ServiceError(.quotaExceeded, "An account is on at most \(most) lists")
    }
  }
}

extension ListErasure {
  /// The rules of shared lists.
  package static let ofLists = ListErasure(
    leave: { changes, account, handsOn in
      try changes.leaveLists(account, ownedListsAreHandedOn: handsOn)
    },
    end: { changes, list in try changes.endList(list) })
}

/// How the notes are written.
extension StoreChanges {
  /// Notes somebody on a list, on both sides.
  private mutating func write(_ member: ListMember, of list: AccountID) {
    note(
      ListKeys.member(member.account, of: list),
      [
        "name": .string(member.username), "role": .string(member.role.rawValue),
        "joinedAt": .time(member.joinedAt),
      ])
    note(ListKeys.membership(member.account, list), ["role": .string(member.role.rawValue)])
  }

  /// Notes that the members of a list are others than before.
  private mutating func countUp(_ list: AccountID, from head: ListHead) {
    let version: JSONValue = .number(JSONNumber(head.version + 1))
    note(ListKeys.list(list), ["version": version, "createdAt": .time(head.createdAt)])
    note(ListKeys.stale(list), ["version": version])
  }

  private mutating func erase(_ account: AccountID, from list: AccountID) {
    note(ListKeys.endedDrafts(of: account, on: list), ["list": .string(list.text)])
    write(LocalEdit(ListKeys.member(account, of: list), nil))
    write(LocalEdit(ListKeys.membership(account, list), nil))
  }

  /// Writes a note of the service's own.
  mutating func note(_ id: LocalID, _ body: JSONValue, expires: Timestamp? = nil) {
    write(LocalEdit(id, LocalDocument(revision: 1, body: body.bytes), expires: expires))
  }
}

extension JSONValue {
  /// A moment in milliseconds since 1970.
  static func time(_ moment: Timestamp) -> JSONValue {
    .number(JSONNumber(Int(clamping: moment.milliseconds)))
  }
}

/// The answers to what can't be done with a list.
extension ServiceError {
  /// Lists are accounts'; a guest is asked to sign up.
  package static let accountNeeded = ServiceError(
    .accountNeeded, "Shared lists need an account: sign up, and the guest's bookmarks come along")
  /// The answer to taking the owner off, or making less of them.
  static let ownerStays = ServiceError(
    .forbidden, "The owner stays the owner: hand the list on first, or delete it")
  /// The answer about somebody who is not on the list.
  package static let noMember = ServiceError(.missing, "Nobody of this name is on the list")
  /// The answer about a name that nobody has.
  static let noUser = ServiceError(.missing, "No user has this name")
  /// The answer to a reader who would write.
  package static let readersRead = ServiceError(
    .forbidden, "You may read this list; its owner and its editors change it")
  /// The answer to what the owner alone may do.
  package static let ownersOnly = ServiceError(.forbidden, "Only the list's owner may do that")
}
