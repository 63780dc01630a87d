import StoreRecords
import Stores

/// The tables of a database, as numbered steps: step `n` takes one from version `n - 1` to `n`, in one transaction.
///
/// Each key begins with the store's number, so that the tables can be spread over machines by it; `names`, `files`,
/// `pieces` and `schema_version` belong to no store. Ids, names and keys are `bytea`, which compares by bytes and takes a NUL.
enum Schema {
  /// The version that the steps lead to.
  static let version = Int64(steps.count)

  /// The steps.
  ///
  /// A document's row holds its winner with its body, so that a read is one row. `first` is the number of its first
  /// change, its short name in `bodies`, which holds what losing leaves and recent ancestors say. A document with one
  /// revision has no `tree`: the row says it all. `written` in `stores` counts the bytes that were ever written;
  /// `changed` is when, in milliseconds since 1970. Of a `type` 256 bytes are in the index: longer ones would not fit.
  static let steps: [[String]] = [
    [
      """
      CREATE TABLE names(
        key bytea PRIMARY KEY, number bigint NOT NULL, epoch bytea NOT NULL, state bigint NOT NULL,
        checksum bigint NOT NULL)
      """,
      """
      CREATE TABLE stores(
        number bigint PRIMARY KEY, key bytea NOT NULL, epoch bytea NOT NULL,
        last_sequence bigint NOT NULL, newest bigint NOT NULL, live bigint NOT NULL,
        deleted bigint NOT NULL, bytes bigint NOT NULL, kept bigint NOT NULL,
        is_erased boolean NOT NULL, written bigint NOT NULL, changed bigint NOT NULL,
        checksum bigint NOT NULL)
      """,
      """
      CREATE TABLE documents(
        store bigint NOT NULL, id bytea NOT NULL, sequence bigint NOT NULL, first bigint NOT NULL,
        generation bigint NOT NULL, digest bytea NOT NULL, is_deleted boolean NOT NULL, type bytea,
        created bigint NOT NULL, updated bigint NOT NULL, body_checksum bigint NOT NULL,
        tree_checksum bigint, checksum bigint NOT NULL, body bytea NOT NULL, tree bytea,
        arrival bytea, PRIMARY KEY(store, id))
      """,
      "CREATE UNIQUE INDEX documents_by_sequence ON documents(store, sequence)",
      """
      CREATE INDEX documents_by_type ON documents(store, substring(type from 1 for 256), sequence)
      WHERE NOT is_deleted AND type IS NOT NULL
      """,
      """
      CREATE TABLE bodies(
        store bigint NOT NULL, first bigint NOT NULL, generation bigint NOT NULL,
        digest bytea NOT NULL, body_checksum bigint NOT NULL, body bytea NOT NULL, arrival bytea,
        PRIMARY KEY(store, first, generation, digest))
      """,
      """
      CREATE TABLE locals(
        store bigint NOT NULL, id bytea NOT NULL, revision bigint NOT NULL, expires bigint,
        checksum bigint NOT NULL, body bytea NOT NULL, PRIMARY KEY(store, id))
      """,
      "CREATE INDEX locals_by_expiry ON locals(store, expires) WHERE expires IS NOT NULL",
      """
      CREATE TABLE indexes(
        store bigint NOT NULL, name bytea NOT NULL, number bigint NOT NULL,
        sequence bigint NOT NULL, checksum bigint NOT NULL, PRIMARY KEY(store, name))
      """,
      """
      CREATE TABLE entries(
        store bigint NOT NULL, number bigint NOT NULL, key bytea NOT NULL, id bytea NOT NULL,
        checksum bigint NOT NULL, content bytea, PRIMARY KEY(store, number, key, id))
      """,
      "CREATE INDEX entries_by_document ON entries(store, id, number)",
      // The row that readiness writes: no store has the number 0.
      """
      INSERT INTO stores VALUES (0, '', '', 0, 0, 0, 0, 0, 0, true, 0, 0, 0)
      """,
    ],
    [
      """
      CREATE TABLE files(name bytea PRIMARY KEY, version bigint NOT NULL, pieces bigint NOT NULL)
      """,
      """
      CREATE TABLE pieces(
        name bytea NOT NULL, version bigint NOT NULL, piece bigint NOT NULL, bytes bytea NOT NULL,
        checksum bigint NOT NULL, PRIMARY KEY(name, version, piece))
      """,
    ],
  ]

  private static let makeVersion = Statement(
    "make_version",
    """
    CREATE TABLE IF NOT EXISTS schema_version(
      one bigint PRIMARY KEY CHECK (one = 1), version bigint NOT NULL)
    """)
  private static let beginVersion = Statement(
    "begin_version", "INSERT INTO schema_version VALUES (1, 0) ON CONFLICT DO NOTHING")
  private static let lockVersion = Statement(
    "lock_version", "SELECT version FROM schema_version WHERE one = 1 FOR UPDATE")
  private static let readVersion = Statement(
    "read_version", "SELECT version FROM schema_version WHERE one = 1")
  private static let setVersion = Statement(
    "set_version", "UPDATE schema_version SET version = $1 WHERE one = 1")

  /// Brings a database to this version. Of several nodes that start at once one takes the steps, the others wait for
  /// the row that holds the version.
  /// - Throws: `unavailable` for a database that a newer version of this service wrote; ``PostgresError``.
  static func migrate(_ connection: Connection) throws {
    if let found = try? connection.run([Call(readVersion)])[0].first?.integer(0), found == version {
      return
    }
    // Two nodes that make the table at once: one is refused, and finds it then.
    if (try? connection.run([Call(makeVersion)])) == nil {
      _ = try connection.run([Call(makeVersion)])
    }
    _ = try connection.run([Call(beginVersion)])
    do {
      let found = try connection.run([Call(.begin), Call(lockVersion)])[1].first?.integer(0) ?? 0
      guard found <= version else {
        throw ServiceError(
          .unavailable, "The database was written by a newer version of this service",
          detail: "schema \(found), this version knows \(version)")
      }
      for step in steps.dropFirst(Int(found)) {
        for sql in step { try connection.execute(sql) }
      }
      _ = try connection.run([Call(setVersion, .integer(version)), Call(.commit)])
    } catch {
      _ = try? connection.run([Call(.rollback)])
      throw error
    }
  }
}

extension Statement {
  /// Each statement sees what was committed before it began: whoever holds the lock on a store's row sees all of the
  /// store as it is.
  static let begin = Statement("begin", "BEGIN ISOLATION LEVEL READ COMMITTED")
  /// All statements see one state.
  static let beginReading = Statement(
    "begin_reading", "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
  /// Makes what was written durable.
  static let commit = Statement("commit", "COMMIT")
  /// Undoes what was written.
  static let rollback = Statement("rollback", "ROLLBACK")
}
