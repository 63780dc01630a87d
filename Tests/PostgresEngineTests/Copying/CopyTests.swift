import Documents
import Foundation
import PostgresEngine
import SQLite
import SQLiteEngine
import Stores
import TestSupport
import Testing

/// Copies of stores from one engine to another.
@Suite struct CopyTests {
  private let name: StoreName

  init() throws { name = try user(1) }

  @Test func storeIsTheSameAfterTheWayThereAndBack() async throws {
    let (origin, last) = (try TemporaryDirectory(), try TemporaryDirectory())
    let fixture = try DatabaseFixture()
    try await withEngine(origin) { engine in
      try await FullStore.fill(name, in: engine)
      let told = try await FullStore.told(name, by: engine)
      #expect(told.count > 2_000)
      try await fixture.withNode { node in
        let outcome = try await StoreTransfer(from: engine, to: node).copy(name)
        guard case .copied = outcome else { throw ServiceError.absent }
        #expect(try await FullStore.told(name, by: node) == told)
        #expect(try await digest(of: name, in: node) == digest(of: name, in: engine))
        try await withEngine(last) { copy in
          _ = try await StoreTransfer(from: node, to: copy).copy(name)
          #expect(try await FullStore.told(name, by: copy) == told)
          #expect(try await digest(of: name, in: copy) == digest(of: name, in: engine))
        }
      }
    }
    for directory in [origin, last] {
      #expect(try dump("SELECT quote(count(*) > 25) FROM histories", directory) == ["1"])
    }
    for query in Self.tables { #expect(try dump(query, origin) == dump(query, last)) }
  }

  /// The rows of the tables without the numbers that only one file has. Pieces of histories are not compared, because the
  /// first piece of a file may begin with revisions that are forgotten; the trees are compared above.
  private static let tables: [StaticString] = [
    """
    SELECT quote(store) || quote(epoch) || last_sequence || '/' || live || '/' || deleted || '/'
      || bytes || '/' || newest || '/' || kept || '/' || checksum FROM header
    """,
    """
    SELECT sequence || quote(id) || first || '/' || generation || quote(digest) || is_deleted
      || quote(type) || created || '/' || updated || quote(body_checksum) || quote(tree_checksum)
      || quote(checksum) || hex(substr(body, 1, 99)) || quote(tree) || quote(arrival)
    FROM documents ORDER BY sequence
    """,
    """
    SELECT first || '/' || generation || quote(digest) || quote(body_checksum)
      || hex(substr(body, 1, 99)) || quote(arrival)
    FROM bodies ORDER BY first, generation, digest
    """,
    "SELECT quote(id) || revision || quote(expires) || quote(checksum) || hex(body) FROM locals ORDER BY id",
  ]

  @Test func copyThatWasInterruptedIsNeverSeenAndIsReplaced() async throws {
    let (directory, fixture) = (try TemporaryDirectory(), try DatabaseFixture())
    try await withEngine(directory) { engine in
      try await fixture.withNode { node in
        for (source, target) in [
          (engine as any CopyingEngine, node as any CopyingEngine), (node, engine),
        ] {
          let name = try user(source is FileEngine ? 1 : 2)
          let store = try await source.store(name)
          for number in 0..<9 { try await store.put("d\(number)", #"{"n":1}"#) }
          await store.close()
          let reader = try #require(try await source.rowReader(of: name))
          var walk = try await RowWalk(over: reader)
          let writer = try await target.rowWriter(of: name, epoch: walk.state.header.epoch)
          try await writer.write(try #require(try await walk.next()))
          await reader.close()
          #expect(try await target.open(name, creating: false) == nil)
          let transfer = StoreTransfer(from: source, to: target)
          #expect(try await transfer.copy(name) == .copied(documents: 9, bytes: 63))
          #expect(try await transfer.copy(name) == .alreadyThere)
          try await target.removeUnfinishedCopies()
          #expect(try await digest(of: name, in: source) == digest(of: name, in: target))
          #expect(try await transfer.copy(try user(9)) == .absent)
        }
      }
      #expect(!directory.names.contains("copies"))
      #expect(try fixture.execute("SELECT count(*) FROM names") == [2])
    }
  }

  /// The last step of a publication, which forgets the copy's old name, fails. Both names have one store then.
  @Test func publishedCopyKeepsItsRowsWhenItsOldNameWasNotForgotten() async throws {
    let (directory, fixture) = (try TemporaryDirectory(), try DatabaseFixture())
    try await withEngine(directory) { engine in
      try await fixture.withNode { node in
        try fixture.execute(
          """
          CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE disk_full; END'
          """)
        try fixture.execute(
          """
          CREATE TRIGGER refuse BEFORE UPDATE ON names FOR EACH ROW
          WHEN (NEW.state = 2 AND NEW.key > 'staged' AND NEW.key < 'stagee') EXECUTE FUNCTION refuse()
          """)
        try await put("a", in: engine)
        let transfer = StoreTransfer(from: engine, to: node)
        #expect(await code { _ = try await transfer.copy(name) } != nil)
        try fixture.execute("DROP TRIGGER refuse ON names")
        #expect(try fixture.execute("SELECT count(DISTINCT number) FROM names") == [1])
        try await node.removeUnfinishedCopies()
        #expect(try await transfer.copy(name) == .alreadyThere)
        #expect(try await digest(of: name, in: engine) == digest(of: name, in: node))
        #expect(try fixture.execute("SELECT count(*) FROM names") == [1])
      }
    }
  }

  /// A row of a copy that was interrupted is damaged. It hinders no later copy, and nothing of it stays.
  @Test(arguments: [
    "UPDATE names SET number = number + 1", "UPDATE names SET state = 7",
    "UPDATE names SET epoch = '\\xff'", "UPDATE stores SET live = 9",
  ])
  func damagedRowOfAnUnfinishedCopyHindersNoOther(_ sql: String) async throws {
    let (directory, fixture) = (try TemporaryDirectory(), try DatabaseFixture())
    try await withEngine(directory) { engine in
      try await fixture.withNode { node in
        try await put("a", in: engine)
        for isSameStore in [true, false] {
          let other = isSameStore ? name : try user(9)
          let writer = try await node.rowWriter(of: other, epoch: StoreHeader.freshEpoch())
          let reader = try #require(try await engine.rowReader(of: name))
          var walk = try await RowWalk(over: reader)
          try await writer.write(try #require(try await walk.next()))
          await reader.close()
          let isStaged =
            sql.contains("names") ? "key > 'staged' AND key < 'stagee'" : "key LIKE 'staged%'"
          try fixture.execute(sql + " WHERE " + isStaged)
          if !isSameStore { try await node.removeUnfinishedCopies() }
          _ = try await StoreTransfer(from: engine, to: node).copy(name)
          #expect(try await digest(of: name, in: engine) == digest(of: name, in: node))
        }
        #expect(try fixture.execute("SELECT count(*) FROM names WHERE state <> 2") == [1])
        #expect(try fixture.execute("SELECT count(DISTINCT store) FROM documents") == [1])
      }
    }
  }

  @Test func earlierCopyIsReplacedAndALaterStateIsNot() async throws {
    let (directory, fixture) = (try TemporaryDirectory(), try DatabaseFixture())
    try await withEngine(directory) { engine in
      try await fixture.withNode { node in
        let there = StoreTransfer(from: engine, to: node)
        let back = StoreTransfer(from: node, to: engine)
        try await put("a", in: engine)
        _ = try await there.copy(name)
        try await put("b", in: engine)
        #expect(try await there.copy(name) == .copied(documents: 2, bytes: 14))
        try await put("c", in: node)
        #expect(await code { _ = try await there.copy(name) } == .exists)
        #expect(try await back.copy(name) == .copied(documents: 3, bytes: 21))
        _ = try await node.erase(name)
        try await put("d", in: node)
        #expect(try await back.copy(name) == .copied(documents: 1, bytes: 7))
        #expect(try await digest(of: name, in: node) == digest(of: name, in: engine))
      }
    }
  }

  /// A local document changes without a sequence number: a checkpoint, or the answer to an idempotency key.
  @Test func copyWithoutTheLatestLocalDocumentIsReplaced() async throws {
    let (directory, fixture) = (try TemporaryDirectory(), try DatabaseFixture())
    try await withEngine(directory) { engine in
      try await fixture.withNode { node in
        let transfer = StoreTransfer(from: engine, to: node)
        try await put("a", in: engine)
        _ = try await transfer.copy(name)
        #expect(try await transfer.copy(name) == .alreadyThere)
        let store = try await engine.store(name)
        try await store.update(loading: [], at: Timestamp(milliseconds: 1)) { changes in
          changes.write(LocalEdit(LocalID(receipt: "x"), LocalDocument(revision: 1, body: [1])))
        }
        await store.close()
        #expect(try await transfer.copy(name) == .copied(documents: 1, bytes: 7))
        #expect(try await digest(of: name, in: engine) == digest(of: name, in: node))
      }
    }
  }

  @Test func damagedStoreIsNotCopied() async throws {
    let (directory, fixture) = (try TemporaryDirectory(), try DatabaseFixture())
    try await withEngine(directory) { engine in
      try await fixture.withNode { node in
        for (number, sql) in [
          "UPDATE documents SET body = '{}' WHERE id = 'a'", "DELETE FROM bodies",
          "UPDATE documents SET arrival = set_byte(arrival, 9, 7)",
          "UPDATE locals SET revision = 7",
          "DELETE FROM documents WHERE id = 'b'", "UPDATE bodies SET digest = '\\x7a7a'",
        ].enumerated() {
          let name = try user(number)
          let store = try await node.store(name)
          let first = try await store.put("a", #"{"n":1}"#)
          try await store.put("a", #"{"n":2}"#, base: first)
          try await store.put("b", #"{"n":3}"#)
          try await store.graft("b", generation: 1, #"{"n":4}"#)
          try await store.update(loading: [], at: Timestamp(milliseconds: 1)) { changes in
            changes.write(LocalEdit(LocalID(receipt: "x"), LocalDocument(revision: 1, body: [1])))
          }
          try fixture.execute(sql)
          let found = await code { _ = try await StoreTransfer(from: node, to: engine).copy(name) }
          #expect(found == .integrity || found == .damaged, "\(sql)")
          #expect(try await engine.open(name, creating: false) == nil)
          _ = try await node.erase(name)
        }
      }
    }
  }

  @Test func markOfADatabaseIsNoStore() async throws {
    let fixture = try DatabaseFixture()
    try await fixture.withNode { node in
      #expect(try await node.moveMark() == nil)
      for kind in [MoveMark.Kind.unfinished, .moved, .moved] {
        let mark = MoveMark(kind, detail: "somewhere")
        try await node.setMoveMark(mark)
        #expect(try await node.moveMark() == mark)
      }
      for namespace in StoreName.namespaces + [StoreName.stagedNamespace] {
        #expect(try await node.names(in: namespace, after: nil, limit: 9).isEmpty)
      }
      try await node.setMoveMark(nil)
      #expect(try await node.moveMark() == nil)
      #expect(try fixture.execute("SELECT count(*) FROM names") == [0])
    }
  }

  /// The pages of a reader for stores in use are of one state.
  @Test func writesDuringACopyAreNotInItsPages() async throws {
    let fixture = try DatabaseFixture()
    try await fixture.withNode { node in
      let store = try await node.store(name)
      for number in 0..<9 { try await store.put("d\(number)", #"{"n":1}"#) }
      let reader = try #require(try await node.rowReader(of: name, whileUsed: true))
      var walk = try await RowWalk(over: reader)
      let first = try await walk.next()
      try await store.put("d9", #"{"n":2}"#)
      guard case .documents(let documents)? = first else { throw ServiceError.absent }
      #expect(documents.count == 9)
      _ = try await walk.run()
      await reader.close()
      var alone = try await RowWalk(over: try #require(try await node.rowReader(of: name)))
      _ = try await alone.next()
      try await store.put("d10", #"{"n":2}"#)
      #expect(await code { _ = try await alone.run() } == .unavailable)
    }
  }

  /// The database loses local documents, which no count covers. Only the digest of all rows tells.
  @Test func copyThatDiffersFromTheOriginalGetsNoName() async throws {
    let (directory, fixture) = (try TemporaryDirectory(), try DatabaseFixture())
    try await withEngine(directory) { engine in
      try await fixture.withNode { node in
        try fixture.execute(
          """
          CREATE FUNCTION lose() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END'
          """)
        try fixture.execute(
          "CREATE TRIGGER lose BEFORE INSERT ON locals FOR EACH ROW EXECUTE FUNCTION lose()")
        let store = try await engine.store(name)
        try await store.put("a", #"{"n":1}"#)
        try await store.update(loading: [], at: Timestamp(milliseconds: 1)) { changes in
          changes.write(LocalEdit(LocalID(receipt: "x"), LocalDocument(revision: 1, body: [1])))
        }
        await store.close()
        let transfer = StoreTransfer(from: engine, to: node)
        #expect(await code { _ = try await transfer.copy(name) } == .storage)
        #expect(try await node.open(name, creating: false) == nil)
        #expect(try fixture.execute("SELECT count(*) FROM documents") == [0])
        try fixture.execute("DROP TRIGGER lose ON locals")
        #expect(try await transfer.copy(name) == .copied(documents: 1, bytes: 7))
      }
    }
  }

  @Test func indexesOfACopyAreBuiltAgain() async throws {
    let (directory, fixture) = (try TemporaryDirectory(), try DatabaseFixture())
    try await withEngine(directory) { engine in
      try await fixture.withNode { node in
        let index = IndexID("i")
        try await put("a", in: engine)
        let store = try await engine.store(name)
        try await store.update(loading: [], at: Timestamp(milliseconds: 1)) { changes in
          changes.write(IndexEdit.advance(index, documents: [], entries: [], sequence: 1))
        }
        await store.close()
        _ = try await StoreTransfer(from: engine, to: node).copy(name)
        let copy = try await node.store(name)
        #expect(try await copy.read { view in try view.indexedSequence(index) } == nil)
        #expect(try await copy.read { view in try view.indexes() }.isEmpty)
      }
    }
  }
}

extension CopyTests {
  private func put(_ id: String, in engine: any StorageEngine) async throws {
    let store = try await engine.store(name)
    try await store.put(id, #"{"n":1}"#)
    await store.close()
  }

  private func digest(of name: StoreName, in engine: any CopyingEngine) async throws -> String {
    let reader = try #require(try await engine.rowReader(of: name))
    var walk = try await RowWalk(over: reader)
    let digest = try await walk.run()
    await reader.close()
    return digest
  }

  private func dump(_ query: StaticString, _ directory: TemporaryDirectory) throws -> [String] {
    let files = try FileManager.default.subpathsOfDirectory(atPath: directory.path)
    let file = try #require(
      files.first { $0.hasPrefix("stores/") && $0.hasSuffix(".sqlite") })
    let connection = try Connection(path: directory.file(file), mode: .readOnly)
    let lines = try connection.statement(query).all { row in try row.string(0) }
    try connection.close()
    return lines
  }
}

/// Opens a data directory and closes it after use.
private func withEngine(
  _ directory: TemporaryDirectory, _ use: (FileEngine) async throws -> Void
) async throws {
  let engine = try await FileEngine.open(directory: directory.path, threads: 2)
  do { try await use(engine) } catch {
    await engine.close()
    throw error
  }
  await engine.close()
}

extension StoreStorage {
  /// Adds a revision without a known parent.
  fileprivate func graft(_ text: String, generation: Int, _ body: String) async throws {
    let id = try DocumentID(text)
    let body = try DocumentBody(parsing: Array(body.utf8))
    let revision = RevisionID(generation: generation, digest: Hex.string(0, 7))
    try await update(loading: [id], at: Timestamp(milliseconds: 1)) { changes in
      changes.write(
        try Edit.insert(
          id, in: try changes.view.tree(id), history: [revision], body: body, isDeleted: false,
          known: nil))
    }
  }
}
