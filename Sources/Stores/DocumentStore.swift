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
    _ query: @escaping @Sendable (any StoreView) throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    try await mending { () throws(StoreError) in try await storage.read(query) }
  }

  /// Reads in slices, for what a stranger sizes: `step` is called again and again, each time with what the call
  /// before left in `progress`, until it answers. It goes on until ``Slice/isOver`` and answers nil then; between two
  /// calls others have their turn, also those who write, so that each call may see another state of the store.
  /// - Throws: what `step` throws; `ended`.
  package func read<Progress: Sendable, Value: Sendable>(
    inSlices progress: Progress,
    _ step: @escaping @Sendable (inout Progress, any StoreView) throws(StoreError) -> Value?
  ) async throws(StoreError) -> Value {
    // In a box, so that what grows from call to call is never copied.
    let reached = NIOLockedValueBox(progress)
    while true {
      do throws(StoreError) {
        let value = try await storage.read { view throws(StoreError) in
          let outcome: Result<Value?, StoreError> = reached.withLockedValue { progress in
            do throws(StoreError) { return .success(try step(&progress, view)) } catch {
              return .failure(error)
            }
          }
          return try outcome.get()
        }
        if let value { return value }
      } catch {
        guard await hasMended(after: error) else { throw error }
        reached.withLockedValue { $0 = progress }
      }
      // The store's thread was left, so others have had their turn; the task's own may go on for long.
      do { try await Slice.giveWay() } catch { throw .ended }
      if Slice.isEnded { throw .ended }
    }
  }

  /// Reads a document or two of one state of the store; see ``StoreStorage/readInline(_:)``.
  package func readInline<Value: Sendable>(
    _ query: @escaping @Sendable (any StoreView) throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    try await mending { () throws(StoreError) in try await storage.readInline(query) }
  }

  /// Commits what `decide` decides; see ``StoreStorage/update(_:at:_:)``.
  /// - Throws: besides, `quotaExceeded` when documents would be added or grow beyond the quota.
  @discardableResult
  package func update<Value: Sendable>(
    _ ids: Set<DocumentID>,
    _ decide: @escaping @Sendable (any StoreView) throws(StoreError) -> Decision<Value>
  ) async throws(StoreError) -> Committed<Value> {
    let (limits, moment) = (limits, now())
    let concerns = follower.concerns
    let committed = try await mending { () throws(StoreError) in
      try await storage.update(ids, at: moment) { view throws(StoreError) in
        var decision = try decide(view)
        if !decision.purges.isEmpty {
          let count = LocalDocument(revision: try view.purgeCount() &+ 1, body: Array("{}".utf8))
          decision.locals.append(LocalEdit(.purgeCount, count))
          for purge in decision.purges {
            let note = try PurgeMarks.note(purge, in: view, at: moment)
            if let note { decision.locals.append(note) }
          }
        }
        decision.keepsHistory = try Quota.check(
          decision.mutations, purges: decision.purges, against: limits, in: view)
        try Quota.check(decision.locals, against: limits, in: view)
        return decision.noting(
          wakes: !decision.mutations.isEmpty || !decision.purges.isEmpty,
          followed: decision.mutations.filter(concerns).map(\.id))
      }
    }
    if committed.value.wakes { feed.wake() }
    // What it could not do now it does at the next such commit; this one stands.
    let followed = committed.value.followed
    if !followed.isEmpty { try? await follower.follow(self, followed) }
    return Committed(changes: committed.changes, value: committed.value.value)
  }

  /// Gives disk space back; see ``StoreStorage/compact()``.
  package func compact() async throws(StoreError) { try await storage.compact() }

  /// Wake-ups after commits: read again by sequence number after each. The first comes at once.
  package func wakeUps() -> AsyncStream<Void> { feed.wakeUps() }

  /// The winner, a tombstone included.
  package func document(_ id: DocumentID) async throws(StoreError) -> Document? {
    try await readInline { view throws(StoreError) in try view.document(id) }
  }

  /// Puts a revision on a document; see ``Edit/put(_:in:base:body:isDeleted:limit:)``.
  @discardableResult
  package func put(
    _ id: DocumentID, base: RevisionID?, body: DocumentBody
  ) async throws(StoreError) -> RevisionID {
    let limit = limits.history
    return try await update([id]) { view throws(StoreError) in
      let tree = try view.tree(id)
      let former = try view.former(id, tree)
      let mutation = try applying { () throws(DocumentError) in
        try Edit.put(id, in: tree, base: base, after: former, body: body, limit: limit)
      }
      return Decision([mutation], value: mutation.revision)
    }.value
  }

  /// Puts a tombstone on a document; see ``Edit/delete(_:in:base:body:limit:)``.
  @discardableResult
  package func delete(
    _ id: DocumentID, base: RevisionID?
  ) async throws(StoreError) -> RevisionID {
    let limit = limits.history
    return try await update([id]) { view throws(StoreError) in
      let tree = try view.tree(id)
      let mutation = try applying { () throws(DocumentError) in
        try Edit.delete(id, in: tree, base: base, limit: limit)
      }
      return Decision([mutation], value: mutation.revision)
    }.value
  }

  /// How much history each document of this store may have.
  package var historyLimits: HistoryLimits { limits.history }
  /// What this store takes.
  package var quota: StoreLimits { limits }
}

/// A decision's answer and what has to happen after its commit.
private struct NotedValue<Value: Sendable>: Sendable {
  let value: Value
  let wakes: Bool
  let followed: [DocumentID]
}

extension Decision {
  fileprivate func noting(wakes: Bool, followed: [DocumentID]) -> Decision<NotedValue<Value>> {
    var noted = Decision<NotedValue<Value>>(
      mutations, locals: locals,
      value: NotedValue(value: value, wakes: wakes, followed: followed))
    noted.purges = purges
    noted.withoutHistory = withoutHistory
    noted.indexes = indexes
    noted.keepsHistory = keepsHistory
    noted.freesSpace = freesSpace
    return noted
  }
}
