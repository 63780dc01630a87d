import Stores

/// The tables of a database: those of one version, and steps that follow it. All of it runs in one transaction.
///
/// Each key begins with the store's number, so that the tables can be distributed over several machines by it. `names`,
/// `files`, `pieces`, `erasures` and `schema_version` belong to no store. Ids, names and keys are `bytea`, which is
/// compared by bytes and can contain a NUL.
enum Schema {
  /// The first version that is known. A database of an earlier one is refused.
  static let base: Int64 = 6
  /// The version after all steps.
  static let version = base + Int64(steps.count)

  /// The statements that make the tables of the first version.
  ///
  /// A document's row contains the winner with its body, so that a read needs one row. `first` is the sequence number
  /// of the document's first change. It is the document's short key in `bodies`, which contains the bodies of losing
  /// leaves and of recent ancestors, and in `histories`, which contains the old revisions of long histories; the `tree`
  /// of the document's row says how many there are. A document with one revision has no `tree`, because the other
  /// columns are enough. In `stores`, `written` counts all bytes that were ever written, and `changed` is the time of the
  /// last change in milliseconds since 1970. The index contains only the first 256 bytes of a `type`, because longer ones would not
  /// fit.
  static let tables = [
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
      checksum bigint NOT NULL, timelines bytea NOT NULL)
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
    CREATE TABLE histories(
      store bigint NOT NULL, first bigint NOT NULL, generation bigint NOT NULL,
      checksum bigint NOT NULL, revisions bytea NOT NULL, PRIMARY KEY(store, first, generation))
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
    // The readiness check writes this row. No store has the number 0.
    """
    INSERT INTO stores VALUES (0, '', '', 0, 0, 0, 0, 0, 0, true, 0, 0, 0, '')
    """,
    """
    CREATE TABLE files(name bytea PRIMARY KEY, version bigint NOT NULL, pieces bigint NOT NULL)
    """,
    """
    CREATE TABLE pieces(
      name bytea NOT NULL, version bigint NOT NULL, piece bigint NOT NULL, bytes bytea NOT NULL,
      checksum bigint NOT NULL, written bigint NOT NULL, PRIMARY KEY(name, version, piece))
    """,
    "CREATE TABLE erasures(key bytea PRIMARY KEY)",
    // A value that PostgreSQL itself can't read, because the place where it keeps long values is damaged, is empty and
    // then fails its checksum. Without this function the whole statement would fail.
    """
    CREATE FUNCTION readable(value bytea) RETURNS bytea LANGUAGE plpgsql STABLE AS $$
    BEGIN
      RETURN value || ''::bytea;
    EXCEPTION WHEN internal_error OR data_corrupted OR index_corrupted THEN
      RETURN ''::bytea;
    END $$
    """,
  ]

  /// The steps, each a list of statements that bring a database to the next version.
  static let steps: [[String]] = []

  private static let makeVersion = Statement(
    """
    CREATE TABLE IF NOT EXISTS schema_version(
      one bigint PRIMARY KEY CHECK (one = 1), version bigint NOT NULL)
    """)
  private static let beginVersion = Statement(
    "INSERT INTO schema_version VALUES (1, 0) ON CONFLICT DO NOTHING")
  private static let lockVersion = Statement(
    "SELECT version FROM schema_version WHERE one = 1 FOR UPDATE")
  static let readVersion = Statement("SELECT version FROM schema_version WHERE one = 1")
  private static let setVersion = Statement("UPDATE schema_version SET version = $1 WHERE one = 1")

  /// Why a database of a version can't be used; nil for a known version.
  static func refusal(of found: Int64) -> ServiceError? {
    OtherVersion.refusal(of: "The database was written", found, base, version).map {
      ServiceError(.unavailable, $0)
    }
  }

  /// Brings an empty or known database to this version. When several nodes start at once, one of them does that, and the
  /// others wait for the lock on the row that contains the version.
  /// - Parameter steps: other steps, for tests.
  /// - Throws: `unavailable` for a database that an unknown version of this service wrote, and for one that is to be
  ///   changed while nodes of an earlier version are connected; ``PostgresError``.
  static func migrate(_ connection: Connection, by steps: [[String]] = steps) throws {
    let version = base + Int64(steps.count)
    if let found = try? connection.run([Call(readVersion)])[0].first?.integer(0), found == version {
      return
    }
    // If two nodes create the table at once, PostgreSQL refuses one of them. Its second attempt finds the table.
    if (try? connection.run([Call(makeVersion)])) == nil {
      _ = try connection.run([Call(makeVersion)])
    }
    _ = try connection.run([Call(beginVersion)])
    do {
      let found = try connection.run([Call(.begin), Call(lockVersion)])[1].first?.integer(0) ?? 0
      let isEmpty = found == 0
      if !isEmpty, let refusal = refusal(of: found) { throw refusal }
      if !isEmpty, found < version { try ConnectedVersions.requireNone(connection) }
      let missing = isEmpty ? [tables] + steps : Array(steps.dropFirst(Int(found - base)))
      for sql in missing.joined() { try connection.execute(sql) }
      _ = try connection.run([Call(setVersion, .integer(version)), Call(.commit)])
    } catch {
      _ = try? connection.run([Call(.rollback)])
      throw error
    }
  }
}

extension Statement {
  /// Begins a transaction in which each statement sees what was committed before it began. A transaction that has the
  /// lock on a store's row therefore sees the latest state of the store.
  static let begin = Statement("BEGIN ISOLATION LEVEL READ COMMITTED")
  /// Begins a transaction for reads. All its statements see the same state.
  static let beginReading = Statement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
  /// Makes the transaction's writes durable.
  static let commit = Statement("COMMIT")
  /// Undoes the transaction's writes.
  static let rollback = Statement("ROLLBACK")
  /// Makes the server plan the session's statements again at their next use.
  static let forgetPlans = Statement("DISCARD PLANS")
}
