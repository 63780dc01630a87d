import Documents
import SQLite
import Scheduling
import Stores
import TestSupport
import Testing

@testable import SQLiteEngine

/// A document that is edited again and again.
@Suite struct OftenEditedDocumentTests {
  private let connection: Connection
  private let rows: StoreRows
  private let id = DocumentID(stored: "often")

  init() throws {
    connection = try Connection.inMemory()
    try Schema.store.create(in: connection)
    rows = StoreRows(connection, as: try BlankDatabase(.store))
  }

  /// Edits the document a number of times in the open transaction.
  private func edit(
    _ times: Int, _ writer: inout StoreWriter<StoreRows>, _ text: String = ""
  ) throws {
    for number in 0..<times {
      let loaded = LoadedDocuments([id], in: rows)
      let tree = try loaded.document(id)?.tree()
      let body = try DocumentBody(parsing: Array(#"{"n":\#(number),"text":"\#(text)"}"#.utf8))
      let mutation = try Edit.put(
        id, in: tree, base: tree?.winner?.revision, body: body,
        limit: HistoryLimits(revisions: 100))
      var changes = StoreChanges(of: view(writer, loaded))
      changes.write(mutation)
      try writer.write(changes, of: loaded, at: Timestamp(milliseconds: 1))
    }
  }

  private func view(_ writer: StoreWriter<StoreRows>, _ loaded: LoadedDocuments) -> SQLiteView {
    SQLiteView(
      rows: rows, header: writer.header, now: Timestamp(milliseconds: 1), slice: .endless,
      loaded: loaded)
  }

  private func writer(_ header: StoreHeader? = nil) -> StoreWriter<StoreRows> {
    StoreWriter(rows: rows, header: header ?? StoreHeader(key: "key", epoch: "epoch"))
  }

  @Test func formerBodiesAreStoredUpToTheLimit() throws {
    try connection.begin()
    var writer = writer()
    try edit(164, &writer)
    try connection.commit()
    let stored = try #require(try rows.whole(id))
    #expect(try stored.tree().nodes.count <= 100)
    // The header counts their bytes.
    let first = stored.row.first
    #expect(try rows.bodies(of: first, below: .max).count == StoreLimits.storedAncestors)
    #expect(try rows.bodyBytes(of: first) == writer.header.otherBodyBytes)
  }

  @Test func purgedDocumentLeavesNoBodies() throws {
    var writer = writer()
    try edit(30, &writer)
    let loaded = LoadedDocuments([id], in: rows)
    var changes = StoreChanges(of: view(writer, loaded))
    changes.purge(Purge(id: id, tree: RevisionTree()))
    try writer.write(changes, of: loaded, at: Timestamp(milliseconds: 1))
    #expect(try rows.whole(id) == nil)
    #expect(writer.header.otherBodyBytes == 0)
  }

  /// An edit of the winner to a text of `bytes` bytes; nil for a deletion.
  private func update(_ bytes: Int?) throws -> RuleUpdate<RevisionID> {
    let id = id
    let text = String(repeating: "x", count: bytes ?? 0)
    let body = try DocumentBody(parsing: Array((bytes == nil ? "{}" : #"{"t":"\#(text)"}"#).utf8))
    return RuleUpdate(loading: [id], now: Timestamp(milliseconds: 1)) {
      changes in
      let tree = try changes.tree(id)
      let mutation = try Edit.put(
        id, in: tree, base: tree?.winner?.revision, body: body, isDeleted: bytes == nil)
      changes.write(mutation)
      return mutation.revision
    }
  }

  @Test(.bug(id: "F07")) func whatIsTriedOnAFullDiskLeavesNoTrace() async throws {
    let directory = try TemporaryDirectory()
    let engine = try await FileEngine.open(directory: directory.path, threads: 1)
    let storage = try #require(try await engine.store(.system) as? SQLiteStorage)
    var base: RevisionID?
    for number in 0..<30 {
      base = try await storage.put(id.text, #"{"n":\#(number)}"#, base: base)
    }
    // The edit needs more space. The engine tries it and refuses it.
    let longer = try update(1_000)
    await storage.file.run { file in file.commitOnFullDisk(longer) }
    #expect(throws: ServiceError.self) { try longer.outcome() }
    base = try await storage.put(id.text, #"{"n":30}"#, base: base)
    // The deletion needs less space. The engine tries it and then writes it, once.
    let deletion = try update(nil)
    await storage.file.run { file in file.commitOnFullDisk(deletion) }
    let tombstone = try deletion.outcome()
    #expect(tombstone.generation == 32)
    let tree = try await storage.read { [id] view in try view.tree(id) }
    let last = try await storage.read { view in try view.info().lastSequence }
    #expect(last == 32)
    #expect(tree?.winner?.revision == tombstone)
    #expect(tree?.nodes.count == 32)
    let again = try await storage.put(id.text, "{}", base: tombstone)
    #expect(again.generation == 33)
    await storage.close()
    await engine.close()
  }
}
