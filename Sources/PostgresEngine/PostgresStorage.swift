import Documents
import Lanes
import NIOConcurrencyHelpers
import StoreRecords
import Stores
import Synchronization

/// One store of the database: its number, and the queue of this node's updates that wait for a commit. What the store
/// contains is read from the database each time; nothing of it is kept here.
final class PostgresStorage: StoreStorage {
  /// How many updates share a commit at most.
  static let updatesPerCommit = 128

  /// The rows of a store.
  struct Identity: Sendable, Equatable {
    /// The store's number.
    let number: Int64
    /// What the store's row must say: which life of the store this is.
    let epoch: String
  }

  /// The store's name.
  let name: StoreName
  private let known: NIOLockedValueBox<Identity>
  private let hasEnded = Atomic<Bool>(false)
  /// Tells other nodes what this node commits.
  let notices: NoticeSender
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

  /// A store that exists.
  init(_ name: StoreName, _ identity: Identity, pool: ConnectionPool, notices: NoticeSender) {
    self.name = name
    known = NIOLockedValueBox(identity)
    self.pool = pool
    self.notices = notices
  }

  /// The rows of the store, as far as this node knows.
  var identity: Identity { known.withLockedValue { $0 } }
  /// Whether another node has erased the store and nobody has created it again.
  var isEnded: Bool { hasEnded.load(ordering: .acquiring) }

  /// Runs something on the store's rows. Another node may have replaced the store, or erased and created it again:
  /// then its name leads to other rows, and `body` runs once more, on these.
  /// - Throws: what `body` throws; `absent` for an erased store.
  func withRows<Value>(
    on connection: Connection, _ body: (Identity) throws -> Value
  ) throws -> Value {
    let former = identity
    do { return try body(former) } catch let error as ServiceError
      where error.code == .absent || error.code == .damaged
    {
      let found = try PostgresDatabase.opened(name, creating: false, on: connection)
      guard let found else {
        hasEnded.store(true, ordering: .releasing)
        throw error
      }
      let present = Identity(number: found.number, epoch: found.header.epoch)
      guard present != former else { throw error }
      known.withLockedValue { $0 = present }
      sizes.forget()
      return try body(present)
    }
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
      try self.withRows(on: connection) { rows in
        let read = InlineRead(of: rows.number, epoch: rows.epoch, on: connection)
        let outcome = Result { try query(InlineView(read: read, now: self.now)) }
        return read.needsMore ? try self.snapshot(connection, query) : try outcome.get()
      }
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
    try withRows(on: connection) { rows in
      let snapshot = Snapshot(of: rows.number, epoch: rows.epoch, on: connection)
      defer { snapshot.end() }
      return try query(PostgresView(source: snapshot, now: now, sizes: sizes))
    }
  }
}
