import SQLite
import Stores

/// The tables of one kind of file: those of one version, and steps that follow it.
struct Schema: Sendable {
  /// The application id in the file's header (<https://sqlite.org/pragma.html#pragma_application_id>).
  let applicationID: Int32
  /// The first version that is known. A file of an earlier one is refused.
  let base: Int32
  /// A script of constant SQL that makes the tables of that version.
  let tables: StaticString
  /// The steps, each a script that brings a file to the next version.
  var steps: [StaticString] = []
  /// A script that drops what is made when it is first needed.
  var dropsDeferred: StaticString = "VACUUM"

  /// The version after the last step. The file keeps it as `user_version`.
  var version: Int32 { base + Int32(truncatingIfNeeded: steps.count) }

  /// Creates all tables in an empty database.
  func create(in connection: Connection) throws {
    try connection.setApplicationID(applicationID)
    try connection.execute(tables)
    try take(from: base, in: connection)
  }

  /// Checks that a file is of this kind and that its version is known.
  /// - Returns: the file's version.
  /// - Throws: `damaged` for a file of another kind; `unavailable` for a file of an unknown version of this service,
  ///   because this version could not keep all of its content.
  @discardableResult
  func requireKnown(_ connection: Connection) throws -> Int32 {
    let (kind, found) = (try connection.applicationID(), try connection.userVersion())
    guard kind == applicationID, found > 0 else {
      throw ServiceError.damaged(
        "not a file of this kind: application id \(kind), version \(found)")
    }
    if let refusal = OtherVersion.refusal(of: "The database was written", found, base, version) {
      throw ServiceError(.unavailable, refusal)
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
    for step in steps.dropFirst(Int(found - base)) { try connection.execute(step) }
    try connection.setUserVersion(version)
  }

  /// A store's file. Its application id is `HBst` in ASCII.
  ///
  /// `documents` is in the order of changes, and each row contains the winner with its body. So a read is one search in
  /// the index of ids and one in the table, the change feed is a scan of the table, and a new document is appended.
  /// `body`, `tree` and `arrival`, which says when a revision came and who delivered it, are the last columns, so that
  /// a read of the columns before them does not load the pages of their content. `documents_deleted` is an index of
  /// tombstones, so that documents can be counted without reading rows.
  ///
  /// `first` is the sequence number of a document's first change. It identifies the document in `bodies`, which
  /// contains the bodies of leaves that are not the winner and of recent ancestors, and in `histories`, which contains
  /// the old revisions of long histories; the `tree` of the document's row says how many there are. A document with one
  /// revision has no `tree`, because its row contains all of the revision. SQLite compares text by bytes (`BINARY`), as
  /// document ids are compared.
  ///
  /// In `header`, `newest` is the last document's sequence number, which after a purge may be less than
  /// `last_sequence`, and `kept` the number of bytes of all bodies in `bodies`. `indexes` and `entries` contain the
  /// indexes that queries read. `content` is what an index keeps of a document. A query for which it is enough reads no
  /// document, so the row has a checksum.
  ///
  /// Each table and index takes a page of 4 KiB even when it is empty. So most of them are made when a store first needs
  /// them: a guest's store with one bookmark has four pages.
  static let store = Schema(
    applicationID: 0x4842_7374, base: 9,
    tables: """
      CREATE TABLE header(
        one INTEGER PRIMARY KEY CHECK (one = 1), store TEXT NOT NULL, epoch TEXT NOT NULL,
        last_sequence INTEGER NOT NULL, live INTEGER NOT NULL, deleted INTEGER NOT NULL,
        bytes INTEGER NOT NULL, checksum INTEGER NOT NULL, newest INTEGER NOT NULL,
        kept INTEGER NOT NULL
      ) STRICT;
      CREATE TABLE documents(
        sequence INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, first INTEGER NOT NULL,
        generation INTEGER NOT NULL, digest TEXT NOT NULL, is_deleted INTEGER NOT NULL, type TEXT,
        created INTEGER NOT NULL, updated INTEGER NOT NULL, body_checksum INTEGER NOT NULL,
        tree_checksum INTEGER, checksum INTEGER NOT NULL, body BLOB NOT NULL, tree BLOB,
        arrival BLOB
      ) STRICT;
      CREATE INDEX documents_by_type ON documents(type) WHERE is_deleted = 0 AND type IS NOT NULL;
      CREATE INDEX documents_deleted ON documents(id, is_deleted) WHERE is_deleted = 1;
      CREATE TABLE bodies(
        number INTEGER PRIMARY KEY, first INTEGER NOT NULL, generation INTEGER NOT NULL,
        digest TEXT NOT NULL, body_checksum INTEGER NOT NULL, body BLOB NOT NULL, arrival BLOB
      ) STRICT;
      CREATE INDEX bodies_by_revision ON bodies(first, generation);
      CREATE TABLE locals(
        id TEXT PRIMARY KEY, revision INTEGER NOT NULL, expires INTEGER, checksum INTEGER NOT NULL,
        body BLOB NOT NULL
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX locals_by_expiry ON locals(expires) WHERE expires IS NOT NULL;
      CREATE TABLE indexes(
        number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, sequence INTEGER NOT NULL,
        checksum INTEGER NOT NULL
      ) STRICT;
      CREATE TABLE entries(
        number INTEGER NOT NULL, key BLOB NOT NULL, id TEXT NOT NULL, checksum INTEGER NOT NULL,
        content BLOB, PRIMARY KEY(number, key, id)
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX entries_by_document ON entries(id, number);
      CREATE TABLE histories(
        first INTEGER NOT NULL, generation INTEGER NOT NULL, checksum INTEGER NOT NULL,
        revisions BLOB NOT NULL, PRIMARY KEY(first, generation)
      ) STRICT, WITHOUT ROWID;
      """,
    steps: [localsByNumber],
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

  /// Gives `locals` row numbers. In a table without them a search reads whole rows to compare ids, with all bytes of the
  /// attachments in their way: ten times what was asked for.
  private static let localsByNumber: StaticString = """
    CREATE TABLE IF NOT EXISTS locals(
      id TEXT PRIMARY KEY, revision INTEGER NOT NULL, expires INTEGER, checksum INTEGER NOT NULL,
      body BLOB NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE moved(
      id TEXT, revision INTEGER, expires INTEGER, checksum INTEGER, body BLOB
    ) STRICT;
    INSERT INTO moved SELECT id, revision, expires, checksum, body FROM locals;
    DROP TABLE locals;
    CREATE TABLE locals(
      id TEXT NOT NULL UNIQUE, revision INTEGER NOT NULL, expires INTEGER,
      checksum INTEGER NOT NULL, body BLOB NOT NULL
    ) STRICT;
    INSERT INTO locals SELECT id, revision, expires, checksum, body FROM moved ORDER BY id;
    DROP TABLE moved;
    CREATE INDEX locals_by_expiry ON locals(expires) WHERE expires IS NOT NULL;
    """

  /// The registry's file, which says which stores exist. Its application id is `HBrg` in ASCII.
  ///
  /// `is_erasing` marks a store whose files are being removed, so that a crash during the removal never restores the
  /// store.
  static let registry = Schema(
    applicationID: 0x4842_7267, base: 3,
    tables: """
      CREATE TABLE stores(
        key TEXT PRIMARY KEY, epoch TEXT NOT NULL, is_erasing INTEGER NOT NULL,
        checksum INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
      """)
}
