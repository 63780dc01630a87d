import SQLite
import StoreRecords
import Stores

/// The tables of one kind of file, as numbered steps: step `n` takes a file from version `n - 1` to `n`.
///
/// A new file takes every step, an older one those that it lacks, so that both end up alike.
struct Schema: Sendable {
  /// What the file's header says it is (<https://sqlite.org/pragma.html#pragma_application_id>).
  let applicationID: Int32
  /// The steps, each a script of constant SQL.
  let steps: [StaticString]

  /// The version that the steps lead to, kept in the file as `user_version`.
  var version: Int32 { Int32(truncatingIfNeeded: steps.count) }

  /// Makes the tables in an empty database.
  func create(in connection: Connection) throws {
    try connection.setApplicationID(applicationID)
    try take(from: 0, in: connection)
  }

  /// Checks that a file is of this kind and of a version that is known.
  /// - Returns: its version.
  /// - Throws: `damaged` for a file of another kind, `unavailable` for one that a newer version of this
  ///   service wrote: what it holds could not be kept.
  @discardableResult
  func requireKnown(_ connection: Connection) throws -> Int32 {
    let (kind, found) = (try connection.applicationID(), try connection.userVersion())
    guard kind == applicationID, found > 0 else {
      throw ServiceError.damaged(
        "not a file of this kind: application id \(kind), version \(found)")
    }
    guard found <= version else {
      throw ServiceError(
        .unavailable, "The database was written by a newer version of this service",
        detail: "schema \(found), this version knows \(version)")
    }
    return found
  }

  /// Brings a file to this version, in one transaction.
  /// - Throws: as ``requireKnown(_:)`` does, and what writing throws.
  func migrate(_ connection: Connection) throws {
    let found = try requireKnown(connection)
    guard found < version else { return }
    try connection.begin()
    do {
      try take(from: found, in: connection)
      try connection.commit()
    } catch {
      try connection.rollback()
      throw error
    }
  }

  private func take(from found: Int32, in connection: Connection) throws {
    for step in steps.dropFirst(Int(found)) { try connection.execute(step) }
    try connection.setUserVersion(version)
  }

  /// The definitions of all tables and indexes, by name.
  static func definitions(in connection: Connection) throws -> [String] {
    try connection.statement("SELECT name, coalesce(sql, '') FROM sqlite_schema ORDER BY name").all
    {
      row in
      try row.string(0) + ": " + row.string(1)
    }
  }
}

extension Schema {
  /// A store's file, `HBst`.
  ///
  /// `documents` is in the order of changes and holds each winner with its body, so that a read is one
  /// search of the ids and one of the rows, the change feed is a walk, and a new document is written to
  /// the end. `body` and `tree` stand last: whoever reads the columns before never loads their pages.
  /// `first` is the number of a document's first change, its short name in `bodies`, which holds what
  /// losing leaves and recent ancestors say, and in `histories`, which holds what is old of long histories. A document
  /// with one revision has no `tree`: the row says it all. Text compares by bytes (`BINARY`), as ids do.
  static let store = Schema(
    applicationID: 0x4842_7374,
    steps: [
      """
      CREATE TABLE header(
        one INTEGER PRIMARY KEY CHECK (one = 1), store TEXT NOT NULL, epoch TEXT NOT NULL,
        last_sequence INTEGER NOT NULL, live INTEGER NOT NULL, deleted INTEGER NOT NULL,
        bytes INTEGER NOT NULL, checksum INTEGER NOT NULL
      ) STRICT;
      CREATE TABLE documents(
        sequence INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, first INTEGER NOT NULL,
        generation INTEGER NOT NULL, digest TEXT NOT NULL, is_deleted INTEGER NOT NULL, type TEXT,
        created INTEGER NOT NULL, updated INTEGER NOT NULL, body_checksum INTEGER NOT NULL,
        tree_checksum INTEGER, checksum INTEGER NOT NULL, body BLOB NOT NULL, tree BLOB
      ) STRICT;
      CREATE INDEX documents_by_type ON documents(type) WHERE is_deleted = 0 AND type IS NOT NULL;
      CREATE TABLE bodies(
        number INTEGER PRIMARY KEY, first INTEGER NOT NULL, generation INTEGER NOT NULL,
        digest TEXT NOT NULL, body_checksum INTEGER NOT NULL, body BLOB NOT NULL
      ) STRICT;
      CREATE INDEX bodies_by_revision ON bodies(first, generation);
      CREATE TABLE locals(
        id TEXT PRIMARY KEY, revision INTEGER NOT NULL, expires INTEGER, checksum INTEGER NOT NULL,
        body BLOB NOT NULL
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX locals_by_expiry ON locals(expires) WHERE expires IS NOT NULL;
      """,
      // `newest` is the last document's number: after a purge it may be less than `last_sequence`.
      // `documents_deleted` tells tombstones from live ids where rows are counted and no row is read.
      // `indexes` and `entries` hold what queries walk.
      """
      ALTER TABLE header ADD COLUMN newest INTEGER;
      CREATE INDEX documents_deleted ON documents(id, is_deleted) WHERE is_deleted = 1;
      CREATE TABLE indexes(
        number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, sequence INTEGER NOT NULL,
        checksum INTEGER NOT NULL
      ) STRICT;
      CREATE TABLE entries(
        number INTEGER NOT NULL, key BLOB NOT NULL, id TEXT NOT NULL,
        PRIMARY KEY(number, key, id)
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX entries_by_document ON entries(id, number);
      """,
      // `kept` is the bytes of all rows of `bodies`; where it is null, as in an older file, they are counted.
      """
      ALTER TABLE header ADD COLUMN kept INTEGER;
      """,
      // `content` is what an index keeps of a document; a query that it suffices reads no document, so the row has a
      // checksum. Indexes of an older file go, and queries make them anew.
      """
      DROP TABLE entries;
      DELETE FROM indexes;
      CREATE TABLE entries(
        number INTEGER NOT NULL, key BLOB NOT NULL, id TEXT NOT NULL, checksum INTEGER NOT NULL,
        content BLOB, PRIMARY KEY(number, key, id)
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX entries_by_document ON entries(id, number);
      """,
      // `arrival` says when a revision came and from whom; null where that is not known, as in all rows of an older
      // file. Last in its row, so that the file is not written anew and nobody who reads a document reads it.
      """
      ALTER TABLE documents ADD COLUMN arrival BLOB;
      ALTER TABLE bodies ADD COLUMN arrival BLOB;
      """,
      // Rows may carry another kind of checksum, by which a server of an earlier version would find them damaged.
      "",
      // `histories` holds old revisions of long histories, which `tree` of the document's row says that there are. A
      // history of an older file is divided when its document is next written.
      """
      CREATE TABLE histories(
        first INTEGER NOT NULL, generation INTEGER NOT NULL, checksum INTEGER NOT NULL,
        revisions BLOB NOT NULL, PRIMARY KEY(first, generation)
      ) STRICT, WITHOUT ROWID;
      """,
    ])
}

extension Schema {
  /// The registry's file, `HBrg`: which stores exist. `is_erasing` marks a store whose files are being
  /// removed, so that a crash in between never brings it back.
  static let registry = Schema(
    applicationID: 0x4842_7267,
    steps: [
      """
      CREATE TABLE stores(
        key TEXT PRIMARY KEY, epoch TEXT NOT NULL, is_erasing INTEGER NOT NULL,
        checksum INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
      """,
      // As in a store's file: another kind of checksum.
      "",
    ])
}
