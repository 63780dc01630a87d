import Documents
import StoreRecords
package import Stores

/// The log of erased stores, which backups contain. It contains only keys of stores of guests, users and lists, whose ids
/// are random and identify no person. Like the log of a data directory, it remains for good. No store of the log is
/// created again.
extension PostgresDatabase {
  /// The keys of one page of ``visitErasures(_:)``.
  private static let pageSize: Int64 = 1_000

  /// Records only stores of guests, users and lists.
  package func noteErasure(of name: StoreName) async throws {
    guard name.isPersonal else { return }
    try await repeating { connection in
      guard try name.isUser || NameRow(name.key, on: connection)?.state == .there else { return }
      _ = try connection.transact(ErasureLog.adding([name.key]))
    }
  }

  package func noteErasures(of names: [StoreName]) async throws {
    let keys = names.filter(\.isPersonal).map(\.key)
    try await repeating { connection in _ = try connection.transact(ErasureLog.adding(keys)) }
  }

  package func visitErasures(_ take: ([StoreName]) async throws -> Void) async throws {
    var last = ""
    while true {
      let keys = try await reading { [last] connection in
        try connection.run([ErasureLog.list(after: last, limit: Self.pageSize)])[0].all
          .map { $0.text(0) ?? "" }
      }
      guard let end = keys.last else { return }
      last = end
      try await take(
        keys.map { key in
          guard let name = StoreName(key: key), name.isPersonal else {
            throw ServiceError.integrity("an entry of the log of erasures is no store's key")
          }
          return name
        })
    }
  }
}

/// The statements of the log.
enum ErasureLog {
  /// Locks keys of the log until the transaction ends. Who writes a key, and who registers a store that must not be in the
  /// log, takes this lock first. Keys with the same hash only wait for each other. They are locked in one order, so that
  /// two callers can't block each other.
  static func lock(of keys: [String]) -> Call { Call(lock, list(keys)) }

  /// Finds a key.
  static func find(_ key: String) -> Call { Call(find, .text(key)) }

  /// The statements of a transaction that adds keys.
  static func adding(_ keys: [String]) -> [Call] {
    [lock(of: keys), Call(insert, list(keys))]
  }

  /// Lists keys in byte order.
  static func list(after key: String, limit: Int64) -> Call {
    Call(list, .text(key), .integer(limit))
  }

  private static func list(_ keys: [String]) -> Value { .list(keys.map { Array($0.utf8) }) }

  private static let lock = Statement(
    "lock_erasures",
    """
    SELECT count(pg_advisory_xact_lock(hash)) FROM (
      SELECT DISTINCT hashtextextended(encode(key, 'hex'), 0) AS hash
      FROM unnest($1::bytea[]) AS key ORDER BY hash) AS hashes
    """)
  private static let find = Statement("find_erasure", "SELECT 1 FROM erasures WHERE key = $1")
  private static let insert = Statement(
    "insert_erasures",
    "INSERT INTO erasures SELECT unnest($1::bytea[]) ON CONFLICT DO NOTHING")
  private static let list = Statement(
    "list_erasures", "SELECT key FROM erasures WHERE key > $1 ORDER BY key LIMIT $2")
}
