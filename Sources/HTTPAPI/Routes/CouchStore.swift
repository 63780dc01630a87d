import Accounts
import CouchSync
import Documents
import Stores

/// The caller's own store as a database, leased for each verb.
struct CouchStore: Sendable {
  /// The stores.
  let stores: DatabaseManager
  /// Whose it is.
  let owner: Principal
  /// The clock.
  let now: @Sendable () -> Timestamp

  /// Lends the database for a verb that writes; an absent store is made.
  /// - Throws: what `use` throws, and what opening a store throws, in CouchDB's words.
  func writing<Value>(
    _ use: (CouchDatabase) async throws(CouchError) -> Value
  ) async throws(CouchError) -> Value {
    try await stores.withStore(owner.store, creating: true) { store throws(CouchError) in
      try await use(database(store))
    }
  }

  /// Lends the database for a verb that adds nothing; an absent store is as an empty one.
  /// - Throws: as ``writing(_:)``.
  func reading<Value>(
    _ use: (CouchDatabase) async throws(CouchError) -> Value
  ) async throws(CouchError) -> Value {
    try await stores.withStore(owner.store, creating: false) { store throws(CouchError) in
      try await use(database(store))
    }
  }

  /// Makes the store.
  /// - Throws: 412 `file_exists` when it is there.
  func make() async throws(CouchError) {
    try await stores.withStore(owner.store, creating: false) { store throws(CouchError) in
      guard store == nil else {
        throw CouchError(
          StoreError(
            .exists, "The database could not be created, the file already exists."))
      }
    }
    try await stores.withStore(owner.store) { _ throws(CouchError) in }
  }

  private func database(_ store: DocumentStore?) -> CouchDatabase {
    CouchDatabase(
      name: owner.storeName,
      store: store
        ?? DocumentStore(
          name: owner.store, storage: CouchEmptyStorage(), feed: ChangeFeed(),
          limits: .standard(for: owner.store), now: now))
  }
}
