import Accounts
import Documents
import JSON
import Lanes
import Stores

/// Who is on which list: notes of the system store, so that one commit changes both sides of a membership, takes an
/// invitation or ends an account. What a list says is in the list's own store.
///
/// All are local documents. They have no history, so that an erased account leaves nothing behind:
/// - `list/<list>`: that the list is there, `{"version","createdAt"}`;
/// - `list-member/<list>/<account>`: who is on it, `{"name","role","joinedAt"}`;
/// - `lists-of/<account>/<list>`: the same by account, `{"role"}`; what each request reads;
/// - `list-stale/<list>`: that the list's store does not show its members yet, `{"version"}`;
/// - `list-drafts/<list>/<account>`: that drafts of who was on a list are to go, `{"list"}`;
/// - `list-import/<account>`: see ``ListImport``;
/// - `publishing/<hash>/<account>`: that a draft is being published, `{"list","document"}`;
/// - `invitation/<hash>` and `invitations/<list>/<invitation>`: see ``Invitation``.
struct ListDirectory: Sendable {
  /// The stores.
  let stores: DatabaseManager

  /// What somebody is to a list; nil for nothing, as for a list that is absent. One indexed read.
  func role(of account: AccountID, in list: AccountID) async throws -> ListRole? {
    try await read(orAbsent: nil) { view in
      try view.local(ListKeys.membership(account, list)).flatMap(Self.role)
    }
  }

  /// The members of a list, of one state, read in slices; nil for a list that is absent.
  func members(of list: AccountID) async throws -> ListMembers? {
    try await stores.withStore(.system, creating: false) { store in
      try await store?.read(inSlices: ListMembersReader(list)) { reader, view in
        try reader.read(view)
      }.members ?? nil
    }
  }

  /// What stands of a list itself; nil for a list that is absent. One indexed read.
  func head(of list: AccountID) async throws -> ListHead? {
    try await read(orAbsent: nil) { view in try Self.head(of: list, in: view) }
  }

  /// One who is on a list; nil for anybody else. One indexed read.
  func member(_ account: AccountID, of list: AccountID) async throws -> ListMember? {
    try await read(orAbsent: nil) { view in try Self.member(account, of: list, in: view) }
  }

  /// The names of some of those who are on a list. An indexed read for each.
  func usernames(
    of accounts: Set<AccountID>, on list: AccountID
  ) async throws -> [AccountID: String] {
    try await read(orAbsent: [:]) { view in
      var names: [AccountID: String] = [:]
      for account in accounts {
        names[account] = try Self.member(account, of: list, in: view)?.username
      }
      return names
    }
  }

  /// How many are on each of some lists: 0 for one that is absent.
  func memberCounts(of lists: [AccountID]) async throws -> [Int] {
    try await stores.withStore(.system, creating: false) { store in
      guard let store else { return lists.map { _ in 0 } }
      return try await store.read(inSlices: [Int]()) { counts, view in
        while counts.count < lists.count {
          var count = 0
          try view.locals(ListKeys.range(ListKeys.members(of: lists[counts.count]))) { _, _ in
            count += 1
            return true
          }
          counts.append(count)
          if Slice.isOver, counts.count < lists.count { return nil }
        }
        return counts
      }
    }
  }

  /// The lists of an account in the order of their ids.
  /// - Parameter last: start after this list.
  func lists(
    of account: AccountID, after last: AccountID?, limit: Int
  ) async throws -> [(id: AccountID, role: ListRole)] {
    try await read(orAbsent: []) { view in
      try Self.lists(of: account, after: last, limit: limit, in: view)
    }
  }

  /// The lists whose stores do not show their members yet.
  func staleLists(limit: Int) async throws -> [AccountID] {
    try await read(orAbsent: []) { view in
      var lists: [AccountID] = []
      try view.locals(ListKeys.range(ListKeys.stalePrefix)) { id, _ in
        if let list = ListKeys.last(of: id) { lists.append(list) }
        return lists.count < limit
      }
      return lists
    }
  }

  /// Reads the system store; `absent` where there is none yet.
  func read<Value: Sendable>(
    orAbsent absent: Value, _ query: @escaping @Sendable (any StoreView) throws -> Value
  ) async throws -> Value {
    try await stores.withStore(.system, creating: false) { store in
      guard let store else { return absent }
      return try await store.read(query)
    }
  }

  /// Changes the system store.
  @discardableResult
  func update<Value: Sendable>(
    _ rule: @escaping @Sendable (inout StoreChanges) throws -> Value
  ) async throws -> Value {
    try await stores.withStore(.system) { store in try await store.update(rule) }
  }
}

/// What the notes say.
extension ListDirectory {
  static func role(_ note: LocalDocument) throws -> ListRole? {
    try root(of: note)["role"]?.string.flatMap(ListRole.init)
  }

  /// What stands of a list itself; nil for a list that is absent.
  static func head(of list: AccountID, in view: any StoreView) throws -> ListHead? {
    try view.local(ListKeys.list(list)).map { note in
      let root = try root(of: note)
      return ListHead(
        version: root["version"]?.int ?? 0, createdAt: time("createdAt", in: root))
    }
  }

  /// One who is on a list; nil for anybody else.
  static func member(
    _ account: AccountID, of list: AccountID, in view: any StoreView
  ) throws -> ListMember? {
    try view.local(ListKeys.member(account, of: list)).flatMap { try member(account, $0) }
  }

  /// The members of a list; nil for a list that is absent. For who ends the list, and needs all of one state.
  static func members(of list: AccountID, in view: any StoreView) throws -> ListMembers? {
    guard let head = try head(of: list, in: view) else { return nil }
    var all: [ListMember] = []
    try view.locals(ListKeys.range(ListKeys.members(of: list))) { id, note in
      if let account = ListKeys.last(of: id), let member = try Self.member(account, note) {
        all.append(member)
      }
      return true
    }
    return ListMembers(head, all: all)
  }

  static func lists(
    of account: AccountID, after last: AccountID?, limit: Int, in view: any StoreView
  ) throws -> [(id: AccountID, role: ListRole)] {
    var lists: [(id: AccountID, role: ListRole)] = []
    var range = ListKeys.range(ListKeys.lists(of: account))
    if let last { range.start = ListKeys.membership(account, last).text + "\u{0}" }
    guard limit > 0 else { return [] }
    try view.locals(range) { id, note in
      if let list = ListKeys.last(of: id), let role = try role(note) { lists.append((list, role)) }
      return lists.count < limit
    }
    return lists
  }

  fileprivate static func member(
    _ account: AccountID, _ note: LocalDocument
  ) throws -> ListMember? {
    let root = try root(of: note)
    guard let name = root["name"]?.string, let role = root["role"]?.string.flatMap(ListRole.init)
    else { return nil }
    return ListMember(
      account: account, username: name, role: role, joinedAt: time("joinedAt", in: root))
  }

  static func time(_ name: String, in root: JSONNode) -> Timestamp {
    Timestamp(milliseconds: Int64(root[name]?.int ?? 0))
  }

  /// - Throws: `integrity` for what this service did not write.
  static func root(of note: LocalDocument) throws -> JSONNode {
    do { return try ParsedJSON(note.body, limits: .small).root } catch {
      throw ServiceError(.integrity, "A list can't be read")
    }
  }
}

/// Reads the members of a list in slices; begins again where they have become others meanwhile.
private struct ListMembersReader: Sendable {
  /// What was read.
  struct Found: Sendable {
    /// Nil for a list that is absent.
    let members: ListMembers?
  }

  private let list: AccountID
  private var head: ListHead?
  private var last: LocalID?
  private var all: [ListMember] = []

  init(_ list: AccountID) { self.list = list }

  /// Goes on in a state of the store until the slice is over.
  /// - Returns: nil when it is over before all are read.
  mutating func read(_ view: any StoreView) throws -> Found? {
    guard let head = try ListDirectory.head(of: list, in: view) else { return Found(members: nil) }
    if head != self.head { (self.head, last, all) = (head, nil, []) }
    let range = ListKeys.range(ListKeys.members(of: list))
    var isWhole = true
    try view.locals(last.map { range.behind($0.text) } ?? range) { id, note in
      last = id
      if let account = ListKeys.last(of: id),
        let member = try ListDirectory.member(account, note)
      {
        all.append(member)
      }
      isWhole = !Slice.isOver
      return isWhole
    }
    return isWhole ? Found(members: ListMembers(head, all: all)) : nil
  }
}

/// The ids of the notes on lists in the system store.
enum ListKeys {
  /// What the ids of stale lists start with.
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

  static func stale(_ list: AccountID) -> LocalID { LocalID(receipt: stalePrefix + list.text) }

  /// What the ids of notes on drafts that are to go start with.
  static let endedDraftsPrefix = "list-drafts/"
  /// What the ids of notes on drafts that are being published start with.
  static let publishingPrefix = "publishing/"

  /// What the ids of notes on imports start with.
  static let importedPrefix = "list-import/"

  static func imported(by account: AccountID) -> LocalID {
    LocalID(receipt: importedPrefix + account.text)
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

  static func invitation(_ hash: String) -> LocalID { LocalID(receipt: "invitation/" + hash) }

  static func invitations(to list: AccountID) -> String { "invitations/" + list.text + "/" }

  static func invitation(_ id: AccountID, to list: AccountID) -> LocalID {
    LocalID(receipt: invitations(to: list) + id.text)
  }

  /// All ids that start so; the prefix ends with a slash, and `0` is the byte behind that.
  static func range(_ prefix: String) -> DocumentRange {
    let start = LocalID.receiptPrefix + prefix
    return DocumentRange(start: start, end: String(start.dropLast()) + "0", includesEnd: false)
  }

  /// The account, list or invitation that an id ends with.
  static func last(of id: LocalID) -> AccountID? {
    AccountID(String(decoding: id.text.utf8.suffix(32), as: UTF8.self))
  }
}
