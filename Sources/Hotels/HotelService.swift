package import Documents
package import Stores

/// The use cases of bookmarks, over any store. The rules are ``BookmarkEdit``'s; this runs them in one
/// update each, so that the list and the hotels' documents never disagree.
///
/// A list with conflicting revisions, or several lists, are merged by an update of its own: it depends on the
/// revisions alone, so it comes out as the same revision wherever it is replayed. It follows the commit that
/// brought them, whatever route that took (``BookmarkMerge/follower(now:)``), and where it could not be done
/// then, it comes before the next change of bookmarks. Readers see the merged list in any case.
package struct HotelService: Sendable {
  private let stores: DatabaseManager
  private let now: @Sendable () -> Timestamp

  /// A service over all stores.
  /// - Parameter now: the clock that stamps bookmarks and ends receipts; the stores' own.
  package init(stores: DatabaseManager, now: @escaping @Sendable () -> Timestamp) {
    self.stores = stores
    self.now = now
  }

  /// Bookmarks a hotel, or updates the facts of one that is bookmarked. Idempotent: the same facts again
  /// write nothing. A hotel that was unbookmarked goes on from its tombstone.
  /// - Throws: `precondition`, `invalidHotel`, `tooLarge`, `occupied`, `store`.
  package func bookmark(
    _ hotel: Hotel, in name: StoreName, condition: RevisionCondition = .none
  ) async throws(HotelError) -> BookmarkOutcome {
    let (id, body) = (hotel.id, try hotel.stored())
    let mayCreate = condition == .none || condition == .absent
    let outcome = try await change(name, creating: mayCreate, [id]) { edit throws(HotelError) in
      try condition.check(try edit.revision(of: id))
      return try edit.add(id, body)
    }
    guard let outcome else {
      try condition.check(nil)
      throw HotelError(StoreError.absent)
    }
    return outcome
  }

  /// Unbookmarks a hotel: a tombstone on its document, its id out of the list.
  /// - Returns: the tombstone's revision; nil when the hotel was not bookmarked.
  /// - Throws: `precondition`, `store`.
  package func unbookmark(
    _ id: HotelID, in name: StoreName, condition: RevisionCondition = .none
  ) async throws(HotelError) -> RevisionID? {
    let outcome = try await change(name, creating: false, [id]) { edit throws(HotelError) in
      try condition.check(try edit.revision(of: id))
      return try edit.remove(id)
    }
    if outcome == nil { try condition.check(nil) }
    return outcome ?? nil
  }

  /// Makes one canonical list of all lists that the store holds. Every change of bookmarks does it first;
  /// this is for whoever can't wait for one.
  /// - Returns: whether there was anything to merge.
  /// - Throws: `store`.
  package func reconcile(in name: StoreName) async throws(HotelError) -> Bool {
    try await run(name, creating: false) { store throws(StoreError) in
      try await store.mergeLists(at: now())
    } ?? false
  }

  /// Runs a rule over a store's bookmarks in one update, lists merged before.
  /// - Parameter creating: whether an absent store is made.
  /// - Returns: nil for an absent store that is not made.
  func change<Value: Sendable>(
    _ name: StoreName, creating: Bool, _ hotels: some Sequence<HotelID>,
    _ rule: @escaping BookmarkRule<Value>
  ) async throws(HotelError) -> Value? {
    let ids = Set(hotels.map(\.documentID))
    let now = now()
    let result = try await run(name, creating: creating) { store throws(StoreError) in
      try await store.change(ids, at: now, rule)
    }
    guard let result else { return nil }
    return try result.get()
  }

  /// Reads one state of a store; nil for an absent store.
  func read<Value: Sendable>(
    _ name: StoreName,
    _ query: @escaping @Sendable (any StoreView) throws(StoreError) -> Value
  ) async throws(HotelError) -> Value? {
    try await run(name, creating: false) { store throws(StoreError) in
      try await store.read(query)
    }
  }

  /// Reads a store in slices; see ``DocumentStore/read(inSlices:_:)``. Nil for an absent store.
  func read<Progress: Sendable, Value: Sendable>(
    _ name: StoreName, inSlices progress: Progress,
    _ step: @escaping @Sendable (inout Progress, any StoreView) throws(StoreError) -> Value?
  ) async throws(HotelError) -> Value? {
    try await run(name, creating: false) { store throws(StoreError) in
      try await store.read(inSlices: progress, step)
    }
  }

  func run<Value: Sendable>(
    _ name: StoreName, creating: Bool,
    _ body: @Sendable (DocumentStore) async throws(StoreError) -> Value
  ) async throws(HotelError) -> Value? {
    let outcome: Value?
    do {
      outcome = try await stores.withStore(name, creating: creating) { store throws(StoreError) in
        guard let store else { return nil }
        return try await body(store)
      }
    } catch {
      throw HotelError(error)
    }
    return outcome
  }
}
