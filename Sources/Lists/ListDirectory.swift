package import Accounts
import Documents
import Scheduling
package import Stores

/// The members of all lists, stored in the system store, so that one commit changes both directions of a
/// membership, accepts an invitation or deletes an account. A list's contents are in the list's own store.
///
/// All records are local documents. They have no history, so that an erased account leaves nothing behind:
/// - `list/<list>`: the list exists, `{"version","createdAt","endsAt"?}`;
/// - `list-ends/<time>/<list>`: see ``OwnerlessList``;
/// - `list-member/<list>/<account>`: a member of a list, `{"name","role","joinedAt"}`;
/// - `lists-of/<account>/<list>`: the same by account, `{"role","made","declined"?}`; every request reads it;
/// - `list-stale/<list>`: the list's store does not contain its present members yet, `{"version"}`;
/// - `list-ended/<list>`: records of a list that has ended are still to be removed, `{}`;
/// - `list-drafts/<list>/<account>`: the drafts of a former member are to be removed, `{"list"}`;
/// - `list-import/<account>/<mark>`: see ``ListImport``;
/// - `list-room/<owner>/<list>`: see ``ListRoom``;
/// - `publishing/<hash>/<account>`: a draft is being published, `{"list","document"}`;
/// - `invitation/<hash>` and `invitations/<list>/<invitation>`: see ``Invitation``;
/// - `list-link/<hash>` and `list-links/<list>/<link>`: see ``ListLink``;
/// - `invited/<account>/<list>` and `invited-to/<list>/<account>`: see ``PersonalInvitation``;
/// - `left/<account>/<digits>`: an account was on a list, `{"list","until"}`;
/// - `invitation-block/<account>/<inviter>`: the account does not see the inviter's invitations, `{"user"}`.
package struct ListDirectory: Sendable {
  let stores: DatabaseManager

  /// The role of an account on a list; nil when it is not a member or the list is absent. Two indexed reads.
  func role(of account: AccountID, in list: AccountID) async throws -> ListRole? {
    try await read(orAbsent: nil) { view in try Self.role(of: account, in: list, view) }
  }

  /// The members of a list, all of one state, read in slices; nil for an absent list.
  func members(of list: AccountID) async throws -> ListMembers? {
    try await stores.read(.system, inSlices: ListMembersReader(list)) { reader, view in
      try reader.read(view)
    }?.members
  }

  /// The record of a list; nil for an absent list. One indexed read.
  func head(of list: AccountID) async throws -> ListHead? {
    try await read(orAbsent: nil) { view in try Self.head(of: list, in: view) }
  }

  /// A record; nil if there is none.
  /// - Throws: `integrity` for one that can't be read.
  func record(_ id: LocalID) async throws -> JSONValue? {
    try await read(orAbsent: nil) { view in try view.local(id).map { try Self.root(of: $0).value } }
  }

  /// One member of a list; nil for any other account. One indexed read.
  func member(_ account: AccountID, of list: AccountID) async throws -> ListMember? {
    try await read(orAbsent: nil) { view in try Self.member(account, of: list, in: view) }
  }

  /// The names of some members of a list. At most two indexed reads for each.
  package func names(
    of accounts: some Sequence<AccountID> & Sendable, on list: AccountID
  ) async throws -> [AccountID: PersonName] {
    try await read(orAbsent: [:]) { view in
      var names: [AccountID: PersonName] = [:]
      for account in Set(accounts) {
        names[account] = try Self.member(account, of: list, in: view)?.name
      }
      return names
    }
  }

  /// How many members each of these lists has; 0 for an absent list.
  package func memberCounts(of lists: [AccountID]) async throws -> [Int] {
    try await stores.each(lists, in: .system) { list, view in
      try view.localIDs(ListKeys.range(ListKeys.members(of: list))) { $0 }.count
    } ?? lists.map { _ in 0 }
  }

  /// The lists of an account, in the order of their ids.
  /// - Parameter last: the list after which the page starts.
  func lists(
    of account: AccountID, after last: AccountID?, limit: Int
  ) async throws -> [(id: AccountID, role: ListRole)] {
    try await read(orAbsent: []) { view in
      try Self.lists(of: account, after: last, limit: limit, in: view)
    }
  }

  /// Reads the system store. Returns `absent` when it does not exist yet.
  func read<Value: Sendable>(
    orAbsent absent: Value, _ query: @escaping StoreQuery<Value>
  ) async throws -> Value { try await stores.read(.system, query) ?? absent }

  // MARK: Reading the records

  /// The role of an account on a list. When a list ends, its head goes first: the memberships of a long list follow in
  /// further updates.
  static func role(
    of account: AccountID, in list: AccountID, _ view: any StoreView
  ) throws -> ListRole? {
    guard let role = try view.local(ListKeys.membership(account, list)).flatMap(role),
      try view.local(ListKeys.list(list)) != nil
    else { return nil }
    return role
  }

  static func role(_ note: LocalDocument) throws -> ListRole? {
    try root(of: note)["role"]?.string.flatMap(ListRole.init)
  }

  /// The record of a list; nil for an absent list.
  static func head(of list: AccountID, in view: any StoreView) throws -> ListHead? {
    try view.local(ListKeys.list(list)).map { note in
      let root = try root(of: note)
      return ListHead(
        version: root["version"]?.int ?? 0, createdAt: time("createdAt", in: root),
        endsAt: root["endsAt"] == nil ? nil : time("endsAt", in: root))
    }
  }

  /// One member of a list; nil for any other account.
  static func member(
    _ account: AccountID, of list: AccountID, in view: any StoreView
  ) throws -> ListMember? {
    try view.local(ListKeys.member(account, of: list)).flatMap { try member(account, $0, in: view) }
  }

  /// The owner of a list; nil for an absent list, and for a list without an owner.
  static func owner(of list: AccountID, in view: any StoreView) throws -> AccountID? {
    try view.localValues(ListKeys.range(ListKeys.members(of: list)), atMost: 1) { id, note in
      try role(note) == .owner ? ListKeys.last(of: id) : nil
    }.first
  }

  static func lists(
    of account: AccountID, after last: AccountID?, limit: Int, in view: any StoreView
  ) throws -> [(id: AccountID, role: ListRole)] {
    var range = ListKeys.range(ListKeys.lists(of: account))
    if let last { range.start = ListKeys.membership(account, last).text + "\u{0}" }
    guard limit > 0 else { return [] }
    return try view.localValues(range, atMost: limit) { id, note in
      guard let list = ListKeys.last(of: id), let role = try role(note) else { return nil }
      return (list, role)
    }
  }

  /// How many lists of an account it has made, or has joined.
  static func count(
    ofListsOf account: AccountID, made isMade: Bool, in view: any StoreView
  ) throws -> Int {
    try view.localValues(ListKeys.range(ListKeys.lists(of: account))) { _, note in
      try Self.isMade(note)
    }.count { $0 == isMade }
  }

  /// Whether an account has made the list of its membership.
  static func isMade(_ membership: LocalDocument) throws -> Bool {
    try root(of: membership)["made"]?.bool ?? false
  }

  static func member(
    _ account: AccountID, _ note: LocalDocument, in view: any StoreView
  ) throws -> ListMember? {
    let root = try root(of: note)
    guard let name = root["name"]?.string, let role = root["role"]?.string.flatMap(ListRole.init)
    else { return nil }
    return ListMember(
      account: account, name: try PersonName(name, of: account, in: view), role: role,
      joinedAt: time("joinedAt", in: root))
  }

  static func time(_ name: String, in root: JSONNode) -> Timestamp {
    Timestamp(milliseconds: Int64(root[name]?.int ?? 0))
  }

  /// - Throws: `integrity` for a record that is not valid JSON.
  static func root(of note: LocalDocument) throws -> JSONNode {
    do { return try ParsedJSON(note.body, limits: .small).root } catch {
      throw ServiceError(.integrity, "A list can't be read")
    }
  }
}

/// Reads the members of a list in slices. It starts again when the members have changed in between.
private struct ListMembersReader: Sendable {
  struct Found: Sendable {
    /// Nil for an absent list.
    let members: ListMembers?
  }

  private let list: AccountID
  private var head: ListHead?
  private var last: LocalID?
  private var all: [ListMember] = []

  init(_ list: AccountID) { self.list = list }

  /// Continues in a state of the store until the slice is over.
  /// - Returns: nil when not all members are read yet.
  mutating func read(_ view: any StoreView) throws -> Found? {
    guard let head = try ListDirectory.head(of: list, in: view) else { return Found(members: nil) }
    if head != self.head { (self.head, last, all) = (head, nil, []) }
    let range = ListKeys.range(ListKeys.members(of: list))
    var isWhole = true
    try view.locals(last.map { range.behind($0.text) } ?? range) { id, note in
      last = id
      if let account = ListKeys.last(of: id),
        let member = try ListDirectory.member(account, note, in: view)
      {
        all.append(member)
      }
      isWhole = !view.slice.isOver
      return isWhole
    }
    return isWhole ? Found(members: ListMembers(head, all: all)) : nil
  }
}
