import Documents
import NIOConcurrencyHelpers
package import Scheduling
package import Stores
import Synchronization

/// The storage engine that keeps stores as rows of a PostgreSQL database, which any number of nodes share.
///
/// The engine keeps no content of a store in memory: every read asks the database. A store is absent or complete at
/// every moment, because its row is written before its name. A store that is to be erased is first marked. When work on
/// a store is interrupted, the next opening of the store completes it.
package final class PostgresDatabase: StorageEngine {
  private let address: DatabaseAddress
  private let threads: ThreadPool
  private let readPool: ConnectionPool
  private let writePool: ConnectionPool
  private let reads: SharedReads
  private let notices: NoticeSender
  private let listener: NoticeListener
  private let watch: ServerWatch
  /// The database's clock, which all nodes use.
  package let clock: DatabaseClock
  /// The connection of ``checkWritable()``, which must not wait for a connection of the pool.
  private let probe = NIOLockedValueBox<ProbeConnection?>(nil)

  /// A store needs no file descriptor; the connections have them.
  package let descriptorsPerStore = 0
  package let isShared = true
  package var knownDamage: Int { writePool.counters.statistics.damaged }
  /// Why this node can't use the database any more, as since a newer version of the service has changed its tables.
  package var refusal: ServiceError? { address.servers.refusal }
  package var writesOnOneDisk: Bool { isOnOneDisk.load(ordering: .relaxed) }
  private let isOnOneDisk = Atomic(false)
  /// The counts of this node since the engine was opened.
  package var statistics: DatabaseStatistics {
    var found = writePool.counters.statistics
    found.waiting = readPool.waitingCount + writePool.waitingCount
    return found
  }

  /// Connects to a database and creates or updates its tables.
  /// - Parameter connections: the largest number of connections at a time, at least 4. Half of them are for reads.
  /// - Parameter pool: the threads that wait for the database. The engine stops them when it is closed.
  /// - Throws: `unavailable` or `readOnly`, with the reason. The process should then end.
  package static func open(
    _ address: DatabaseAddress, connections: Int = ConnectionPool.standardLimit, pool: ThreadPool
  ) async throws -> PostgresDatabase {
    let (threads, counters) = (pool, DatabaseCounters())
    do { try await SessionCheck.requireOwnSessions(at: address) } catch {
      await threads.stop()
      throw error
    }
    let reads = ConnectionPool(
      address, for: .reads, limit: connections / 2, threads: threads, counters: counters)
    let writes = ConnectionPool(
      address, for: .writes, limit: connections - connections / 2, threads: threads,
      counters: counters)
    do {
      let clock = try await writes.repeating { connection in
        try Schema.migrate(connection)
        // It was not registered if there were no tables, or former ones.
        try ConnectedVersions.register(connection, address.servers)
        let asked = ContinuousClock.now
        let time = try connection.run([Call(.time)])[0].first?.integer(0) ?? 0
        let clock = DatabaseClock(Timestamp(milliseconds: time), at: asked)
        clock.note(Timestamp(milliseconds: time), asked: asked, answered: .now)
        return clock
      }
      return PostgresDatabase(address, reads, writes, clock, threads)
    } catch {
      let refusal = await writes.refusal(of: address)
      await writes.close()
      await threads.stop()
      throw refusal ?? ServiceError.translated(error)
    }
  }

  private init(
    _ address: DatabaseAddress, _ readPool: ConnectionPool, _ writePool: ConnectionPool,
    _ clock: DatabaseClock, _ threads: ThreadPool
  ) {
    self.address = address
    self.threads = threads
    self.readPool = readPool
    self.writePool = writePool
    reads = SharedReads(on: readPool)
    self.clock = clock
    let node = Hex.random()
    notices = NoticeSender(node: node, on: writePool.newSession())
    listener = NoticeListener(node: node, address)
    watch = ServerWatch(address)
  }

  package func open(_ name: StoreName, creating: Bool) async throws -> (any StoreStorage)? {
    // If the answer to the first attempt was lost, the second one knows by the epoch what the first has created.
    let epoch = StoreHeader.freshEpoch()
    let row =
      creating
      ? try await repeating { connection in
        try Self.opened(name, creating: (epoch, self.clock.now()), on: connection)
      } : try await row(of: name)
    return row.map { row in
      PostgresStorage(
        name, PostgresStorage.Identity(number: row.number, epoch: row.header.epoch),
        isNew: row.header.epoch == epoch, readPool: readPool, writePool: writePool, reads: reads,
        notices: notices)
    }
  }

  /// The row of a store; nil if there is none. Completes what was interrupted.
  func row(of name: StoreName) async throws -> StoreRow? {
    let found = try await reading { connection in
      let row = try Self.opened(name, isReading: true, on: connection)
      let state = try row == nil ? NameRow(name.key, on: connection)?.state : nil
      return (row: row, isUnfinished: state.map { $0 != .erased } ?? false)
    }
    guard found.isUnfinished else { return found.row }
    return try await repeating { connection in try Self.opened(name, on: connection) }
  }

  package func erase(_ name: StoreName) async throws -> Bool {
    // If the first answer was lost, the second attempt finds what the first has done.
    let hasBegun = NIOLockedValueBox(false)
    let found = try await repeating { connection -> (name: NameRow, isItsOwn: Bool)? in
      guard let found = try NameRow(name.key, on: connection), found.state != .erased else {
        return nil
      }
      if found.state == .there {
        hasBegun.withLockedValue { $0 = true }
        // From here on the store counts as erased, even if the next step fails.
        try Self.mark(found, .erasing, on: connection)
      }
      return (found, try Self.beginErasing(found, on: connection))
    }
    guard let found else { return hasBegun.withLockedValue { $0 } }
    if found.isItsOwn { notices.add(.ended, name) }
    for removal in found.isItsOwn ? Self.removals : [] {
      while try await waiting({ connection in
        try Self.removePart(of: found.name.number, by: removal, on: connection)
      }) {}
    }
    try await waiting { connection in try Self.mark(found.name, .erased, on: connection) }
    return hasBegun.withLockedValue { $0 }
  }

  /// Runs a step of an erasure. If too many others wait for a connection or for the store's row, it tries again for a
  /// minute.
  private func waiting<Value: Sendable>(
    _ step: @escaping @Sendable (Connection) throws -> Value
  ) async throws -> Value {
    for _ in 0..<600 {
      do { return try await repeating(step) } catch let error as ServiceError
        where error.code == .overloaded
      {
        try? await Task.sleep(for: .milliseconds(100))
      }
    }
    return try await repeating(step)
  }

  package func replace(_ name: StoreName, by other: StoreName) async throws {
    try await replace(name, by: other, onlyIfEmpty: true)
  }

  /// Gives the row of `other` the key of `name`, erases the old store of `name`, gives `name` the number of `other`,
  /// and marks the name `other` as erased.
  /// - Parameter onlyIfEmpty: whether to throw `notEmpty` if the old store has documents or tombstones, and `absent` if
  ///   `name` was erased for good.
  func replace(_ name: StoreName, by other: StoreName, onlyIfEmpty: Bool) async throws {
    try await repeating { connection in
      guard let source = try NameRow(other.key, on: connection), source.state == .there else {
        // The first attempt has done everything, but its answer was lost.
        if let moved = try NameRow(name.key, on: connection), moved.state == .there,
          try NameRow(other.key, on: connection)?.number == moved.number
        {
          return
        }
        throw ServiceError.absent
      }
      try Self.rename(source, to: name.key, on: connection)
      let moved = NameRow(key: name.key, number: source.number, epoch: source.epoch, state: .there)
      repeat {
        // If another node creates a store under the name meanwhile, the next iteration finds it.
        if let old = try NameRow(name.key, on: connection), old.state != .erased,
          old.number != source.number
        {
          let mustBeEmpty = onlyIfEmpty && old.state == .there
          if !mustBeEmpty { try Self.mark(old, .erasing, on: connection) }
          try Self.finishErasing(old, onlyIfEmpty: mustBeEmpty, on: connection)
        }
      } while try
        !(onlyIfEmpty
        ? moved.registerUnlessErased(on: connection) : moved.register(on: connection))
        && NameRow(name.key, on: connection)?.number != source.number
      try Self.mark(source, .erased, on: connection)
    }
    notices.add(.ended, name)
  }

  package func names(
    in namespace: String, after key: String?, limit: Int, includingErased: Bool
  ) async throws -> [StoreName] {
    try await reading { connection in
      try NameRow.keys(
        in: namespace, after: key, limit: limit,
        isWhole: !includingErased && namespace != StoreName.stagedNamespace, on: connection
      )
      .compactMap { StoreName(key: $0) }
    }
  }

  /// Reads the figures from the rows of the stores. There are no sizes in bytes, because the stores have no files.
  package func figures(of names: [StoreName]) async throws -> [StoreFigures] {
    try await reading { connection in
      let keys = Value.list(names.map { Array($0.key.utf8) })
      let rows = try connection.run([Call(Self.rowsOfNames, keys)])[0].all
      // The row of a staged store may have the key of the store whose place it was about to take.
      let found = rows.compactMap { row in
        (try? StoreRow(row)).map { (row.text(StoreRow.columnCount) ?? "", $0) }
      }
      let byKey = Dictionary(found) { first, _ in first }
      return names.map { name in
        guard let row = byKey[name.key] else { return StoreFigures(name) }
        return StoreFigures(
          name, changedAt: row.changed > 0 ? Timestamp(milliseconds: row.changed) : nil,
          counts: StoreCounts(
            documents: row.header.live, deleted: row.header.deleted,
            lastSequence: row.header.lastSequence))
      }
    }
  }

  /// The changes that other nodes report in their notices.
  package func remoteChanges() -> AsyncStream<RemoteChange> {
    let (stream, continuation) = AsyncStream.makeStream(of: RemoteChange.self)
    watch.start()
    let listener = listener
    let task = Task { await listener.run { continuation.yield($0) } }
    continuation.onTermination = { _ in
      task.cancel()
      Task { await listener.stop() }
    }
    return stream
  }

  package func positions(of names: [StoreName]) async throws -> [StorePosition?] {
    try await reading { connection in
      let keys = Value.list(names.map { Array($0.key.utf8) })
      let rows = try connection.run([Call(Self.positionsOfNames, keys)])[0].all
      let found = rows.map { row in
        (row.text(0) ?? "", StorePosition(epoch: row.text(1) ?? "", mark: row.integer(2)))
      }
      let byKey = Dictionary(found) { first, _ in first }
      return names.map { byKey[$0.key] }
    }
  }

  /// Updates row 0 of `stores`, which belongs to no store, and waits for the commit. Also reads the database's clock.
  ///
  /// A commit for which no standby answers stays under way, and the next call waits for it: one more for each call would
  /// use up the server's sessions.
  /// - Throws: `unavailable` if no host is the newest primary; `outcomeUnknown` while no standby confirms the commit;
  ///   `storageFull` for ``fullDiskReported`` after the last write that the database has refused because its disk is full.
  ///   The update itself usually needs no new space, so it succeeds on a full disk.
  package func checkWritable() throws {
    watch.start()
    guard address.servers.reachesPrimary() else { throw Self.noPrimary }
    do {
      let probe = try probe.withLockedValue { probe in
        let known = probe.flatMap { $0.isUsable ? $0 : nil }
        let new = try known ?? ProbeConnection(try address.connect())
        probe = new
        return new
      }
      let time = try probe.touch(
        Self.touch, within: Self.longestTouch, while: { address.servers.reachesPrimary() })
      guard let time else {
        throw address.servers.reachesPrimary()
          ? ServiceError.unconfirmed("no standby confirms it") : Self.noPrimary
      }
      clock.note(Timestamp(milliseconds: time.row.integer(0)), asked: time.asked, answered: .now)
      isOnOneDisk.store(time.row.flag(1), ordering: .relaxed)
    } catch { throw ServiceError.translated(error) }
    guard !writePool.counters.hadFullDisk(within: Self.fullDiskReported) else {
      throw ServiceError.full
    }
  }

  /// Closes all connections and stops the threads.
  package func close() async {
    await notices.close()
    await listener.stop()
    await watch.stop()
    await readPool.close()
    await writePool.close()
    probe.withLockedValue { $0 = nil }
    await threads.stop()
  }

  /// Creates a session whose connection is not one of the pool's.
  func session() -> Session { writePool.newSession() }

  /// Runs statements that may write; see ``ConnectionPool/repeating(for:since:_:)``.
  func repeating<Value: Sendable>(
    _ body: @escaping @Sendable (Connection) throws -> Value
  ) async throws -> Value {
    do { return try await writePool.repeating(body) } catch {
      throw ServiceError.translated(error)
    }
  }

  /// The same for statements that write nothing.
  func reading<Value: Sendable>(
    _ body: @escaping @Sendable (Connection) throws -> Value
  ) async throws -> Value {
    do { return try await readPool.repeating(body) } catch { throw ServiceError.translated(error) }
  }

  private static let noPrimary = ServiceError.unreachable("no host is the newest primary")
  private static let fullDiskReported = Duration.seconds(10)
  /// How long the readiness check waits for its commit, in milliseconds.
  private static let longestTouch: Int32 = 1_000
  private static let touch = Statement(
    """
    UPDATE stores SET changed = changed + 1 WHERE number = 0
    RETURNING \(Statement.sqlTime), \(isOnOneDiskNow)
    """)
  /// Whether a commit is acknowledged when it is on one disk. With `remote_write` a standby has it in its memory only.
  static let isOnOneDiskNow = """
    (current_setting('synchronous_standby_names') = ''
      OR current_setting('synchronous_commit') IN ('off', 'local', 'remote_write'))
    """
  private static let positionsOfNames = Statement(
    """
    SELECT n.key, s.epoch, s.written + s.last_sequence
    FROM names n JOIN stores s ON s.number = n.number WHERE n.key = ANY($1) AND n.state = 0
    """)
  private static let rowsOfNames = Statement(
    """
    SELECT \(StoreRow.columns), n.key FROM names n JOIN stores s ON s.number = n.number
    WHERE n.key = ANY($1) AND n.state = 0
    """)
}

/// The connection of the readiness check, which has one caller at a time.
///
/// Unchecked, because the compiler cannot see that. Proof: ``StorageEngine`` allows one call of
/// `checkWritable()` at a time, and no other function uses the connection. `close()`, which releases it, comes after
/// the last call.
private final class ProbeConnection: @unchecked Sendable {
  private static let step: Int32 = 100

  private let connection: Connection
  private var asked = ContinuousClock.now

  init(_ connection: Connection) { self.connection = connection }

  /// Whether the connection is open, or a commit is under way at the newest primary.
  var isUsable: Bool { connection.isAlive }

  /// Sends a statement, unless one is under way, and waits for its commit.
  /// - Parameter isWanted: whether to wait on; asked every ``step`` milliseconds.
  /// - Returns: the row that it has found, and when it was sent; nil if the commit is not done.
  /// - Throws: ``PostgresError``; `outcomeUnknown` if the server has given up waiting for a standby.
  func touch(
    _ statement: Statement, within milliseconds: Int32, while isWanted: () -> Bool
  ) throws -> (row: Row, asked: ContinuousClock.Instant)? {
    if !connection.isAwaiting {
      connection.notices.clear()
      asked = .now
      try connection.begin([Call(statement)])
    }
    var (found, waited): ([Rows]?, Int32) = (nil, 0)
    repeat {
      found = try connection.answers(within: Self.step)
      waited += Self.step
    } while found == nil && waited < milliseconds && isWanted()
    guard let found else { return nil }
    if let warning = connection.notices.unreplicated { throw ServiceError.unconfirmed(warning) }
    guard let row = found.first?.first else {
      throw ServiceError.damaged("the row of the readiness check is missing")
    }
    return (row, asked)
  }
}
