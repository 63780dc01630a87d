package import Documents

/// One store as use cases see it: the engine's port with the quota held in every update, and the
/// common document verbs. A value; good for as long as its lease (see
/// ``DatabaseManager/withStore(_:creating:_:)``).
package struct DocumentStore: Sendable {
  /// Which store.
  package let name: StoreName
  private let storage: any StoreStorage
  private let feed: ChangeFeed
  private let limits: StoreLimits
  private let now: @Sendable () -> Timestamp

  /// A store over its storage.
  /// - Parameter now: the clock that stamps documents.
  package init(
    name: StoreName, storage: any StoreStorage, feed: ChangeFeed, limits: StoreLimits,
    now: @escaping @Sendable () -> Timestamp
  ) {
    self.name = name
    self.storage = storage
    self.feed = feed
    self.limits = limits
    self.now = now
  }

  /// Reads one state of the store; see ``StoreStorage/read(_:)``.
  package func read<Value: Sendable>(
    _ query: @escaping @Sendable (any StoreView) throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    try await storage.read(query)
  }

  /// Commits what `decide` decides; see ``StoreStorage/update(_:at:_:)``.
  /// - Throws: besides, `quotaExceeded` when live documents would be added or grow beyond the
  ///   quota.
  @discardableResult
  package func update<Value: Sendable>(
    _ ids: Set<DocumentID>,
    _ decide: @escaping @Sendable (any StoreView) throws(StoreError) -> Decision<Value>
  ) async throws(StoreError) -> Committed<Value> {
    let limits = limits
    let committed = try await storage.update(ids, at: now()) { view throws(StoreError) in
      let decision = try decide(view)
      try Quota.check(decision.mutations, against: limits, in: view)
      return decision
    }
    if !committed.changes.isEmpty { feed.wake() }
    return committed
  }

  /// Wake-ups after commits: read again by sequence number after each. The first comes at once.
  package func wakeUps() -> AsyncStream<Void> { feed.wakeUps() }

  /// The winner, a tombstone included.
  package func document(_ id: DocumentID) async throws(StoreError) -> Document? {
    try await read { view throws(StoreError) in try view.document(id) }
  }

  /// Puts a revision on a document; see ``Edit/put(_:in:base:body:isDeleted:limit:)``.
  @discardableResult
  package func put(
    _ id: DocumentID, base: RevisionID?, body: DocumentBody
  ) async throws(StoreError) -> RevisionID {
    let limit = limits.revisions
    return try await update([id]) { view throws(StoreError) in
      let tree = try view.tree(id)
      let mutation = try applying { () throws(DocumentError) in
        try Edit.put(id, in: tree, base: base, body: body, limit: limit)
      }
      return Decision([mutation], value: mutation.revision)
    }.value
  }

  /// Puts a tombstone on a document; see ``Edit/delete(_:in:base:body:limit:)``.
  @discardableResult
  package func delete(
    _ id: DocumentID, base: RevisionID?
  ) async throws(StoreError) -> RevisionID {
    let limit = limits.revisions
    return try await update([id]) { view throws(StoreError) in
      let tree = try view.tree(id)
      let mutation = try applying { () throws(DocumentError) in
        try Edit.delete(id, in: tree, base: base, limit: limit)
      }
      return Decision([mutation], value: mutation.revision)
    }.value
  }

  /// How many revision ids this store keeps along each branch.
  package var revisionLimit: Int { limits.revisions }
  /// What this store takes.
  package var quota: StoreLimits { limits }
}
