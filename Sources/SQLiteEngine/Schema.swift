import SQLite
import StoreRecords
import Stores

/// The tables of one kind of file, as numbered steps. Step `n` brings a file from version `n - 1` to version `n`.
///
/// A new file takes every step, and an older file takes the missing ones, so both end with the same tables. A new file
/// then lacks those that are made when they are first needed; an older file keeps them.
struct Schema: Sendable {
  /// The application id in the file's header (<https://sqlite.org/pragma.html#pragma_application_id>).
  let applicationID: Int32
  /// The steps, each a script of constant SQL.
  let steps: [StaticString]
  /// A script that drops what is made when it is first needed.
  var dropsDeferred: StaticString = "VACUUM"

  /// The version after the last step. The file keeps it as `user_version`.
  var version: Int32 { Int32(truncatingIfNeeded: steps.count) }

  /// Creates all tables in an empty database.
  func create(in connection: Connection) throws {
    try connection.setApplicationID(applicationID)
    try take(from: 0, in: connection)
  }

  /// Checks that a file is of this kind and that its version is known.
  /// - Returns: the file's version.
  /// - Throws: `damaged` for a file of another kind; `unavailable` for a file that a newer version of this service
  ///   wrote, because this version could not keep all of its content.
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

  /// Brings a file to this version in one transaction.
  /// - Throws: as ``requireKnown(_:)`` does; errors of writing.
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
}

extension Schema {
  /// A store's file. Its application id is `HBst` in ASCII.
  ///
  /// `documents` is in the order of changes, and each row contains the winner with its body. So a read is one search in
  /// the index of ids and one in the table, the change feed is a scan of the table, and a new document is appended.
  /// `body` and `tree` are the last columns, so that a read of the columns before them does not load the pages of their
  /// content.
  ///
  /// `first` is the sequence number of a document's first change. It identifies the document in `bodies`, which
  /// contains the bodies of leaves that are not the winner and of recent ancestors, and in `histories`, which contains
  /// the old revisions of long histories. A document with one revision has no `tree`, because its row contains all of
  /// the revision. SQLite compares text by bytes (`BINARY`), as document ids are compared.
  ///
  /// Each table and index takes a page of 4 KiB even when it is empty. So most of them are made when a store first needs
  /// them: a guest's store with one bookmark has four pages.
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
      // `newest` is the last document's sequence number. After a purge it may be less than `last_sequence`.
      // `documents_deleted` is an index of tombstones, so that documents can be counted without reading rows. `indexes`
      // and `entries` contain the indexes that queries read.
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
      // `kept` is the number of bytes of all bodies in `bodies`. When it is null, as in an older file, the bytes are
      // counted.
      """
      ALTER TABLE header ADD COLUMN kept INTEGER;
      """,
      // `content` is what an index keeps of a document. A query for which it is enough reads no document, so the row
      // has a checksum. The indexes of an older file are deleted, and queries build them again.
      """
      DROP TABLE entries;
      DELETE FROM indexes;
      CREATE TABLE entries(
        number INTEGER NOT NULL, key BLOB NOT NULL, id TEXT NOT NULL, checksum INTEGER NOT NULL,
        content BLOB, PRIMARY KEY(number, key, id)
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX entries_by_document ON entries(id, number);
      """,
      // `arrival` says when a revision came and who delivered it. It is null when that is not known, as in all rows of
      // an older file. It is the last column, so that the migration does not rewrite the file and reads of documents do
      // not read it.
      """
      ALTER TABLE documents ADD COLUMN arrival BLOB;
      ALTER TABLE bodies ADD COLUMN arrival BLOB;
      """,
      // From this version on rows may have another kind of checksum. A server of an earlier version would take them for
      // damaged.
      "",
      // `histories` contains the old revisions of long histories. The `tree` of the document's row says how many there
      // are. A history of an older file is divided when its document is next written.
      """
      CREATE TABLE histories(
        first INTEGER NOT NULL, generation INTEGER NOT NULL, checksum INTEGER NOT NULL,
        revisions BLOB NOT NULL, PRIMARY KEY(first, generation)
      ) STRICT, WITHOUT ROWID;
      """,
      // From this version on a file may lack what a store has not needed yet. A server of an earlier version would take
      // it for damaged.
      "",
    ],
    dropsDeferred: """
      DROP INDEX documents_by_type;
      DROP INDEX documents_deleted;
      DROP TABLE bodies;
      DROP TABLE locals;
      DROP TABLE indexes;
      DROP TABLE entries;
      DROP TABLE histories;
      VACUUM;
      """)
}

extension Schema {
  /// The registry's file, which says which stores exist. Its application id is `HBrg` in ASCII.
  ///
  /// `is_erasing` marks a store whose files are being removed, so that a crash during the removal never restores the
  /// store.
  static let registry = Schema(
    applicationID: 0x4842_7267,
    steps: [
      """
      CREATE TABLE stores(
        key TEXT PRIMARY KEY, epoch TEXT NOT NULL, is_erasing INTEGER NOT NULL,
        checksum INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
      """,
      // As in a store's file: rows may have another kind of checksum.
      "",
    ])
}
