import SQLite
import Stores
import Testing

@testable import SQLiteEngine

@Suite struct SchemaTests {
  /// The store's tables after one more version.
  private let next = Schema(
    applicationID: Schema.store.applicationID,
    steps: Schema.store.steps + ["CREATE TABLE notes(number INTEGER PRIMARY KEY) STRICT;"])

  private func file(
    _ directory: TemporaryDirectory, _ schema: Schema
  ) throws -> DatabaseFile {
    let file = DatabaseFile(directory: directory.path, name: "store.sqlite")
    let header = StoreHeader(key: "system", epoch: "e")
    try file.create(
      try BlankDatabase(schema).image { connection throws(SQLiteError) in
        try header.write(to: connection)
      })
    return file
  }

  private func open(_ file: DatabaseFile, _ schema: Schema) throws -> [String] {
    let opened = try Connection.opening(file, as: BlankDatabase(schema)) {
      connection throws(StoreError) in try StoreHeader(readingFrom: connection)
    }
    #expect(opened.header.key == "system")
    defer { try? opened.connection.close() }
    #expect(try opened.connection.userVersion() == schema.version)
    return try Schema.definitions(in: opened.connection)
  }

  @Test func everyOlderVersionMigratesToWhatAFreshFileHas() throws {
    for (schema, kind) in [(Schema.store, "store"), (next, "next")] {
      for version in 1...schema.steps.count {
        let directory = try TemporaryDirectory()
        let older = Schema(
          applicationID: schema.applicationID, steps: Array(schema.steps.prefix(version)))
        let file = try file(directory, older)
        let fresh = try BlankDatabase(schema).definitions
        #expect(try open(file, schema) == fresh, "\(kind) from \(version)")
        #expect(try open(file, schema) == fresh, "\(kind) from \(version), again")
      }
    }
  }

  @Test func f27FileOfANewerVersionIsRefusedAndKept() throws {
    let directory = try TemporaryDirectory()
    let file = try file(directory, next)
    let before = try contents(file.path)
    do throws(any Error) {
      _ = try open(file, .store)
      Issue.record("was opened")
    } catch let error as StoreError {
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
    } catch let error as StoreError {
      #expect(error.code == .damaged)
    }
  }

  @Test func aDocumentIsFoundByIndexedSearchesAlone() throws {
    let connection = try Connection.inMemory()
    try Schema.store.create(in: connection)
    let plans = [
      try connection.statement(
        "EXPLAIN QUERY PLAN SELECT body FROM documents WHERE id = ?1"
      ).all { row throws(SQLiteError) in try row.string(3) },
      try connection.statement(
        "EXPLAIN QUERY PLAN SELECT id FROM documents WHERE type = ?1 AND is_deleted = 0 ORDER BY id"
      ).all { row throws(SQLiteError) in try row.string(3) },
      try connection.statement(
        "EXPLAIN QUERY PLAN SELECT body FROM bodies WHERE first = ?1 AND generation = ?2"
      ).all { row throws(SQLiteError) in try row.string(3) },
    ]
    #expect(plans[0].count == 1)
    for plan in plans {
      #expect(plan.first?.hasPrefix("SEARCH") == true, "\(plan)")
    }
    #expect(plans[1].first?.contains("documents_by_type") == true, "\(plans[1])")
  }
}
