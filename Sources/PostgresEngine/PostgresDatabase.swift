import Documents
package import Lanes
import NIOConcurrencyHelpers
import StoreRecords
package import Stores

/// The engine that keeps stores as rows of a PostgreSQL database, which any number of nodes share.
///
/// Nothing of a store is kept in memory: what a node answers is what the database held when it was asked. A store is
/// absent or complete at every moment: its row is written first, then its name. One that is erased is marked first;
/// whatever is interrupted is finished when the store is next asked for.
package final class PostgresDatabase: StorageEngine {
  private let address: DatabaseAddress
  private let threads: LanePool
  private let pool: ConnectionPool
  /// The connection of ``checkWritable()``, which must not wait for others.
  private let probe = NIOLockedValueBox<ProbeConnection?>(nil)

  /// Stores hold no descriptors here; the connections do.
  package let descriptorsPerStore = 0

  /// Connects to a database and makes or brings up its tables.
  /// - Parameter connections: at most so many at a time.
  /// - Parameter pool: the threads that wait for the database; stopped when the engine is closed.
  /// - Throws: `unavailable`, `readOnly` with the reason; the process should not go on.
  package static func open(
    _ address: DatabaseAddress, connections: Int = ConnectionPool.standardLimit, pool: LanePool
  ) async throws -> PostgresDatabase {
    let engine = PostgresDatabase(address, connections, pool)
    do {
      try await engine.pool.repeating { connection in try Schema.migrate(connection) }
    } catch {
      let refusal = await engine.pool.refusal(of: address)
      await engine.close()
      throw refusal ?? ServiceError.translated(error)
    }
    return engine
  }

  private init(_ address: DatabaseAddress, _ connections: Int, _ threads: LanePool) {
    self.address = address
    self.threads = threads
    pool = ConnectionPool(address, limit: connections, threads: threads)
  }

  package func open(
    _ name: StoreName, creating: Bool
  ) async throws -> (any StoreStorage)? {
    try await repeating { connection in
      guard let row = try Self.opened(name, creating: creating, on: connection) else { return nil }
      return PostgresStorage(number: row.number, epoch: row.header.epoch, pool: self.pool)
    }
  }

  package func erase(_ name: StoreName) async throws -> Bool {
    // A repetition after a lost answer finds what the first try has done.
    let hasBegun = NIOLockedValueBox(false)
    return try await repeating { connection in
      guard let found = try NameRow(name.key, on: connection), found.state != .erased else {
        return hasBegun.withLockedValue { $0 }
      }
      let wasThere = found.state == .there
      if wasThere {
        hasBegun.withLockedValue { $0 = true }
        // From here on the store is gone, whatever happens.
        try Self.mark(found, .erasing, on: connection)
      }
      try Self.finishErasing(found, on: connection)
      return wasThere || hasBegun.withLockedValue { $0 }
    }
  }

  /// The row of the store is given the other's key, what was in the way is erased, and the name is given the number.
  package func replace(_ name: StoreName, by other: StoreName) async throws {
    try await repeating { connection in
      guard let source = try NameRow(other.key, on: connection), source.state == .there else {
        // A repetition after a lost answer: all is done.
        if let moved = try NameRow(name.key, on: connection), moved.state == .there,
          try NameRow(other.key, on: connection)?.number == moved.number
        {
          return
        }
        throw ServiceError.absent
      }
      try Self.rename(source, to: name.key, on: connection)
      if let old = try NameRow(name.key, on: connection), old.state != .erased,
        old.number != source.number
      {
        try Self.mark(old, .erasing, on: connection)
        try Self.finishErasing(old, on: connection)
      }
      let moved = NameRow(
        key: name.key, number: source.number, epoch: source.epoch, state: .there)
      let isRegistered = try moved.register(on: connection)
      guard try isRegistered || NameRow(name.key, on: connection)?.number == source.number else {
        throw ServiceError.unreachable("another store was made under the name meanwhile")
      }
      try Self.mark(source, .erased, on: connection)
    }
  }

  package func names(
    in namespace: String, after key: String?, limit: Int
  ) async throws -> [StoreName] {
    try await repeating { connection in
      try NameRow.keys(
        in: namespace, after: key, limit: limit,
        isWhole: namespace != StoreName.stagedNamespace, on: connection
      )
      .compactMap { StoreName(key: $0) }
    }
  }

  /// What the stores' rows say. Rows have no files, so that no bytes are told.
  package func figures(of names: [StoreName]) async throws -> [StoreFigures] {
    try await repeating { connection in
      let keys = Value.list(names.map { Array($0.key.utf8) })
      let rows = try connection.run([Call(Self.rowsOfNames, keys)])[0].all
      let found = rows.compactMap { try? StoreRow($0) }
      let byKey = Dictionary(found.map { ($0.header.key, $0) }) { first, _ in first }
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

  /// Writes to the row that belongs to no store, and waits for the commit.
  package func checkWritable() throws {
    do {
      let connection = try probe.withLockedValue { probe in
        let known = probe.flatMap { $0.connection.isAlive ? $0 : nil }
        let connection = try known ?? ProbeConnection(try address.connect())
        probe = connection
        return connection
      }
      connection.connection.notices.clear()
      _ = try connection.connection.run([Call(Self.touch)])
      if let warning = connection.connection.notices.unreplicated {
        throw ServiceError.unreachable(warning)
      }
    } catch { throw ServiceError.translated(error) }
  }

  /// Besides, ends the threads.
  package func close() async {
    await pool.close()
    probe.withLockedValue { $0 = nil }
    await threads.stop()
  }

  private func repeating<Value: Sendable>(
    _ body: @Sendable (Connection) throws -> Value
  ) async throws -> Value {
    do { return try await pool.repeating(body) } catch { throw ServiceError.translated(error) }
  }

  private static let touch = Statement(
    "touch", "UPDATE stores SET changed = changed + 1 WHERE number = 0")
  private static let rowsOfNames = Statement(
    "rows_of_names",
    """
    SELECT \(StoreRow.columns) FROM names n JOIN stores s ON s.number = n.number
    WHERE n.key = ANY($1) AND n.state = 0
    """)
}

/// The connection of readiness, by its one caller at a time.
///
/// Unchecked, because the compiler cannot see that. Proof: the port promises one call of `checkWritable()` at a time, and
/// no other function uses the connection; `close()`, which gives it back, comes after the last call.
private final class ProbeConnection: @unchecked Sendable {
  let connection: Connection
  init(_ connection: Connection) { self.connection = connection }
}
