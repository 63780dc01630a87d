import Documents
import SQLite
import StoreRecords
import Stores
import TestSupport
import Testing

@testable import SQLiteEngine

/// Copies of stores from one data directory to another.
@Suite struct CopyingTests {
  private let name: StoreName

  init() throws { name = try user(1) }

  /// Rows from before version 6 of the schema have another kind of checksum, and no arrival before version 5.
  @Test func rowsOfOldFilesGetTodaysChecksums() async throws {
    let (old, new) = (try TemporaryDirectory(), try TemporaryDirectory())
    let source = try await FileEngine.open(directory: old.path, lanes: 1)
    let storage = try await source.store(name)
    let first = try await storage.put("a", #"{"n":1}"#)
    try await storage.put("a", #"{"n":2}"#, base: first)
    try await storage.put("b", #"{"n":3}"#)
    await storage.close()
    try age(try path(of: name, in: old))
    let target = try await FileEngine.open(directory: new.path, lanes: 1)
    let outcome = try await StoreTransfer(from: source, to: target).copy(name)
    #expect(outcome == .copied(documents: 2, bytes: 21))
    await source.close()
    await target.close()
    let connection = try Connection(path: try path(of: name, in: new), mode: .readOnly)
    let rows = StoreRows(connection, as: try BlankDatabase(.store))
    for document in try rows.copiedDocuments(after: 0) {
      let (row, body) = (document.row, document.body)
      #expect(row.bodyChecksum == Checksum.body(row.id, row.revision, body.bytes).value)
      #expect(body.arrival == .unknown)
    }
    let sums = try connection.statement("SELECT checksum FROM documents ORDER BY sequence").all {
      $0.int64(0)
    }
    let heads = try ["a", "b"].map { try #require(try rows.head(DocumentID($0))) }
    #expect(sums == heads.map { $0.checksum.value })
    try connection.close()
  }

  /// Gives the documents of a closed store the checksums that old versions wrote.
  private func age(_ path: String) throws {
    let connection = try Connection(path: path, mode: .readWrite)
    let rows = StoreRows(connection, as: try BlankDatabase(.store))
    func former(_ sum: Checksum) -> Int64 {
      Checksum.formerValue(of: sum.bytes, over: sum.content)
    }
    for text in ["a", "b"] {
      let id = try DocumentID(text)
      let found = try #require(try rows.whole(id))
      var row = found.row
      row.bodyChecksum = former(Checksum.body(id, row.revision, found.body))
      if row.treeChecksum != nil {
        let tree = try found.tree().encoded
        row.treeChecksum = former(Checksum.tree(id, row.revision, tree))
      }
      try connection.statement(
        """
        UPDATE documents SET body_checksum = ?1, tree_checksum = ?2, checksum = ?3, arrival = NULL
        WHERE id = ?4
        """
      ).run(
        .integer(row.bodyChecksum), row.treeChecksum.map { .integer($0) } ?? .null,
        .integer(former(row.checksum)), .text(text))
    }
    try connection.close()
  }

  /// As after a crash between the rename of a copy and its registration.
  @Test func copyWithoutAnEntryIsRegisteredWhenItIsOpened() async throws {
    let (old, new) = (try TemporaryDirectory(), try TemporaryDirectory())
    let source = try await FileEngine.open(directory: old.path, lanes: 1)
    let storage = try await source.store(name)
    try await storage.put("a", #"{"n":1}"#)
    await storage.close()
    let target = try await FileEngine.open(directory: new.path, lanes: 1)
    let transfer = StoreTransfer(from: source, to: target)
    _ = try await transfer.copy(name)
    try await target.registry.set(nil, for: name.key)
    #expect(try await transfer.copy(name) == .alreadyThere)
    #expect(try await target.store(name).body("a") == #"{"n":1}"#)
    await source.close()
    await target.close()
  }
}
