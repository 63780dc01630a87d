/// The statements of the log.
enum ErasureLog {
  /// Locks keys of the log until the transaction ends. Who writes a key, and who registers a store that must not be in the
  /// log, takes this lock first. Keys with the same hash only wait for each other. They are locked in one order, so that
  /// two callers can't block each other.
  static func lock(of keys: [String]) -> Call { Call(lock, list(keys)) }

  static func find(_ key: String) -> Call { Call(find, .text(key)) }

  /// The statements of a transaction that adds keys.
  static func adding(_ keys: [String]) -> [Call] { [lock(of: keys), Call(insert, list(keys))] }

  /// Lists keys in byte order.
  static func list(after key: [UInt8], limit: Int64) -> Call {
    Call(list, .bytes(key), .integer(limit))
  }

  /// Removes entries.
  static func removing(_ keys: [[UInt8]]) -> Call { Call(remove, .list(keys)) }

  private static func list(_ keys: [String]) -> Value { .list(keys.map { Array($0.utf8) }) }

  private static let lock = Statement(
    """
    SELECT count(pg_advisory_xact_lock(hash)) FROM (
      SELECT DISTINCT hashtextextended(encode(key, 'hex'), 0) AS hash
      FROM unnest($1::bytea[]) AS key ORDER BY hash) AS hashes
    """)
  private static let find = Statement("SELECT 1 FROM erasures WHERE key = $1")
  private static let insert = Statement(
    "INSERT INTO erasures SELECT unnest($1::bytea[]) ON CONFLICT DO NOTHING")
  private static let remove = Statement(
    once: "DELETE FROM erasures WHERE key IN (SELECT unnest($1::bytea[]))")
  private static let list = Statement(
    "SELECT key FROM erasures WHERE key > $1 ORDER BY key LIMIT $2")
}
