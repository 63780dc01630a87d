import Documents
import StoreTesting
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
    ("UPDATE entries SET id = id || 'x'", .integrity),
    ("UPDATE indexes SET sequence = 9", .integrity),
    ("UPDATE stores SET live = 9 WHERE number > 0", .damaged),
    ("UPDATE stores SET is_erased = true WHERE number > 0", .damaged),
    ("UPDATE stores SET timelines = '2' WHERE number > 0", .damaged),
    ("UPDATE stores SET timelines = '' WHERE number > 0", .damaged),
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

  /// After a repair everything else is read, also by another node, and nothing is left to repair.
  @Test(arguments: cases.dropLast())
  func whatIsDamagedIsRepairedOrSetAsideAndAllElseIsRead(
    _ sql: String, _: ServiceError.Code
  ) async throws {
    let fixture = try DatabaseFixture()
    try await fixture.withNode { node in
      let store = try await filled(node)
      try await store.put("sound", #"{"kept":true}"#)
      try fixture.execute(sql)
      _ = try await node.repairRow(of: .system)
      let now = Timestamp(milliseconds: 5)
      _ = try await store.repair(.everything, at: now, pause: .zero)
      try await readAll(store)
      #expect(try await store.body("sound") == #"{"kept":true}"#)
      #expect(try await !node.repairRow(of: .system))
      #expect(try await store.repair(.everything, at: now, pause: .zero) == RepairOutcome())
      try await store.put("new", "{}")
      try await fixture.withNode { other in try await readAll(try await other.store()) }
    }
  }

  /// `repair` says so of the accounts, of which nothing is removed.
  @Test func whatCanNotBeRepairedWithoutLossIsCounted() async throws {
    let fixture = try DatabaseFixture()
    try await fixture.withNode { node in
      let store = try await filled(node)
      try fixture.execute("UPDATE locals SET body = 'nothing of it'")
      let now = Timestamp(milliseconds: 5)
      #expect(try await store.repair(.withoutLoss, at: now, pause: .zero).left > 0)
      try fixture.execute("UPDATE documents SET body = 'nothing of it' WHERE id = 'a'")
      #expect(try await store.repair(.withoutLoss, at: now, pause: .zero).left > 1)
    }
  }

  @Test func documentWhoseRowIsGoneIsCountedAsMissing() async throws {
    let fixture = try DatabaseFixture()
    try await fixture.withNode { node in
      let store = try await node.store()
      for id in ["a", "b", "c"] { try await store.put(id, "{}") }
      try fixture.execute("DELETE FROM documents WHERE id = 'b'")
      let now = Timestamp(milliseconds: 5)
      #expect(try await store.repair(.everything, at: now, pause: .zero).missing == 1)
      #expect(try await store.repair(.everything, at: now, pause: .zero) == RepairOutcome())
      // Beside other damage, which is no reason to say nothing of it.
      try fixture.execute("UPDATE documents SET updated = -5, created = 7 WHERE id = 'a'")
      try fixture.execute("DELETE FROM documents WHERE id = 'c'")
      let outcome = try await store.repair(.everything, at: now, pause: .zero)
      #expect(outcome.lost.count == 1 && outcome.missing == 1)
    }
  }

  @Test func oneWrongByteIsComputedBack() async throws {
    let fixture = try DatabaseFixture()
    try await fixture.withNode { node in
      let store = try await node.store()
      let first = try await store.put("a", #"{"n":1}"#)
      let second = try await store.put("a", #"{"n":3}"#, base: first)
      try await store.update(loading: [], at: Timestamp(milliseconds: 1)) { changes in
        changes.write(LocalEdit(LocalID(receipt: "x"), LocalDocument(revision: 1, body: [1])))
      }
      for sql in [
        "UPDATE documents SET body = set_byte(body, 3, 7)",
        "UPDATE documents SET tree = set_byte(tree, 3, 255)",
        "UPDATE documents SET id = 'b'", "UPDATE documents SET generation = 3",
        "UPDATE documents SET sequence = 18", "UPDATE documents SET checksum = checksum # 64",
        "UPDATE documents SET arrival = set_byte(arrival, 9, 7)",
        "UPDATE bodies SET body = set_byte(body, 3, 7)", "UPDATE bodies SET generation = 3",
        "UPDATE locals SET body = 'x'", "UPDATE locals SET revision = 9",
      ] {
        try fixture.execute(sql)
        let outcome = try await store.repair(
          .withoutLoss, at: Timestamp(milliseconds: 5), pause: .zero)
        #expect(outcome.repaired == 1 && outcome.lost.isEmpty, "\(sql)")
        #expect(outcome.dropped + outcome.left == 0, "\(sql)")
        #expect(try await store.body("a") == #"{"n":3}"#)
        try await store.read { view in
          let id = try DocumentID("a")
          #expect(try view.tree(id)?.winner?.revision == second)
          #expect(try view.body(id, first) == Array(#"{"n":1}"#.utf8))
          #expect(try view.kept(id, second)?.arrival != nil)
          #expect(try view.local(LocalID(receipt: "x"))?.body == [1])
        }
      }
    }
  }

  @Test func readerOfADamagedDocumentGetsAllElseAndTheOwnerIsTold() async throws {
    let fixture = try DatabaseFixture()
    try await fixture.withNode { node in
      let stores = DatabaseManager(
        engine: node, maximumOpen: 4, now: { Timestamp(milliseconds: 9) })
      let (name, id) = (try user(1), try DocumentID("1"))
      try await stores.withStore(name) { store in
        for number in 0..<3 {
          let body = try DocumentBody(parsing: Array(#"{"n":"long enough"}"#.utf8))
          try await store.put(try DocumentID("\(number)"), base: nil, body: body)
        }
      }
      try fixture.execute("UPDATE documents SET body = '{}' WHERE id = '1'")
      try await stores.withStore(name) { store in
        let changes = try await store.read { view in
          try view.changes(after: 0, limit: 9).map { change in
            try view.document(change.id).map { ($0.id.text, $0.isDeleted) }?.0 ?? "-"
          }
        }
        #expect(changes.contains("0") && changes.contains("2"))
        let damage = try await store.read { view in try view.damage() }
        #expect(damage.map(\.id) == [id.text])
      }
      #expect(node.knownDamage == 1)
      await stores.close()
    }
  }

  @Test func copyOfADamagedStoreHasAllThatIsSound() async throws {
    let fixture = try DatabaseFixture()
    try await fixture.withNode { node in
      let (name, store) = (try user(2), try await node.store(try user(2)))
      var base: RevisionID?
      for number in 0..<3 { base = try await store.put("a", "{\"n\":\(number)}", base: base) }
      for id in ["b", "c", "d"] { try await store.put(id, #"{"of":"\#(id)"}"#) }
      try await store.update(loading: [], at: Timestamp(milliseconds: 1)) { changes in
        for id in ["x", "y"] {
          changes.write(LocalEdit(LocalID(receipt: id), LocalDocument(revision: 1, body: [1])))
        }
      }
      try fixture.execute("UPDATE bodies SET body = 'x' WHERE generation = 1")
      try fixture.execute("UPDATE documents SET body = 'x' WHERE id = 'c'")
      try fixture.execute("UPDATE documents SET updated = -5, created = 7 WHERE id = 'd'")
      try fixture.execute("UPDATE locals SET body = 'xx' WHERE revision = 1 AND id LIKE '%x'")
      try fixture.execute("UPDATE stores SET live = 77 WHERE number > 0")
      let found = try #require(try await node.soundRowReader(of: name))
      #expect(found.damage.count == 5)
      var (ids, bodies, locals): ([String], Int, Int) = ([], 0, 0)
      var walk = try await RowWalk(over: found.reader)
      while let page = try await walk.next() {
        switch page {
        case .documents(let documents): ids += documents.map(\.row.id.text)
        case .bodies(let found): bodies += found.count
        case .locals(let found): locals += found.count
        }
      }
      await found.reader.close()
      #expect(ids == ["a", "b"] && bodies == 1 && locals == 1)
      #expect(walk.state.header.live == 2)
    }
  }

  @Test func damagedRowsHideNoOthers() async throws {
    let fixture = try DatabaseFixture()
    try await fixture.withNode { node in
      let store = try await node.store()
      _ = try await StorageConformance.requireReach(in: store) {
        try fixture.execute("UPDATE documents SET body = 'x' WHERE id = 'b'")
        try fixture.execute("UPDATE locals SET body = 'x' WHERE id LIKE '%/b'")
        return store
      }
      let other = try await node.store(try user(2))
      _ = try await StorageConformance.requireReplacement(in: other) {
        try fixture.execute(
          "UPDATE locals SET body = set_byte(body, 3, 7) WHERE id LIKE 'receipt/piece/%'")
        return other
      }
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
      try view.entries(IndexID("i"), IndexRange()) { _ in true }
    }
  }
}
