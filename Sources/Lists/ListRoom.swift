import Documents
package import Stores

/// The bytes of lists, which count for their owners.
///
/// The system store has a local document `list-room/<owner>/<list>` for each list, `{"bytes"}`: what was given to it. A
/// list gets bytes before it needs them, in steps (``StoreRoom``), so the sum for an owner is at least what the lists
/// have, also after a crash and with several servers.
enum ListRoom {
  /// The prefix of the records of an owner's lists.
  static func of(_ owner: AccountID) -> String { "list-room/" + owner.text + "/" }

  static func id(_ owner: AccountID, _ list: AccountID) -> LocalID {
    LocalID(receipt: of(owner) + list.text)
  }

  /// What a list was given.
  static func bytes(
    of list: AccountID, ownedBy owner: AccountID, in view: any StoreView
  ) throws -> Int64 { try view.local(id(owner, list)).map(Self.bytes) ?? 0 }

  /// What the lists of an owner were given together.
  static func sum(of owner: AccountID, in view: any StoreView) throws -> Int64 {
    try view.localValues(ListKeys.range(of(owner))) { _, note in try bytes(note) }.reduce(0, +)
  }

  private static func bytes(_ note: LocalDocument) throws -> Int64 {
    Int64(try ListDirectory.root(of: note)["bytes"]?.int ?? 0)
  }
}

extension RoomGiver {
  /// Gives lists bytes of their owners.
  /// - Parameter limit: the bytes of all lists of one owner.
  package static func ofLists(within limit: Int64) -> RoomGiver {
    RoomGiver(
      concerns: { name in if case .list = name { true } else { false } },
      give: { stores, name, bytes in
        guard case .list(let list) = name else { return Given(bytes: bytes) }
        return try await stores.update(.system, as: .server) { changes in
          try changes.giveRoom(to: list, bytes, within: limit)
        }
      })
  }
}

/// The rules for the bytes of lists, within an update of the system store.
extension StoreChanges {
  /// Records that a list may have so many bytes, and some more. What it does not need any more is given back.
  /// - Parameter bytes: 0 only asks what the list has.
  /// - Throws: `quotaExceeded`.
  fileprivate mutating func giveRoom(
    to list: AccountID, _ bytes: Int64, within limit: Int64
  ) throws -> RoomGiver.Given {
    if let known = try OwnerlessList.of(list, in: view) {
      guard bytes <= known.bytes else { throw ServiceError.listHasNoOwner }
      return RoomGiver.Given(bytes: known.bytes, isNearlyFull: true)
    }
    // A list that is being made has no owner yet; ``requireRoom(for:within:)`` has checked that there is room.
    guard let owner = try ListDirectory.owner(of: list, in: view) else {
      return RoomGiver.Given(bytes: StoreRoom.rounded(bytes))
    }
    let known = try ListRoom.bytes(of: list, ownedBy: owner, in: view)
    let others = try ListRoom.sum(of: owner, in: view) - known
    var given = StoreRoom.rounded(bytes)
    if bytes == 0 || bytes <= known && known <= 2 * given {
      given = known
    } else {
      if known < bytes {
        guard bytes <= limit - others else { throw ServiceError.listsAreFull(limit) }
        given = min(given, limit - others)
      }
      noteRoom(of: list, ownedBy: owner, given)
    }
    return RoomGiver.Given(
      bytes: given, isNearlyFull: others + given > limit / 100 * StoreLimits.fillingPercent)
  }

  /// Checks that an account can have one more list.
  /// - Throws: `quotaExceeded`.
  func requireRoom(
    for owner: AccountID, _ bytes: Int64 = StoreRoom.stepBytes, within limit: Int64
  ) throws {
    guard try ListRoom.sum(of: owner, in: view) + bytes <= limit else {
      throw ServiceError.listsAreFull(limit)
    }
  }

  mutating func noteRoom(of list: AccountID, ownedBy owner: AccountID, _ bytes: Int64) {
    note(ListRoom.id(owner, list), ["bytes": .number(JSONNumber(Int(bytes)))])
  }

  /// Counts a list for another owner.
  mutating func moveRoom(of list: AccountID, from owner: AccountID, to next: AccountID) throws {
    let bytes = try ListRoom.bytes(of: list, ownedBy: owner, in: view)
    write(LocalEdit(ListRoom.id(owner, list), nil))
    noteRoom(of: list, ownedBy: next, bytes)
  }
}

extension ServiceError {
  fileprivate static func listsAreFull(_ limit: Int64) -> ServiceError {
    ServiceError(
      .quotaExceeded,
      "The lists of this list's owner are full: together they have at most \(limit) bytes. The owner "
        + "can remove notes or bookmarks, end a list, or hand one on")
  }

  fileprivate static let listHasNoOwner = ServiceError(
    .quotaExceeded, "The list has no owner, and gets no more bytes before a member accepts it")

  static let nextOwnerIsFull = ServiceError(
    .quotaExceeded,
    "The next owner has no room for this list: all lists of one owner share a limit of bytes. They "
      + "can remove notes or bookmarks, end a list, or hand one on")
}
