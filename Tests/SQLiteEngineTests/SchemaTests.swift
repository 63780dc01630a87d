import Documents
import SQLite
import StoreRecords
import Stores
import TestSupport
import Testing

@testable import SQLiteEngine

@Suite struct SchemaTests {
  /// The store's schema with one more version.
  private let next = Schema(
    applicationID: Schema.store.applicationID,
    steps: Schema.store.steps + ["CREATE TABLE notes(number INTEGER PRIMARY KEY) STRICT;"])

  private func file(
    _ directory: TemporaryDirectory, _ schema: Schema
  ) throws -> DatabaseFile {
    let file = DatabaseFile(directory: directory.path, name: "store.sqlite")
    let header = StoreHeader(key: "system", epoch: "e")
    try file.create(
      try BlankDatabase(schema).image { connection in
        guard schema.version > 2 else { return try Self.writeFirstHeader(to: connection) }
        try header.write(to: connection)
      })
    return file
  }

  /// Writes the header's row as the first version wrote it, with that version's checksum.
  /// - Parameter counts: the last sequence, live documents, tombstones, bytes.
  private static func writeFirstHeader(
    _ counts: [Int64] = [0, 0, 0, 0], to connection: Connection
  ) throws {
    var checksum = Checksum(.header)
    checksum.append("system")
    checksum.append("e")
    for count in counts { checksum.append(count) }
    try connection.statement(
      """
      INSERT INTO header(one, store, epoch, last_sequence, live, deleted, bytes, checksum)
      VALUES (1, 'system', 'e', ?1, ?2, ?3, ?4, ?5)
      """
    ).run(
      .integer(counts[0]), .integer(counts[1]), .integer(counts[2]), .integer(counts[3]),
      .integer(former(checksum)))
  }

  /// The checksum of a row that was written before version 6.
  private static func former(_ checksum: Checksum) -> Int64 {
    Checksum.formerValue(of: checksum.bytes, over: checksum.content)
  }

  private func open(_ file: DatabaseFile, _ schema: Schema) throws -> [String] {
    let opened = try Connection.opening(file, as: BlankDatabase(schema)) {
      connection in try StoreHeader(readingFrom: connection)
    }
    #expect(opened.header.key == "system")
    defer { try? opened.connection.close() }
    #expect(try opened.connection.userVersion() == schema.version)
    return try SchemaDefinitions.found(in: opened.connection).map { $0.name + ": " + $0.sql }
  }

  @Test func everyOlderVersionMigratesToAllThatAFileMayHave() throws {
    for (schema, kind) in [(Schema.store, "store"), (next, "next")] {
      for version in 1...schema.steps.count {
        let directory = try TemporaryDirectory()
        let older = Schema(
          applicationID: schema.applicationID, steps: Array(schema.steps.prefix(version)))
        let file = try file(directory, older)
        let fresh = try BlankDatabase(schema).definitions.all.map { $0.name + ": " + $0.sql }
        #expect(try open(file, schema) == fresh, "\(kind) from \(version)")
        #expect(try open(file, schema) == fresh, "\(kind) from \(version), again")
      }
    }
  }

  @Test(.bug(id: "F27")) func fileOfANewerVersionIsRefusedAndKept() throws {
    let directory = try TemporaryDirectory()
    let file = try file(directory, next)
    let before = try contents(file.path)
    do throws(any Error) {
      _ = try open(file, .store)
      Issue.record("was opened")
    } catch let error as ServiceError {
      #expect(error.code == .unavailable)
    }
    #expect(try contents(file.path) == before)
  }

  @Test func fileOfAnotherKindIsDamaged() throws {
    let directory = try TemporaryDirectory()
    let file = DatabaseFile(directory: directory.path, name: "store.sqlite")
    try file.create(try BlankDatabase(.registry).image { _ in })
    do throws(any Error) {
      _ = try open(file, .store)
      Issue.record("was opened")
    } catch let error as ServiceError {
      #expect(error.code == .damaged)
    }
  }

  /// Makes a file of the first version with two documents, one of them a tombstone, and a local document.
  private func firstVersion(_ directory: TemporaryDirectory) throws -> DatabaseFile {
    let file = DatabaseFile(directory: directory.path, name: "store.sqlite")
    let steps = Array(Schema.store.steps.prefix(1))
    let first = Schema(applicationID: Schema.store.applicationID, steps: steps)
    let body = Array(#"{"type":"t"}"#.utf8)
    try file.create(
      try BlankDatabase(first).image { connection in
        for (sequence, id) in [(3, "a"), (7, "b")] as [(Int64, String)] {
          let (id, revision) = (DocumentID(stored: id), RevisionID(generation: 1, digest: "x"))
          let row = StoredDocument(
            sequence: sequence, id: id, first: sequence, revision: revision,
            isDeleted: sequence == 7, type: "t", created: 1, updated: 2,
            bodyChecksum: Self.former(Checksum.body(id, revision, body)), treeChecksum: nil)
          try Self.insert(row, body, in: connection)
        }
        try StoreRows(connection, as: try BlankDatabase(.store)).apply(
          LocalEdit(LocalID(stored: "_local/l"), LocalDocument(revision: 4, body: body)))
        try Self.writeFirstHeader([7, 1, 1, 24], to: connection)
      })
    return file
  }

  /// Inserts a document's row as the first version wrote it.
  private static func insert(
    _ row: StoredDocument, _ body: [UInt8], in connection: Connection
  ) throws {
    try connection.statement(
      """
      INSERT INTO documents(
        sequence, id, first, generation, digest, is_deleted, type, created, updated,
        body_checksum, checksum, body)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
      """
    ).run(
      .integer(row.sequence), .text(row.id.text), .integer(row.first),
      .integer(row.revision.generation), .text(row.revision.digest.text),
      .integer(row.isDeleted ? 1 : 0), .text(row.type), .integer(row.created),
      .integer(row.updated), .integer(row.bodyChecksum), .integer(former(row.checksum)),
      .bytes(body))
  }

  /// Opens a file that ``firstVersion(_:)`` made, and checks its content.
  private func expectFirstVersion(in file: DatabaseFile) throws {
    let opened = try Connection.opening(file, as: BlankDatabase(.store)) {
      connection in try StoreHeader(readingFrom: connection)
    }
    defer { try? opened.connection.close() }
    let rows = StoreRows(opened.connection, as: try BlankDatabase(.store))
    let view = SQLiteView(rows: rows, header: opened.header, now: Timestamp(milliseconds: 1))
    let info = try view.info()
    #expect(info.lastSequence == 7)
    #expect(info.documentCount == 1)
    #expect(info.deletedCount == 1)
    #expect(opened.header.newest == 7)
    #expect(try view.changes(after: 0, limit: 9).map(\.sequence) == [3, 7])
    #expect(try view.document(DocumentID("a"))?.body == Array(#"{"type":"t"}"#.utf8))
    #expect(try view.document(DocumentID("b"))?.isDeleted == true)
    let revision = RevisionID(generation: 1, digest: "x")
    #expect(try view.kept(DocumentID("a"), revision) == KeptRevision(arrival: nil))
    #expect(try view.count(DocumentRange(), among: 9).count == 1)
    #expect(try view.count(DocumentRange(includesDeleted: true), among: 9).count == 2)
    #expect(try view.local(LocalID(client: "_local/l"))?.revision == 4)
    #expect(try view.indexes().isEmpty)
  }

  @Test func fileOfTheFirstVersionKeepsWhatItHolds() throws {
    let directory = try TemporaryDirectory()
    let file = try firstVersion(directory)
    for _ in 0..<2 { try expectFirstVersion(in: file) }
  }

  /// The last of several steps fails because of the file's content.
  @Test(.bug(id: "F04")) func migrationThatFailsLeavesTheFileAsItWas() throws {
    let directory = try TemporaryDirectory()
    let file = try firstVersion(directory)
    let before = try contents(file.path)
    let failing = Schema(
      applicationID: Schema.store.applicationID,
      steps: Schema.store.steps + [
        """
        CREATE TABLE notes(number INTEGER PRIMARY KEY) STRICT;
        CREATE UNIQUE INDEX one_of_each_type ON documents(type);
        """
      ])
    for _ in 0..<2 {
      #expect(throws: SQLiteError.self) { try open(file, failing) }
      #expect(try contents(file.path) == before)
      let reader = try Connection.inspecting(path: file.path, hasLog: try file.requireSound())
      #expect(try reader.userVersion() == 1)
      try reader.close()
    }
    for _ in 0..<2 { try expectFirstVersion(in: file) }
  }

  /// Entries of version 3 contain no fields of documents. The migration removes the indexes; queries build them again.
  @Test func indexesOfAFileOfTheThirdVersionGo() throws {
    let directory = try TemporaryDirectory()
    let file = DatabaseFile(directory: directory.path, name: "store.sqlite")
    let steps = Array(Schema.store.steps.prefix(3))
    let third = Schema(applicationID: Schema.store.applicationID, steps: steps)
    try file.create(
      try BlankDatabase(third).image { connection in
        try StoreHeader(key: "system", epoch: "e").write(to: connection)
        try connection.execute(
          """
          INSERT INTO indexes(number, name, sequence, checksum) VALUES (1, 'old', 0, 0);
          INSERT INTO entries(number, key, id) VALUES (1, x'01', 'a'), (1, x'02', 'b');
          """)
      })
    for _ in 0..<2 {
      let opened = try Connection.opening(file, as: BlankDatabase(.store)) {
        connection in try StoreHeader(readingFrom: connection)
      }
      let rows = StoreRows(opened.connection, as: try BlankDatabase(.store))
      #expect(try rows.indexNames().isEmpty)
      let left = try opened.connection.statement("SELECT count(*) FROM entries").first {
        row in row.int64(0)
      }
      #expect(left == 0)
      try opened.connection.close()
    }
  }

  @Test(.bug(id: "S17")) func bodiesOfAFileOfTheSecondVersionAreCounted() throws {
    let directory = try TemporaryDirectory()
    let file = DatabaseFile(directory: directory.path, name: "store.sqlite")
    let steps = Array(Schema.store.steps.prefix(2))
    let second = Schema(applicationID: Schema.store.applicationID, steps: steps)
    try file.create(
      try BlankDatabase(second).image { connection in
        try connection.execute(
          """
          INSERT INTO bodies(first, generation, digest, body_checksum, body)
          VALUES (1, 10, 'x', 0, zeroblob(10)), (1, 30, 'x', 0, zeroblob(30))
          """)
        try Self.writeFirstHeader(to: connection)
      })
    for written in [false, true, true] {
      let opened = try Connection.opening(file, as: BlankDatabase(.store)) {
        connection in try StoreHeader(readingFrom: connection)
      }
      #expect(opened.header.info.keptBytes == 40)
      if written { try opened.header.write(to: opened.connection) }
      try opened.connection.close()
    }
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
