package import Documents
import Lanes
import NIOConcurrencyHelpers

/// One store as use cases see it: an engine's storage, with the quota checked in every update, and the common
/// operations on documents. A value; valid as long as its lease (see
/// ``DatabaseManager/withStore(_:creating:_:)``).
package struct DocumentStore: Sendable {
  /// The name of the store.
  package let name: StoreName
  let storage: any StoreStorage
  let feed: ChangeFeed
  private let limits: StoreLimits
  let now: @Sendable () -> Timestamp
  let follower: CommitFollower
  /// Whether the storage has failed since it was opened.
  let health: StorageHealth

  /// Creates a store over its storage.
  /// - Parameter now: the clock that gives documents their times.
  /// - Parameter follower: the rule that runs after commits.
  package init(
    name: StoreName, storage: any StoreStorage, feed: ChangeFeed, limits: StoreLimits,
    now: @escaping @Sendable () -> Timestamp, follower: CommitFollower = .none
  ) {
    self.name = name
    self.storage = storage
    health = StorageHealth(isNew: storage.isNew)
    self.feed = feed
    self.limits = limits
    self.now = now
    self.follower = follower
  }

  /// Whether the store was created for the present callers: true once, for one of them.
  package func takeCreation() -> Bool { health.takeCreation() }

  /// Reads one state of the store; see ``StoreStorage/read(_:)``.
  package func read<Value: Sendable>(
    _ query: @escaping @Sendable (any StoreView) throws -> Value
  ) async throws -> Value {
    try await retryingAfterRepair { try await storage.read(query) }
  }

  /// Reads in slices, for reads whose size a client decides.
  ///
  /// `step` is called repeatedly until it returns a value. Each call gets the `progress` that the call before
  /// left. A call works until ``Slice/isOver`` and then returns nil. Between two calls other callers can read
  /// and write, so that each call may see another state of the store.
  /// - Throws: what `step` throws; `ended`.
  package func read<Progress: Sendable, Value: Sendable>(
    inSlices progress: Progress,
    _ step: @escaping @Sendable (inout Progress, any StoreView) throws -> Value?
  ) async throws -> Value {
    // In a box, so that growing progress is not copied at each call.
    let reached = NIOLockedValueBox(progress)
    while true {
      do {
        let value = try await storage.read { view in
          try reached.withLockedValue { progress in try step(&progress, view) }
        }
        if let value { return value }
      } catch {
        health.note(error)
        guard await hasRepaired(after: error) else { throw error }
        reached.withLockedValue { $0 = progress }
      }
      // Other callers can use the store between two reads, but this task may still run for long.
      try await Slice.giveWay()
      if Slice.isEnded { throw ServiceError.ended }
    }
  }

  /// Reads a document or two of one state of the store; see ``StoreStorage/readInline(_:)``.
  package func readInline<Value: Sendable>(
    _ query: @escaping @Sendable (any StoreView) throws -> Value
  ) async throws -> Value {
    try await retryingAfterRepair { try await storage.readInline(query) }
  }

  /// Commits what a rule records; see ``StoreStorage/update(loading:at:_:)``.
  ///
  /// If the write has a ``WriteReceipt/current``, the same commit stores the answer.
  /// - Parameter ids: the documents that the rule reads or changes, as far as they are known before.
  /// - Throws: also `quotaExceeded` when documents are added or grow beyond the quota;
  ///   ``WriteReceipt/AnsweredBefore``, and `receiptMismatch`; `unavailable` after the ``WriteDeadline/current``.
  @discardableResult
  package func update<Value: Sendable>(
    loading ids: Set<DocumentID> = [],
    _ rule: @escaping @Sendable (inout StoreChanges) throws -> Value
  ) async throws -> Value {
    let (limits, moment, author) = (limits, now(), Author.current)
    let (concerns, receipt, name) = (follower.concerns, WriteReceipt.current, name)
    let deadline = WriteDeadline.current
    let (value, changed, followed, kept) = try await retryingAfterRepair {
      try await storage.update(loading: ids, at: moment) { changes in
        changes.historyLimits = limits.history
        changes.author = author
        try receipt?.checkEarlier(in: changes.view, of: name, at: moment)
        // The present time, because the update may have waited long for the storage.
        try deadline?.check(at: now(), isAnswering: receipt?.mayKeep(in: name) ?? false)
        let value = try rule(&changes)
        let entry = try receipt?.entry(of: value, in: changes, of: name, at: moment)
        if let entry { changes.write(entry.edit) }
        try PurgeMarks.note(in: &changes, at: moment)
        try Quota.check(&changes, against: limits)
        let wakes = !changes.mutations.isEmpty || !changes.purges.isEmpty
        return (
          value, (any: !changes.isEmpty, documents: wakes),
          changes.mutations.filter(concerns).map(\.id), entry?.kept
        )
      }
    }
    if changed.any { deadline?.begin() }
    if let kept { receipt?.note(kept) }
    if changed.documents { feed.wake() }
    // An error of the follower does not undo this commit. The follower does the rest after the next such
    // commit.
    if !followed.isEmpty {
      try? await Maintenance.run { try await follower.follow(self, followed) }
    }
    return value
  }

  /// Gives free disk space back to the system; see ``StoreStorage/compact()``.
  package func compact() async throws {
    try await noting { try await storage.compact() }
  }

  /// Wake-ups after commits. The first comes at once; after each, the reader reads again by sequence number.
  package func wakeUps() -> AsyncStream<Void> { feed.wakeUps() }

  /// The winner, which may be a tombstone.
  package func document(_ id: DocumentID) async throws -> Document? {
    try await readInline { view in try view.document(id) }
  }

  /// Adds a revision to a document; see ``StoreChanges/put(_:base:body:isDeleted:)``.
  @discardableResult
  package func put(
    _ id: DocumentID, base: RevisionID?, body: DocumentBody
  ) async throws -> RevisionID {
    try await update(loading: [id]) { changes in
      try changes.put(id, base: base, body: body)
    }
  }

  /// Adds a tombstone to a document; see ``StoreChanges/delete(_:base:)``.
  @discardableResult
  package func delete(
    _ id: DocumentID, base: RevisionID?
  ) async throws -> RevisionID {
    try await update(loading: [id]) { changes in
      try changes.delete(id, base: base)
    }
  }

  /// How much history each document of this store keeps.
  package var historyLimits: HistoryLimits { limits.history }
  /// The limits of this store.
  package var quota: StoreLimits { limits }
}
