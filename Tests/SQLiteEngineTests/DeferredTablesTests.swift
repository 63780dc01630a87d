import Documents
import SQLite
import StoreTesting
import Stores
import TestSupport
import Testing

@testable import SQLiteEngine

/// A new file has only what every store needs.
@Suite struct DeferredTablesTests {
  private let blank: BlankDatabase
  private let rows: StoreRows

  init() throws {
    blank = try BlankDatabase(.store)
    rows = StoreRows(try blank.inMemory(), as: blank)
  }

  private func names() throws -> Set<String> {
    Set(try SchemaDefinitions.found(in: rows.connection).map(\.name))
  }

  @Test func aNewFileHasFourPages() throws {
    #expect(try names() == ["documents", "header", "sqlite_autoindex_documents_1"])
    #expect(try rows.connection.pageCount() == 4)
    try blank.definitions.requireMatch(in: rows.connection)
  }

  @Test func whatIsMissingIsEmpty() throws {
    let revision = RevisionID(generation: 1, digest: "a")
    #expect(try rows.body(of: 1, revision) == nil)
    #expect(try rows.bodyBytes(of: 1) == 0)
    #expect(try rows.local(LocalID(stored: "_local/a"), at: Timestamp(milliseconds: 0)) == nil)
    #expect(try rows.indexNames() == [])
    #expect(try rows.indexedSequence(IndexID("a")) == nil)
    #expect(try rows.pieces(of: 1).isEmpty)
    #expect(try rows.damagedEntries() == 0)
    try rows.removeEntries(of: DocumentID(stored: "a"))
    try rows.removeExpiredLocals(at: Timestamp(milliseconds: 0))
    #expect(try names().count == 3)
  }

  @Test func everyTableIsMadeAsAnOlderFileHasIt() throws {
    for table in DeferredTable.allCases {
      try rows.make(table)
      #expect(try names().contains(table.rawValue))
      try blank.definitions.requireMatch(in: rows.connection)
    }
    let found = try SchemaDefinitions.found(in: rows.connection)
    #expect(found.map(\.sql) == blank.definitions.all.map(\.sql))
  }

  @Test func aTableThatARollbackTookAwayIsMadeAgain() throws {
    let edit = LocalEdit(
      LocalID(stored: "_local/a"), LocalDocument(revision: 1, body: Array("{}".utf8)))
    try rows.connection.begin()
    try rows.apply(edit)
    rows.forgetTransaction()
    try rows.connection.rollback()
    #expect(try !rows.has(.locals))
    try rows.apply(edit)
    #expect(try rows.local(edit.id, at: Timestamp(milliseconds: 0)) == edit.document)
  }

  @Test func aTableWithoutItsIndexIsDamage() throws {
    try rows.make(.bodies)
    try rows.connection.execute("DROP INDEX bodies_by_revision")
    #expect(throws: ServiceError.self) { try blank.definitions.requireMatch(in: rows.connection) }
  }

  @Test func aStoreWithOneBookmarkTakesFourPagesAtOnce() async throws {
    let directory = try TemporaryDirectory()
    let engine = try await FileEngine.open(directory: directory.path)
    let storage = try #require(try await engine.open(user(1), creating: true) as? SQLiteStorage)
    let body = #"{"type":"hotel","description":"\#(String(repeating: "x", count: 900))"}"#
    try await storage.put("hotel_1", body)
    let file = engine.directory.file(for: try user(1).key)
    // The log is emptied by a call of its own, soon after the commit.
    while try Disk.entry(at: file.path + "-wal")?.size ?? 0 > 0 { await Task.yield() }
    #expect(try Disk.entry(at: file.path)?.size == 4 * 4_096)
    await storage.close()
    #expect(try Disk.entry(at: file.path)?.size == 4 * 4_096)
    await engine.close()
  }
}
