package import Documents
import Lanes
import NIOConcurrencyHelpers

/// One store as use cases see it: the engine's port with the quota held in every update, and the
/// common document verbs. A value; good for as long as its lease (see
/// ``DatabaseManager/withStore(_:creating:_:)``).
package struct DocumentStore: Sendable {
  /// Which store.
  package let name: StoreName
  let storage: any StoreStorage
  let feed: ChangeFeed
  private let limits: StoreLimits
  let now: @Sendable () -> Timestamp
  let follower: CommitFollower
  /// Whether the storage has failed since it was opened.
  let health = StorageHealth()

  /// A store over its storage.
  /// - Parameter now: the clock that stamps documents.
  /// - Parameter follower: the rule that follows commits.
  package init(
    name: StoreName, storage: any StoreStorage, feed: ChangeFeed, limits: StoreLimits,
    now: @escaping @Sendable () -> Timestamp, follower: CommitFollower = .none
  ) {
    self.name = name
    self.storage = storage
    self.feed = feed
    self.limits = limits
    self.now = now
    self.follower = follower
  }

  /// Reads one state of the store; see ``StoreStorage/read(_:)``.
  package func read<Value: Sendable>(
    _ query: @escaping @Sendable (any StoreView) throws -> Value
  ) async throws -> Value {
    try await mending { try await storage.read(query) }
  }

  /// Reads in slices, for what a stranger sizes: `step` is called again and again, each time with what the call
  /// before left in `progress`, until it answers. It goes on until ``Slice/isOver`` and answers nil then; between two
  /// calls others have their turn, also those who write, so that each call may see another state of the store.
  /// - Throws: what `step` throws; `ended`.
  package func read<Progress: Sendable, Value: Sendable>(
    inSlices progress: Progress,
    _ step: @escaping @Sendable (inout Progress, any StoreView) throws -> Value?
  ) async throws -> Value {
    // In a box, so that what grows from call to call is never copied.
    let reached = NIOLockedValueBox(progress)
    while true {
      do {
        let value = try await storage.read { view in
          try reached.withLockedValue { progress in try step(&progress, view) }
        }
        if let value { return value }
      } catch {
        health.note(error)
        guard await hasMended(after: error) else { throw error }
        reached.withLockedValue { $0 = progress }
      }
      // The store's thread was left, so others have had their turn; the task's own may go on for long.
      try await Slice.giveWay()
      if Slice.isEnded { throw ServiceError.ended }
    }
  }

  /// Reads a document or two of one state of the store; see ``StoreStorage/readInline(_:)``.
  package func readInline<Value: Sendable>(
    _ query: @escaping @Sendable (any StoreView) throws -> Value
  ) async throws -> Value {
    try await mending { try await storage.readInline(query) }
  }

  /// Commits what a rule records; see ``StoreStorage/update(loading:at:_:)``.
  /// - Parameter ids: the documents that the rule reads or changes, as far as they are known before.
  ///
  /// Of a write whose answer is kept (``WriteReceipt/current``), the answer is written besides.
  /// - Throws: besides, `quotaExceeded` when documents would be added or grow beyond the quota;
  ///   ``WriteReceipt/AnsweredBefore``, and `receiptMismatch`.
  @discardableResult
  package func update<Value: Sendable>(
    loading ids: Set<DocumentID> = [],
    _ rule: @escaping @Sendable (inout StoreChanges) throws -> Value
  ) async throws -> Value {
    let (limits, moment, author) = (limits, now(), Author.current)
    let (concerns, receipt, name) = (follower.concerns, WriteReceipt.current, name)
    let (value, wakes, followed, kept) = try await mending {
      try await storage.update(loading: ids, at: moment) { changes in
        changes.historyLimits = limits.history
        changes.author = author
        try receipt?.checkEarlier(in: changes.view, of: name, at: moment)
        let value = try rule(&changes)
        let entry = try receipt?.entry(of: value, in: changes, of: name, at: moment)
        if let entry { changes.write(entry.edit) }
        try PurgeMarks.note(in: &changes, at: moment)
        try Quota.check(&changes, against: limits)
        return (
          value, !changes.mutations.isEmpty || !changes.purges.isEmpty,
          changes.mutations.filter(concerns).map(\.id), entry?.kept
        )
      }
    }
    if let kept { receipt?.note(kept) }
    if wakes { feed.wake() }
    // What it could not do now it does at the next such commit; this one stands.
    if !followed.isEmpty {
      try? await Upkeep.run { try await follower.follow(self, followed) }
    }
    return value
  }

  /// Gives disk space back; see ``StoreStorage/compact()``.
  package func compact() async throws {
    try await noting { try await storage.compact() }
  }

  /// Wake-ups after commits: read again by sequence number after each. The first comes at once.
  package func wakeUps() -> AsyncStream<Void> { feed.wakeUps() }

  /// The winner, a tombstone included.
  package func document(_ id: DocumentID) async throws -> Document? {
    try await readInline { view in try view.document(id) }
  }

  /// Puts a revision on a document; see ``StoreChanges/put(_:base:body:isDeleted:)``.
  @discardableResult
  package func put(
    _ id: DocumentID, base: RevisionID?, body: DocumentBody
  ) async throws -> RevisionID {
    try await update(loading: [id]) { changes in
      try changes.put(id, base: base, body: body)
    }
  }

  /// Puts a tombstone on a document; see ``StoreChanges/delete(_:base:)``.
  @discardableResult
  package func delete(
    _ id: DocumentID, base: RevisionID?
  ) async throws -> RevisionID {
    try await update(loading: [id]) { changes in
      try changes.delete(id, base: base)
    }
  }

  /// How much history each document of this store may have.
  package var historyLimits: HistoryLimits { limits.history }
  /// What this store takes.
  package var quota: StoreLimits { limits }
}
