import Documents
import SQLite
import Scheduling
import Stores
import TestSupport
import Testing

@testable import SQLiteEngine

@Suite struct SchemaTests {
  /// The store's schema with steps after it.
  private static func stepping(_ steps: StaticString...) -> Schema {
    var schema = Schema.store
    schema.steps += steps
    return schema
  }

  private let next = stepping("CREATE TABLE notes(number INTEGER PRIMARY KEY) STRICT;")

  /// Makes a file with one document.
  private func file(_ directory: TemporaryDirectory, _ schema: Schema) throws -> DatabaseFile {
    let file = DatabaseFile(directory: directory.path, name: "store.sqlite")
    let blank = try BlankDatabase(schema)
    try file.create(
      try blank.image { connection in
        let rows = StoreRows(connection, as: blank)
        var writer = StoreWriter(rows: rows, header: StoreHeader(key: "system", epoch: "e"))
        let loaded = LoadedDocuments([try DocumentID("a")], in: rows)
        let now = Timestamp(milliseconds: 1)
        var changes = StoreChanges(
          of: SQLiteView(
            rows: rows, header: writer.header, now: now, slice: .endless, loaded: loaded))
        try changes.put(
          DocumentID("a"), base: nil, body: DocumentBody(parsing: Array(#"{"type":"t"}"#.utf8)))
        try writer.write(changes, of: loaded, at: now)
        try writer.header.write(to: connection)
      })
    return file
  }

  /// Opens a file, and checks its document.
  private func open(_ file: DatabaseFile, _ schema: Schema) throws -> [String] {
    let opened = try Connection.opening(file, as: BlankDatabase(schema)) {
      connection in try StoreHeader(readingFrom: connection)
    }
    #expect(opened.header.key == "system")
    defer { try? opened.connection.close() }
    #expect(try opened.connection.userVersion() == schema.version)
    let rows = StoreRows(opened.connection, as: try BlankDatabase(schema))
    let view = SQLiteView(
      rows: rows, header: opened.header, now: Timestamp(milliseconds: 1), slice: .endless)
    #expect(try view.document(DocumentID("a"))?.body == Array(#"{"type":"t"}"#.utf8))
    return try SchemaDefinitions.found(in: opened.connection).map { $0.name + ": " + $0.sql }
  }

  @Test func stepBringsAFileToTheNextVersion() throws {
    let directory = try TemporaryDirectory()
    let file = try file(directory, .store)
    let before = try open(file, .store)
    for _ in 0..<2 {
      let after = try open(file, next)
      let notes = "notes: CREATE TABLE notes(number INTEGER PRIMARY KEY) STRICT"
      #expect(after.sorted() == (before + [notes]).sorted())
    }
  }

  @Test(
    .bug(id: "F27"),
    arguments: [
      (
        11,
        "The database was written by a newer version of this service: its format is 11, this version "
          + "needs 10. Start the version that wrote it, or a later one"
      ),
      (
        8,
        "The database was written by an earlier version of this service: its format is 8, this "
          + "version needs 10. Export each account with the version that wrote it, and import it here"
      ),
    ] as [(Int32, String)])
  func fileOfAnotherVersionIsRefusedAndKept(_ version: Int32, _ reason: String) throws {
    let directory = try TemporaryDirectory()
    let file = try file(directory, .store)
    let connection = try Connection(path: file.path, mode: .readWrite)
    try connection.setUserVersion(version)
    try connection.checkpoint(.truncate)
    try connection.close()
    let before = try contents(file.path)
    let error = #expect(throws: ServiceError.self) { try open(file, .store) }
    #expect(error?.code == .unavailable)
    #expect(error?.reason == reason)
    #expect(try contents(file.path) == before)
  }

  @Test func fileOfAnotherKindIsDamaged() throws {
    let directory = try TemporaryDirectory()
    let file = DatabaseFile(directory: directory.path, name: "store.sqlite")
    try file.create(try BlankDatabase(.registry).image { _ in })
    let error = #expect(throws: ServiceError.self) { try open(file, .store) }
    #expect(error?.code == .damaged)
    #expect(error?.reason == "The database is damaged; it needs to be restored")
    #expect(error?.detail == "not a file of this kind: application id 1212314215, version 3")
  }

  /// The last of several steps fails because of the file's content.
  @Test(.bug(id: "F04")) func stepThatFailsLeavesTheFileAsItWas() throws {
    let directory = try TemporaryDirectory()
    let file = try file(directory, .store)
    let before = try contents(file.path)
    let failing = Self.stepping(
      "CREATE TABLE notes(number INTEGER PRIMARY KEY) STRICT;",
      """
      CREATE TABLE once(type TEXT CHECK (type <> 't')) STRICT;
      INSERT INTO once SELECT type FROM documents;
      """)
    for _ in 0..<2 {
      #expect(throws: SQLiteError.self) { try open(file, failing) }
      #expect(try contents(file.path) == before)
    }
    _ = try open(file, .store)
  }

  private func plan(_ sql: StaticString, _ connection: Connection) throws -> [String] {
    try connection.statement(sql).all { row in try row.string(3) }
  }

  @Test func countsReadIndexesAlone() throws {
    let connection = try Connection.inMemory()
    try Schema.store.create(in: connection)
    let plans = [
      try plan(
        """
        EXPLAIN QUERY PLAN SELECT count(*) FROM documents
        INDEXED BY sqlite_autoindex_documents_1 WHERE sequence > ?1
        """, connection),
      try plan(
        """
        EXPLAIN QUERY PLAN SELECT count(*) FROM documents
        INDEXED BY sqlite_autoindex_documents_1 WHERE id >= ?1 AND id <= ?2 AND id <> ?3
        """, connection),
      try plan(
        """
        EXPLAIN QUERY PLAN SELECT count(*) FROM documents INDEXED BY documents_deleted
        WHERE is_deleted = 1 AND id >= ?1 AND id <= ?2 AND id <> ?3
        """, connection),
    ]
    for plan in plans {
      #expect(plan.count == 1 && plan[0].contains("USING COVERING INDEX"), "\(plan)")
    }
  }

  @Test func indexesAreWalkedInOrderAndForgottenByDocument() throws {
    let connection = try Connection.inMemory()
    try Schema.store.create(in: connection)
    let plans = [
      try plan(
        """
        EXPLAIN QUERY PLAN SELECT key, id, checksum, content FROM entries
        WHERE number = ?1 AND key >= ?2 AND key < ?3 ORDER BY key DESC, id DESC
        """, connection),
      try plan(
        "EXPLAIN QUERY PLAN DELETE FROM entries WHERE id = ?1 AND number = ?2", connection),
      try plan("EXPLAIN QUERY PLAN DELETE FROM entries WHERE id = ?1", connection),
    ]
    for plan in plans { #expect(plan.count == 1 && plan[0].hasPrefix("SEARCH"), "\(plan)") }
  }

  @Test func aDocumentIsFoundByIndexedSearchesAlone() throws {
    let connection = try Connection.inMemory()
    try Schema.store.create(in: connection)
    let plans = [
      try connection.statement(
        "EXPLAIN QUERY PLAN SELECT body FROM documents WHERE id = ?1"
      ).all { row in try row.string(3) },
      try connection.statement(
        "EXPLAIN QUERY PLAN SELECT id FROM documents WHERE type = ?1 AND is_deleted = 0 ORDER BY id"
      ).all { row in try row.string(3) },
      try connection.statement(
        "EXPLAIN QUERY PLAN SELECT body FROM bodies WHERE first = ?1 AND generation = ?2"
      ).all { row in try row.string(3) },
    ]
    #expect(plans[0].count == 1)
    for plan in plans {
      #expect(plan.first?.hasPrefix("SEARCH") == true, "\(plan)")
    }
    #expect(plans[1].first?.contains("documents_by_type") == true, "\(plans[1])")
  }
}
