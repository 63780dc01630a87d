import Documents
import NIOConcurrencyHelpers
import Scheduling
import Stores
import Synchronization

/// One store of the database: its number, and the queue of this node's updates that wait for a commit. The content of
/// the store is read from the database each time and never kept here.
final class PostgresStorage: StoreStorage {
  /// Identifies the rows of a store.
  struct Identity: Sendable, Equatable {
    /// The store's number.
    let number: Int64
    /// The epoch that the store's row must have.
    let epoch: String
  }

  /// The store's name.
  let name: StoreName
  private let known: NIOLockedValueBox<Identity>
  private let hasEnded = Atomic<Bool>(false)
  /// Tells other nodes what this node commits.
  let notices: NoticeSender
  /// The node's connections for reads.
  let readPool: ConnectionPool
  /// The node's connections for writes.
  let writePool: ConnectionPool
  private let reads: SharedReads
  let waitingUpdates = WaitingUpdates()
  /// The size of the store, as far as it is known.
  let sizes = StoreSize()
  /// What the last transaction asked by ``WriteTransaction/repeatedRows(_:)``. The next one probably asks it, too.
  let expected = NIOLockedValueBox<Call?>(nil)
  let isNew: Bool
  private let isClosed = Atomic<Bool>(false)
  /// The latest time of an update, in milliseconds. Reads use it as the present time when they check expiry.
  private let latest = Atomic<Int64>(.min)

  /// Creates the object for a store that exists.
  /// - Parameter isNew: whether it was created just now.
  init(
    _ name: StoreName, _ identity: Identity, isNew: Bool, readPool: ConnectionPool,
    writePool: ConnectionPool, reads: SharedReads, notices: NoticeSender
  ) {
    self.name = name
    self.isNew = isNew
    known = NIOLockedValueBox(identity)
    self.readPool = readPool
    self.writePool = writePool
    self.reads = reads
    self.notices = notices
  }

  /// The identity of the store's rows, as this node last saw it.
  var identity: Identity { known.withLockedValue { $0 } }
  /// Whether this node found that another one has erased the store. Stays true: the store must then be opened again.
  var isEnded: Bool { hasEnded.load(ordering: .acquiring) }

  /// Runs `body` on the store's rows. If another node has replaced the store, or has erased it and created it again,
  /// its name refers to other rows. `body` then runs again, on these rows.
  /// - Throws: errors of `body`; `absent` for an erased store.
  func withRows<Value>(
    on connection: Connection, _ body: (Identity) throws -> Value
  ) throws -> Value {
    let former = identity
    do { return try body(former) } catch let error as ServiceError
      where error.code == .absent || error.code == .damaged
    {
      let found = try PostgresDatabase.opened(name, isReading: true, on: connection)
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

  /// The present time for reads.
  var now: Timestamp { Timestamp(milliseconds: latest.load(ordering: .relaxed)) }

  /// Records the time of an update.
  func note(_ moment: Timestamp) { latest.max(moment.milliseconds, ordering: .relaxed) }

  func read<Value: Sendable>(_ query: @escaping StoreQuery<Value>) async throws -> Value {
    let work = Work.current
    return try await reading { connection in try self.snapshot(connection, query, for: work) }
  }

  func readInline<Value: Sendable>(_ query: @escaping StoreQuery<Value>) async throws -> Value {
    try requireOpen()
    if Slice.isEnded { throw ServiceError.ended }
    if let value = try await shared(query) { return value }
    return try await read(query)
  }

  func update<Value: Sendable>(
    loading ids: Set<DocumentID>, at now: Timestamp, _ rule: @escaping UpdateRule<Value>
  ) async throws -> Value {
    try requireOpen()
    let update = RuleUpdate(loading: ids, now: now, rule: rule)
    return try await waitingUpdates.result(of: update) { await commitWaiting() }
  }

  /// Does nothing else: PostgreSQL frees space by itself (autovacuum).
  func compact() async throws { try requireOpen() }

  func close() async { isClosed.store(true, ordering: .releasing) }

  private func requireOpen() throws {
    if isClosed.load(ordering: .acquiring) { throw ServiceError.closed }
  }

  private func reading<Value: Sendable>(
    _ body: @escaping @Sendable (Connection) throws -> Value
  ) async throws -> Value {
    try requireOpen()
    let work = Work.current
    do {
      return try await readPool.repeating { connection in
        // The client no longer waits for the answer.
        if work?.hasEnded ?? false { throw ServiceError.ended }
        return try body(connection)
      }
    } catch { throw ServiceError.translated(error) }
  }

  /// Runs a query whose statement shares a round trip.
  /// - Returns: nil if it must run on a snapshot instead: it needs more than one row, the row is long or not as expected,
  ///   or the server has refused a statement of the round trip.
  private func shared<Value>(_ query: (any StoreView) throws -> Value) async throws -> Value? {
    let rows = identity
    let read = InlineRead(of: rows.number, epoch: rows.epoch)
    let loaded = LoadedDocuments(read: read.document)
    func run() -> Result<Value, any Error> {
      Result {
        try query(PostgresView(source: read, now: now, loaded: loaded, sizes: sizes, work: nil))
      }
    }
    do {
      let early = run()
      guard let call = read.call else { return read.needsMore ? nil : try early.get() }
      read.take(try await reads.rows(call))
      let outcome = run()
      return read.needsMore ? nil : try outcome.get()
    } catch let error as ServiceError where error.code == .absent || error.code == .damaged {
      return nil
    } catch let error as PostgresError where !error.isOfConnection {
      return nil
    } catch { throw ServiceError.translated(error) }
  }

  private func snapshot<Value>(
    _ connection: Connection, _ query: (any StoreView) throws -> Value, for work: Work?
  ) throws -> Value {
    try withRows(on: connection) { rows in
      let snapshot = Snapshot(of: rows.number, epoch: rows.epoch, on: connection)
      defer { snapshot.end() }
      let outcome = Result {
        try query(PostgresView(source: snapshot, now: now, sizes: sizes, work: work))
      }
      try snapshot.requireWhole()
      return try outcome.get()
    }
  }
}
