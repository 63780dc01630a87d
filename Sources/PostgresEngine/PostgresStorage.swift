import Documents
import Lanes
import NIOConcurrencyHelpers
import StoreRecords
import Stores
import Synchronization

/// One store of the database: its number, and the line of updates of this node that wait for a commit. What the store
/// holds is read from the database each time; nothing of it is kept here.
final class PostgresStorage: StoreStorage {
  /// How many updates share a commit at most.
  static let updatesPerCommit = 128

  /// The store's number.
  let number: Int64
  /// What the store's row must say: which life of the store this is.
  let epoch: String
  /// The node's connections.
  let pool: ConnectionPool
  /// The updates that wait for a commit.
  let inbox = Inbox<any PendingUpdate>(limit: StoreLimits.pendingUpdates)
  /// Whether a commit is under way or about to be.
  let isCommitting = Atomic<Bool>(false)
  /// Sizes that are known of the store.
  let sizes = StoreSize()
  private let isClosed = Atomic<Bool>(false)
  /// The latest moment that an update gave, in milliseconds: what reads take for now when they look at expiry.
  private let latest = Atomic<Int64>(.min)

  /// A store that is there.
  init(number: Int64, epoch: String, pool: ConnectionPool) {
    self.number = number
    self.epoch = epoch
    self.pool = pool
  }

  /// What reads take for now.
  var now: Timestamp { Timestamp(milliseconds: latest.load(ordering: .relaxed)) }

  /// An update gave this moment.
  func note(_ moment: Timestamp) { latest.max(moment.milliseconds, ordering: .relaxed) }

  func read<Value: Sendable>(
    _ query: @escaping @Sendable (any StoreView) throws -> Value
  ) async throws -> Value {
    try await reading { connection in try self.snapshot(connection, query) }
  }

  func readInline<Value: Sendable>(
    _ query: @escaping @Sendable (any StoreView) throws -> Value
  ) async throws -> Value {
    try await reading { connection in
      let read = InlineRead(of: self.number, epoch: self.epoch, on: connection)
      let outcome = Result { try query(InlineView(read: read, now: self.now)) }
      return read.needsMore ? try self.snapshot(connection, query) : try outcome.get()
    }
  }

  func update<Value: Sendable>(
    loading ids: Set<DocumentID>, at now: Timestamp,
    _ rule: @escaping @Sendable (inout StoreChanges) throws -> Value
  ) async throws -> Value {
    try requireOpen()
    let update = RuleUpdate(loading: ids, now: now, rule: rule)
    guard inbox.append(update) else {
      throw ServiceError(.overloaded, "Too many changes of this database wait; try again soon")
    }
    // Whoever is the first gets a connection; whoever comes meanwhile shares the next commit.
    if !isCommitting.exchange(true, ordering: .sequentiallyConsistent) { await commitWaiting() }
    await update.finished()
    return try update.outcome()
  }

  /// PostgreSQL gives space back by itself (autovacuum).
  func compact() async throws { try requireOpen() }

  func close() async { isClosed.store(true, ordering: .releasing) }

  private func requireOpen() throws {
    if isClosed.load(ordering: .acquiring) { throw ServiceError.closed }
  }

  private func reading<Value: Sendable>(
    _ body: @Sendable (Connection) throws -> Value
  ) async throws -> Value {
    try requireOpen()
    do {
      return try await pool.repeating { connection in
        // Nobody waits for the answer any more.
        if Slice.isEnded { throw ServiceError.ended }
        return try body(connection)
      }
    } catch { throw ServiceError.translated(error) }
  }

  private func snapshot<Value>(
    _ connection: Connection, _ query: (any StoreView) throws -> Value
  ) throws -> Value {
    let snapshot = Snapshot(of: number, epoch: epoch, on: connection)
    defer { snapshot.end() }
    return try query(PostgresView(source: snapshot, now: now, sizes: sizes))
  }
}
