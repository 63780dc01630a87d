import Documents
import Stores
import Testing

@testable import PostgresEngine

/// Rows that differ from what was written.
@Suite struct DamageTests {
  /// A statement that damages a row, and the code with which a read of everything then fails.
  private static let cases: [(String, ServiceError.Code)] = [
    ("UPDATE documents SET body = '{\"n\":2}' WHERE id = 'a'", .integrity),
    ("UPDATE documents SET sequence = 99 WHERE id = 'a'", .integrity),
    ("UPDATE documents SET id = 'aa' WHERE id = 'a'", .integrity),
    ("UPDATE documents SET digest = '\\xff' WHERE id = 'a'", .integrity),
    ("UPDATE documents SET is_deleted = true WHERE id = 'a'", .integrity),
    ("UPDATE documents SET tree = set_byte(tree, 3, 255) WHERE id = 'a'", .integrity),
    ("UPDATE documents SET arrival = set_byte(arrival, 9, 7) WHERE id = 'a'", .integrity),
    ("UPDATE bodies SET body = '{\"n\":7}'", .integrity),
    ("UPDATE bodies SET digest = '\\x00'", .integrity),
    ("UPDATE histories SET revisions = set_byte(revisions, 3, 255)", .integrity),
    ("UPDATE histories SET generation = generation + 1", .integrity),
    ("DELETE FROM histories WHERE generation = 32", .integrity),
    ("UPDATE locals SET body = 'x'", .integrity),
    ("UPDATE locals SET revision = 9", .integrity),
    ("UPDATE entries SET content = 'x'", .integrity),
    ("UPDATE indexes SET sequence = 9", .integrity),
    ("UPDATE stores SET live = 9 WHERE number > 0", .damaged),
    ("UPDATE stores SET is_erased = true WHERE number > 0", .damaged),
    ("DELETE FROM stores WHERE number > 0", .damaged),
    ("DROP TABLE bodies", .damaged),
  ]

  @Test(arguments: cases)
  func whatWasNotWrittenIsNeverRead(_ sql: String, _ wanted: ServiceError.Code) async throws {
    let fixture = try DatabaseFixture()
    try await fixture.withNode { node in
      let store = try await filled(node)
      try await readAll(store)
      try fixture.execute(sql)
      #expect(await code { try await readAll(store) } == wanted)
    }
  }

  @Test(arguments: [
    ("UPDATE names SET number = number + 1", ServiceError.Code.integrity),
    ("UPDATE names SET state = 2", .integrity),
    ("UPDATE names SET epoch = '\\xff'", .integrity),
    ("UPDATE stores SET epoch = 'x' WHERE number > 0", .damaged),
    ("DELETE FROM stores WHERE number > 0", .damaged),
  ])
  func storeWhoseRowsAreDamagedDoesNotOpenAndIsNeverEmpty(
    _ sql: String, _ wanted: ServiceError.Code
  ) async throws {
    let fixture = try DatabaseFixture()
    try await fixture.withNode { node in
      _ = try await filled(node)
      try fixture.execute(sql)
      #expect(await code { _ = try await node.open(.system, creating: true) } == wanted)
    }
  }

  @Test func rowOfAnotherStoreIsNoneOfThis() async throws {
    let fixture = try DatabaseFixture()
    try await fixture.withNode { node in
      let (one, two) = (try await node.store(try user(1)), try await node.store(try user(2)))
      try await one.put("a", #"{"of":1}"#)
      try await two.put("b", #"{"of":2}"#)
      try fixture.execute(
        """
        UPDATE documents SET sequence = 2,
          store = (SELECT store FROM documents WHERE id = 'b') WHERE id = 'a'
        """)
      #expect(await code { _ = try await two.body("a") } == .integrity)
    }
  }

  /// Creates a store with rows in each of its tables.
  private func filled(_ node: PostgresDatabase) async throws -> any StoreStorage {
    let store = try await node.store()
    let first = try await store.put("a", #"{"n":1}"#)
    try await store.put("a", #"{"n":3}"#, base: first)
    let (id, often) = (try DocumentID("a"), try DocumentID("b"))
    for _ in 0..<100 {
      try await store.update(loading: [often], at: Timestamp(milliseconds: 1)) { changes in
        let base = try changes.view.newest(often)?.winner?.revision
        try changes.put(often, base: base, body: .empty)
      }
    }
    try await store.update(loading: [], at: Timestamp(milliseconds: 1)) { changes in
      changes.write(LocalEdit(LocalID(receipt: "x"), LocalDocument(revision: 1, body: [1])))
      let entry = IndexEntry(id: id, key: [1], content: [2])
      changes.write(
        IndexEdit.advance(IndexID("i"), documents: [id], entries: [entry], sequence: 2))
    }
    return store
  }

  private func readAll(_ store: any StoreStorage) async throws {
    try await store.read { view in
      _ = try view.info()
      for change in try view.changes(after: 0, limit: 99) {
        for node in try view.tree(change.id)?.nodes ?? [] {
          _ = try view.body(change.id, node.revision)
          _ = try view.kept(change.id, node.revision)
        }
      }
      try view.documents(DocumentRange(includesDeleted: true)) { _ in true }
      _ = try view.local(LocalID(receipt: "x"))
      _ = try view.indexedSequence(IndexID("i"))
      try view.entries(IndexID("i"), IndexRange(wantsContent: true)) { _ in true }
    }
  }
}
