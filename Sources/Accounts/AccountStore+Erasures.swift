import Documents
import JSON
import Lanes
package import Stores

extension AccountStore {
  /// Ends a guest and notes that the store is to be erased.
  func endGuest(_ id: AccountID) async throws -> [StoreName] {
    let (guestID, store) = (AccountKeys.guest(id), StoreName.guest(id))
    return try await update(loading: [guestID, AccountKeys.erasure(store)]) {
      changes -> [StoreName] in
      // A guest who became a user's meanwhile has given the store away.
      guard try changes.view.document(guestID) == nil else { return [] }
      try changes.replace(guestID, by: ["type": "guest", "erased": true])
      changes.write(GuestRest.edit(id, until: nil))
      try changes.noteErasure(of: store)
      return [store]
    }
  }

  /// Whether somebody who was here is erased, as against logged out.
  func isErased(_ principal: Principal) async throws -> Bool {
    switch principal.kind {
    case .administrator: return false
    case .guest:
      return try await read(orAbsent: false) { view in
        guard let note = try view.document(AccountKeys.guest(principal.id)) else { return false }
        return try Self.root(of: note.body)["erased"]?.bool ?? false
      }
    case .user:
      guard let name = try? UserName(given: principal.username ?? "") else { return false }
      return try await read(orAbsent: false) { view in
        try UserDocument(view.document(AccountKeys.user(name)))?.id != principal.id
      }
    }
  }

  /// Ends a user, whose name and password are gone with this, and notes that the user's store is to be erased; see
  /// ``erase(_:)``.
  /// - Parameter handsOn: whether lists that the user owns go to another member, instead of ending.
  func endUser(
    _ name: UserName, id: AccountID, handingListsOn handsOn: Bool = false
  ) async throws -> [StoreName] {
    let former = name.widthMapped.map(AccountKeys.formerName)
    return try await endUser(
      AccountKeys.user(name), AccountKeys.credentials(name), former: former, id: id,
      handingListsOn: handsOn)
  }

  private func endUser(
    _ userID: DocumentID, _ local: LocalID, former: LocalID? = nil, id: AccountID,
    handingListsOn handsOn: Bool = false
  ) async throws -> [StoreName] {
    let lists = lists
    return try await update(loading: [userID, AccountKeys.erasure(.user(id))]) {
      changes -> [StoreName] in
      guard let user = try UserDocument(changes.view.document(userID)), user.id == id else {
        return []
      }
      try changes.replace(userID, by: nil)
      changes.write(LocalEdit(local, nil))
      if let former { changes.write(LocalEdit(former, nil)) }
      try changes.noteErasure(of: .user(id))
      return [.user(id)] + (try lists.leave(&changes, id, handsOn))
    }
  }

  /// Ends users whose names are not known, by their ids, as ``endUser(_:id:)`` does. Reads every account.
  func endUsers(_ ids: Set<AccountID>) async throws -> [StoreName] {
    let found: [(document: DocumentID, id: AccountID)] = try await read(orAbsent: []) {
      view in
      var found: [(document: DocumentID, id: AccountID)] = []
      for document in try view.ids(ofType: "user") {
        guard let user = try UserDocument(view.document(document)), ids.contains(user.id) else {
          continue
        }
        found.append((document, user.id))
      }
      return found
    }
    var stores: [StoreName] = []
    for (document, id) in found {
      stores += try await endUser(document, LocalID(receipt: document.text), id: id)
    }
    return stores
  }

  /// Notes that a store is to be erased whose owner lives on.
  func noteErasure(of store: StoreName) async throws {
    try await update(loading: [AccountKeys.erasure(store)]) { changes in
      try changes.noteErasure(of: store)
    }
  }

  /// The stores that are noted to be erased, in the order of their keys.
  func pendingErasures() async throws -> [StoreName] {
    try await read(orAbsent: []) { view in
      var names: [StoreName] = []
      for id in try view.ids(ofType: "erasure") {
        guard let document = try view.document(id),
          let key = try Self.root(of: document.body)["store"]?.string,
          let name = StoreName(key: key)
        else { throw Self.unreadable }
        names.append(name)
      }
      return names
    }
  }

  /// Erases a store and forgets the note. With a user's go those of the guests whose bookmarks came into it or were
  /// on their way: before the note, so that what a failure leaves over is found again.
  /// - Returns: false when there was no such store.
  @discardableResult
  func erase(_ store: StoreName) async throws -> Bool {
    var guests: [AccountID] = []
    if case .user(let id) = store { guests = try await guestsTaken(by: id) }
    let wasThere: Bool
    for guest in guests { _ = try await stores.erase(.guest(guest)) }
    wasThere = try await stores.erase(store)
    let id = AccountKeys.erasure(store)
    try await update(loading: [id]) { [guests] changes in
      for guest in guests {
        changes.write(GuestRest.edit(guest, until: nil))
        changes.write(LocalEdit(UndoNote.id(of: guest), nil))
      }
      try changes.dropErasure(of: store)
    }
    return wasThere
  }
}

extension StoreChanges {
  /// Records that a store is to be erased. A full disk takes the update, as the erasure follows.
  package mutating func noteErasure(of store: StoreName) throws {
    freesSpace = true
    try replace(
      AccountKeys.erasure(store), by: ["type": "erasure", "store": .string(store.key)])
  }

  /// Records that a store is not to be erased after all.
  package mutating func dropErasure(of store: StoreName) throws {
    let id = AccountKeys.erasure(store)
    guard let note = try view.document(id), !note.isDeleted else { return }
    try replace(id, by: nil)
  }
}

/// What the end of an account, or of a list, does to what the system store knows of shared lists: rules that are part of
/// the same update. They are handed in, for lists stand above accounts.
package struct ListErasure: Sendable {
  /// Takes an account off all lists. Lists that it owns end, or go to another member where the flag says so.
  /// Answers the stores that are to be erased.
  let leave: @Sendable (inout StoreChanges, AccountID, Bool) throws -> [StoreName]
  /// Ends a list. Answers the stores that are to be erased.
  let end: @Sendable (inout StoreChanges, AccountID) throws -> [StoreName]

  /// Two rules.
  package init(
    leave: @escaping @Sendable (inout StoreChanges, AccountID, Bool) throws -> [StoreName],
    end: @escaping @Sendable (inout StoreChanges, AccountID) throws -> [StoreName]
  ) {
    (self.leave, self.end) = (leave, end)
  }

  /// There are no lists.
  package static let none = ListErasure(leave: { _, _, _ in [] }, end: { _, _ in [] })
}

extension AccountStore {
  /// Ends a list that a backup brought back, as ``endUser(_:id:handingListsOn:)`` does a user.
  func endList(_ list: AccountID) async throws -> Set<StoreName> {
    let lists = lists
    return Set(try await update { changes in try lists.end(&changes, list) })
  }
}

/// Names of before that the rules for new names would have made others: with wide or narrow characters.
extension AccountStore {
  /// How many of them one commit notes at most.
  private static let notesAtOnce = 100

  /// How far the walk over the names has come.
  private struct Walk: Sendable {
    var last: String?
    var found: [UserName] = []
  }

  /// Looks once at all names, and notes the ones that new names must not equal. Another time it reads one note.
  func noteFormerNames() async throws {
    let isDone = try await read(orAbsent: true) { view in
      do { return try view.local(AccountKeys.formerNames) != nil } catch {
        // A damaged note is written anew.
        guard ServiceError(error)?.code == .integrity else { throw error }
        return false
      }
    }
    guard !isDone else { return }
    let found = try await formerNames()
    let note = LocalDocument(revision: 1, body: Array("{}".utf8))
    for start in stride(from: 0, to: found.count, by: Self.notesAtOnce) {
      let names = found[start..<min(start + Self.notesAtOnce, found.count)]
      try await update { changes in
        for name in names { changes.write(LocalEdit(AccountKeys.formerName(name), note)) }
      }
    }
    try await update { changes in
      changes.write(LocalEdit(AccountKeys.formerNames, note))
    }
  }

  private func formerNames() async throws -> [UserName] {
    try await stores.withStore(.system, creating: false) { store in
      guard let store else { return [] }
      return try await store.read(inSlices: Walk()) { walk, view in
        let range = DocumentRange(
          start: walk.last.map { $0 + "\u{0}" } ?? LocalID.userPrefix, end: LocalID.userEnd)
        var isWhole = true
        try view.locals(range) { id, local in
          walk.last = id.text
          let name = try? UserName(Credentials(local).name)
          if let mapped = name?.widthMapped { walk.found.append(mapped) }
          isWhole = !Slice.isOver
          return isWhole
        }
        return isWhole ? walk.found : nil
      }
    }
  }
}

extension LocalID {
  /// What the ids of users' credentials start with.
  fileprivate static let userPrefix = receiptPrefix + "user:"
  /// The text behind all of them: what follows a colon.
  fileprivate static let userEnd = receiptPrefix + "user;"
}
