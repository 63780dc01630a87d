import Documents
import SQLite
import Stores
import Testing

@testable import SQLiteEngine

/// Documents that are edited again and again are not read from the file each time: they must be what the file has.
@Suite struct RecentDocumentsTests {
  private let connection: Connection
  private let rows: StoreRows
  private let id = DocumentID(stored: "often")

  init() throws {
    connection = try Connection.inMemory()
    try Schema.store.create(in: connection)
    rows = StoreRows(connection)
  }

  /// Edits the document so many times, in the open transaction.
  private func edit(_ times: Int, _ writer: inout StoreWriter, _ text: String = "") throws {
    for number in 0..<times {
      let announced = AnnouncedDocuments([id], in: rows)
      let tree = try announced.document(id)?.tree()
      let body = try DocumentBody(parsing: Array(#"{"n":\#(number),"text":"\#(text)"}"#.utf8))
      let mutation = try Edit.put(
        id, in: tree, base: tree?.winner?.revision, body: body, limit: 100)
      _ = try writer.write(
        Decision([mutation], value: ()), of: announced, at: Timestamp(milliseconds: 1))
    }
  }

  private func writer(_ header: StoreHeader? = nil) -> StoreWriter {
    StoreWriter(rows: rows, header: header ?? StoreHeader(key: "key", epoch: "epoch"))
  }

  /// What is at hand must be what a reader of the file finds.
  private func expectWhatIsStored() throws {
    let known = try #require(rows.recent[id])
    rows.recent = RecentDocuments()
    let stored = try #require(try rows.whole(id))
    #expect(known !== stored)
    #expect(known.row.checksum == stored.row.checksum)
    #expect(known.body == stored.body)
    #expect(try known.tree() == stored.tree())
    #expect(try stored.tree().nodes.count <= 100)
  }

  @Test func whatIsAtHandIsWhatIsStored() throws {
    try connection.begin()
    var writer = writer()
    for times in [20, 1, 60, 80, 3] {
      try edit(times, &writer)
      try expectWhatIsStored()
    }
    try connection.commit()
    // The former bodies: as many as are kept, each in a row of its own, and counted.
    let first = try #require(try rows.whole(id)).row.first
    #expect(try rows.bodies(of: first, below: .max).count == StoreLimits.storedAncestors)
    #expect(try rows.bodyBytes(of: first) == writer.header.kept)
  }

  @Test func undoneTransactionIsForgotten() throws {
    try connection.begin()
    var writer = writer()
    try edit(30, &writer)
    try connection.commit()
    let kept = try #require(try rows.whole(id)).row.revision
    try connection.begin()
    var undone = self.writer(writer.header)
    try edit(1, &undone)
    #expect(try rows.whole(id)?.row.revision != kept)
    try connection.rollback()
    rows.forgetTransaction()
    #expect(try rows.whole(id)?.row.revision == kept)
    try edit(1, &writer)
    try expectWhatIsStored()
  }

  @Test func shortHistoriesAndLargeBodiesAreReadAnew() throws {
    var writer = writer()
    try edit(5, &writer)
    #expect(rows.recent[id] == nil)
    try edit(20, &writer)
    #expect(rows.recent[id] != nil)
    try edit(1, &writer, String(repeating: "x", count: 70_000))
    #expect(rows.recent[id] == nil)
  }

  @Test func purgedDocumentIsForgotten() throws {
    var writer = writer()
    try edit(30, &writer)
    let announced = AnnouncedDocuments([id], in: rows)
    var decision = Decision(value: ())
    decision.purges = [Purge(id: id, tree: RevisionTree())]
    _ = try writer.write(decision, of: announced, at: Timestamp(milliseconds: 1))
    #expect(rows.recent[id] == nil)
    #expect(try rows.whole(id) == nil)
    #expect(writer.header.kept == 0)
  }
}
