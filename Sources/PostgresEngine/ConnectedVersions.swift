import Glibc
import Stores

/// Which nodes are connected, so that the tables are not changed under a node that knows only the former ones.
///
/// Each connection that may write has a shared advisory lock of its session on the row `schema_version`, which it takes
/// before it reads the version. A migration needs the lock alone until its commit. So it refuses while a node of an
/// earlier version is connected, and a connection that such a node makes meanwhile waits and then finds the newer version.
/// The server gives the locks of a session back when the session ends, however that happens.
///
/// Source: <https://www.postgresql.org/docs/current/explicit-locking.html#ADVISORY-LOCKS>.
enum ConnectedVersions {
  /// The lock of a schema's tables: `HBKM` in ASCII, and the table's number.
  private static let key = "(1212304205::int8 << 32 | c.oid::int8)"
  private static let table = "FROM pg_class c WHERE c.oid = to_regclass('schema_version')"
  /// How often, and after which time in microseconds, a migration asks again for the lock: ten times in a second. A node
  /// that starts at the same time has it for a moment.
  private static let attempts = 10
  private static let pause: UInt32 = 100_000

  private static let share = Statement("SELECT count(pg_advisory_lock_shared(\(key))) \(table)")
  private static let giveBack = Statement(
    "SELECT count(pg_advisory_unlock_shared(\(key))) \(table)")
  private static let own = Statement("SELECT pg_try_advisory_xact_lock(\(key)) \(table)")
  private static let holders = Statement(
    """
    SELECT count(DISTINCT l.pid) FROM pg_locks l, pg_class c
    WHERE c.oid = to_regclass('schema_version') AND l.locktype = 'advisory' AND l.granted
      AND l.classid = 1212304205 AND l.objid = c.oid AND l.pid <> pg_backend_pid()
      AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    """)

  /// Registers a connection. One to an empty database, or to tables that have to be migrated first, is not registered.
  /// - Throws: `unavailable` for tables of a newer version, which ``KnownServers/refusal`` remembers; ``PostgresError``.
  static func register(_ connection: Connection, _ servers: KnownServers) throws {
    guard try connection.run([Call(share)])[0].first?.integer(0) == 1 else { return }
    let found = try connection.run([Call(Schema.readVersion)])[0].first?.integer(0) ?? 0
    guard found != Schema.version else { return }
    _ = try connection.run([Call(giveBack)])
    guard found > Schema.version, let refusal = Schema.refusal(of: found) else { return }
    servers.note(refusal)
    throw refusal
  }

  /// Makes sure that nobody uses the tables until the end of the transaction.
  /// - Throws: `unavailable` while nodes are connected; ``PostgresError``.
  static func requireNone(_ connection: Connection) throws {
    for _ in 0..<attempts {
      if try connection.run([Call(own)])[0].first?.flag(0) == true { return }
      usleep(pause)
    }
    let count = try connection.run([Call(holders)])[0].first?.integer(0) ?? 0
    throw ServiceError(
      .unavailable,
      "Servers or commands of an earlier version use the database (\(count) connections), and this version has other "
        + "tables. Stop all of them, then start this version")
  }
}
