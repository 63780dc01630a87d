import Documents
package import Stores

extension AccountStore {
  /// Deletes a guest and records that the guest's store is to be erased.
  func endGuest(_ id: AccountID) async throws -> [StoreName] {
    let (guestID, store) = (AccountKeys.guest(id), StoreName.guest(id))
    return try await stores.update(
      .system, loading: [guestID, AccountKeys.erasure(store)], as: .server
    ) {
      changes -> [StoreName] in
      // A guest that an account has adopted in the meantime no longer owns the store.
      guard try changes.view.document(guestID) == nil else { return [] }
      try changes.replace(guestID, by: ["type": "guest", "erased": true])
      changes.write(GuestRest.edit(id, until: nil))
      try changes.noteErasure(of: store)
      return [store]
    }
  }

  /// Whether an account or a guest was erased, and not only logged out.
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

  /// Deletes a user with the names and the password, and records that the user's store is to be erased; see
  /// ``erase(_:)``.
  /// - Parameter handsOn: whether lists that the user owns are transferred to another member. Otherwise they are
  ///   deleted.
  func endUser(
    _ userID: DocumentID, id: AccountID, handingListsOn handsOn: Bool = false
  ) async throws -> [StoreName] {
    try await stores.update(
      .system, loading: [userID, AccountKeys.erasure(.user(id))], as: .server
    ) {
      [lists] changes -> [StoreName] in
      guard let user = try UserDocument(changes.view.document(userID)), user.id == id else {
        return []
      }
      try changes.replace(userID, by: nil)
      // The credentials' id is the same as the document's.
      changes.write(LocalEdit(LocalID(receipt: userID.text), nil))
      changes.write(LocalEdit(AccountKeys.displayName(of: id), nil))
      try changes.noteErasure(of: .user(id))
      return [.user(id)] + (try lists.leave(&changes, id, handsOn))
    }
  }

  /// Deletes users by their ids, without their names, as ``endUser(_:id:)`` does. Reads every account.
  /// - Throws: `integrity` if one of them is not found and an account can't be read, after it has deleted the others.
  func endUsers(
    _ ids: Set<AccountID>, handingListsOn handsOn: Bool = false
  ) async throws -> [StoreName] {
    let walk = try await walk(AccountKeys.users, DocumentWalk(found: [DocumentID: AccountID]())) {
      walk, document in
      guard let user = try UserDocument(document), ids.contains(user.id) else { return }
      walk.found[document.id] = user.id
    }
    var stores: [StoreName] = []
    for (document, id) in walk.found {
      stores += try await endUser(document, id: id, handingListsOn: handsOn)
    }
    guard walk.unreadable == 0 || walk.found.count == ids.count else { throw Self.unreadable }
    return stores
  }

  /// Records that a store is to be erased whose owner still exists.
  func noteErasure(of store: StoreName) async throws {
    try await stores.update(.system, loading: [AccountKeys.erasure(store)], as: .server) {
      changes in
      try changes.noteErasure(of: store)
    }
  }

  /// The record of a store that is to be erased.
  struct PendingErasure: Sendable {
    let store: StoreName
    /// Whether the store is erased already and in the log of erasures. Only guests may be left that the user has adopted.
    let isRest: Bool
  }

  /// The stores that are recorded to be erased, in the order of their keys.
  /// - Parameter limit: leaves out those that were recorded later.
  /// - Returns: the records, and whether all of them could be read.
  func pendingErasures(
    before limit: Timestamp? = nil
  ) async throws -> (found: [PendingErasure], isComplete: Bool) {
    let walk = try await walk(AccountKeys.erasures, DocumentWalk(found: [PendingErasure]())) {
      walk, document in
      let root = try Self.root(of: document.body)
      guard let name = root["store"]?.string.flatMap(StoreName.init(key:)) else {
        throw Self.unreadable
      }
      if let limit, limit <= document.updated { return }
      let isRest = root["rest"]?.bool ?? false
      walk.found.append(PendingErasure(store: name, isRest: isRest))
    }
    return (walk.found, walk.unreadable == 0)
  }

  /// Erases a store and removes the record of it. With a user's store it also erases the stores of the guests that
  /// the user has adopted or is adopting. The record is removed last, so that the next start repeats an erasure
  /// that failed. It stays while the record of a guest can't be read, who may be one of the user's.
  /// - Parameter isNoted: whether the log of erasures gets an entry.
  /// - Returns: whether the store existed, and whether the record is removed.
  @discardableResult
  func erase(
    _ store: StoreName, isNoted: Bool = true
  ) async throws -> (wasThere: Bool, isComplete: Bool) {
    var (guests, isComplete): ([AccountID], Bool) = ([], true)
    if case .user(let id) = store {
      (guests, isComplete) = try await guestsTaken(by: id)
      try await dropRemotes(of: id)
    }
    for guest in guests { _ = try await stores.erase(.guest(guest)) }
    let wasThere = try await stores.erase(store, isNoted: isNoted)
    let id = AccountKeys.erasure(store)
    try await stores.update(.system, loading: [id], as: .server) { [guests, isComplete] changes in
      for guest in guests {
        changes.write(GuestRest.edit(guest, until: nil))
        changes.write(LocalEdit(UndoNote.id(of: guest), nil))
      }
      guard !isComplete else { return try changes.dropErasure(of: store) }
      let record = try changes.view.document(id).flatMap { $0.isDeleted ? nil : $0.body }
      guard try record.map(Self.root)?["rest"] == nil else { return }
      try changes.noteErasure(of: store, isRest: true)
    }
    return (wasThere, isComplete)
  }

  /// Removes the remotes of a person: the documents whose ids begin with the person's.
  private func dropRemotes(of person: AccountID) async throws {
    try await stores.updateIfPresent(.named(.remotes), as: .server) { changes in
      (changes.freesSpace, changes.keepsHistory) = (true, false)
      for id in try ["push", "pull"].map({ try DocumentID(person.text + "/" + $0) }) {
        guard let document = try changes.view.document(id), !document.isDeleted else { continue }
        try changes.delete(id, base: document.revision)
        changes.write(LocalEdit(.progress(of: id.text), nil))
      }
    }
  }

  /// Deletes a list that a restored backup contains, as ``endUser(_:id:handingListsOn:)`` does for a user.
  func endList(_ list: AccountID) async throws -> [StoreName] {
    try await stores.update(.system, as: .server) { [lists] changes in
      try lists.end(&changes, list)
    }
  }
}

extension StoreChanges {
  /// Records that a store is to be erased. The update is allowed even when the disk is full, because the erasure
  /// frees space.
  /// - Parameter isRest: see ``AccountStore/PendingErasure/isRest``.
  package mutating func noteErasure(of store: StoreName, isRest: Bool = false) throws {
    freesSpace = true
    var record: JSONObject = ["type": "erasure", "store": .string(store.key)]
    if isRest { record.append("rest", true) }
    try replace(AccountKeys.erasure(store), by: .object(record))
  }

  /// Removes the record that a store is to be erased.
  package mutating func dropErasure(of store: StoreName) throws {
    let id = AccountKeys.erasure(store)
    guard let note = try view.document(id), !note.isDeleted else { return }
    try replace(id, by: nil)
  }
}

/// The changes to shared lists in the system store when an account or a list is deleted. These rules are part of
/// the same update. They are passed in because the lists' module depends on the accounts' module.
package struct ListErasure: Sendable {
  /// Removes an account from all lists. Lists that it owns are transferred to another member if the flag is true,
  /// and otherwise deleted. Returns the stores to erase.
  let leave: @Sendable (inout StoreChanges, AccountID, Bool) throws -> [StoreName]
  /// Deletes a list. Returns the stores to erase.
  let end: @Sendable (inout StoreChanges, AccountID) throws -> [StoreName]

  package init(
    leave: @escaping @Sendable (inout StoreChanges, AccountID, Bool) throws -> [StoreName],
    end: @escaping @Sendable (inout StoreChanges, AccountID) throws -> [StoreName]
  ) { (self.leave, self.end) = (leave, end) }

  /// For accounts of which none is deleted.
  package static let none = ListErasure(leave: { _, _, _ in [] }, end: { _, _ in [] })
}
