import Accounts
import Documents
import Scheduling
import Stores

/// A list whose owner was erased. Its members read and write it as before, but it gets no more bytes. They are all offered
/// it: the first who accepts and has room is its owner. After ``ListLimits/ownerlessSeconds`` it ends.
///
/// The list's head says when it ends. The system store has a local document `list-ends/<time>/<list>` for it,
/// `{"title","bytes"}`, with the milliseconds since 1970 as 32 hexadecimal digits, so that those come first that end first.
struct OwnerlessList: Sendable {
  let list: AccountID
  let endsAt: Timestamp
  /// The beginning of its title when the owner was erased; empty if that could not be read.
  let title: String
  let bytes: Int64

  /// The state of a list without an owner; nil for any other list.
  static func of(_ list: AccountID, in view: any StoreView) throws -> OwnerlessList? {
    guard let end = try ListDirectory.head(of: list, in: view)?.endsAt,
      let note = try view.local(ListKeys.end(of: list, at: end))
    else { return nil }
    let root = try ListDirectory.root(of: note)
    return OwnerlessList(
      list: list, endsAt: end, title: root["title"]?.string ?? "",
      bytes: Int64(root["bytes"]?.int ?? 0))
  }

  /// The lists without an owner that an account is on and has not declined.
  static func offered(to account: AccountID, in view: any StoreView) throws -> [OwnerlessList] {
    let lists = try view.localValues(ListKeys.range(ListKeys.lists(of: account))) { id, note in
      let isDeclined = try ListDirectory.root(of: note)["declined"]?.bool ?? false
      return isDeclined ? nil : ListKeys.last(of: id)
    }
    return try lists.compactMap { try of($0, in: view) }
  }

  fileprivate var value: JSONValue {
    ["title": .string(title), "bytes": .number(JSONNumber(Int(bytes)))]
  }
}

extension ListKeys {
  private static let endsPrefix = "list-ends/"

  static func end(of list: AccountID, at end: Timestamp) -> LocalID {
    LocalID(receipt: endsPrefix + digits(of: end) + "/" + list.text)
  }

  /// The records of lists that have ended until a time.
  fileprivate static func ends(until now: Timestamp) -> DocumentRange {
    DocumentRange(
      start: range(endsPrefix).start,
      end: LocalID.receiptPrefix + endsPrefix + digits(of: now) + "0",
      includesEnd: false)
  }

  private static func digits(of moment: Timestamp) -> String {
    Hex.string(0, UInt64(clamping: moment.milliseconds))
  }
}

extension ListService {
  /// Ends the lists that had no owner for long enough.
  /// - Returns: the failures.
  func endOwnerless() async throws -> [any Error] {
    let now = now()
    return try await finishEach(in: ListKeys.ends(until: now)) { note, list in
      let ended = try await stores.update(.system, as: .server) { changes in
        let end = try ListDirectory.head(of: list, in: changes.view)?.endsAt
        let isDue = end.map { $0 <= now } ?? false
        // A record that can't be read stays, unless its list ends with it.
        if try isDue || unlessDamaged({ try changes.view.local(note) }) != nil {
          changes.write(LocalEdit(note, nil))
        }
        return isDue ? try changes.endList(list, at: now) : EndedList()
      }
      tell(ended.members)
      for store in ended.stores { try await accounts.erase(store: store) }
    }
  }

  /// Does the work that records of lists stand for, one after the other. Work that fails stops no other.
  /// - Parameter work: gets a record's id, and the id of the list or account at its end.
  /// - Returns: the failures. Damage that ends the walk is one of them.
  /// - Throws: the system store's other errors; `ended`.
  func finishEach(
    in range: DocumentRange, _ work: (LocalID, AccountID) async throws -> Void
  ) async throws -> [any Error] {
    var (rest, found): (DocumentRange, [any Error]) = (range, [])
    let damage = try await failures {
      while let note = try await directory.first(in: rest) {
        rest = rest.behind(note.text)
        guard let id = ListKeys.last(of: note) else { continue }
        do { try await work(note, id) } catch { found.append(error) }
        try await Slice.giveWay()
      }
      return []
    }
    return found + damage
  }
}

extension ListDirectory {
  /// The first record of a range, whether it can be read or not.
  func first(in range: DocumentRange) async throws -> LocalID? {
    try await read(orAbsent: nil) { view in try view.localIDs(range, atMost: 1) { $0 }.first }
  }
}

/// The rules for lists without an owner, within an update of the system store.
extension StoreChanges {
  /// Takes a list from its owner and offers it to the members.
  /// - Returns: the list's head, which the caller writes.
  mutating func release(
    _ list: AccountID, of owner: AccountID, titled title: String, _ head: ListHead,
    at now: Timestamp
  ) throws -> ListHead {
    let bytes = try ListRoom.bytes(of: list, ownedBy: owner, in: view)
    write(LocalEdit(ListRoom.id(owner, list), nil))
    try eraseOffer(of: list)
    try eraseLinks(to: list)
    let known = OwnerlessList(
      list: list, endsAt: now.adding(seconds: ListLimits.ownerlessSeconds),
      title: PersonalInvitation.beginning(of: title), bytes: bytes)
    return end(known, head)
  }

  /// A list without an owner ends with the next sweep when its last member leaves. Any other list stays as it is.
  /// - Returns: the list's head, which the caller writes.
  mutating func leave(_ list: AccountID, _ head: ListHead, at now: Timestamp) throws -> ListHead {
    let prefix = LocalID.receiptPrefix + ListKeys.members(of: list)
    guard let known = try OwnerlessList.of(list, in: view),
      try view.localUsage(of: prefix).count <= 1
    else { return head }
    write(LocalEdit(ListKeys.end(of: list, at: known.endsAt), nil))
    let last = OwnerlessList(list: list, endsAt: now, title: known.title, bytes: known.bytes)
    return end(last, head)
  }

  private mutating func end(_ known: OwnerlessList, _ head: ListHead) -> ListHead {
    note(ListKeys.end(of: known.list, at: known.endsAt), known.value)
    return ListHead(version: head.version, createdAt: head.createdAt, endsAt: known.endsAt)
  }

  /// Hides the offer of a list without an owner from a member.
  /// - Throws: `missing` for any other list.
  mutating func declineOwnerless(_ list: AccountID, by account: AccountID) throws {
    let id = ListKeys.membership(account, list)
    guard try OwnerlessList.of(list, in: view) != nil, let membership = try view.local(id),
      let role = try ListDirectory.role(membership)
    else { throw ServiceError.noInvitation }
    let isMade = try ListDirectory.isMade(membership)
    note(id, ["role": .string(role.rawValue), "made": .bool(isMade), "declined": true])
  }
}
