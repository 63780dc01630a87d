import Documents
import NIOConcurrencyHelpers
import Stores
import Testing

@testable import PostgresEngine

@Suite struct SharedCommitTests {
  @Test func updatesThatWaitShareTransactions() async throws {
    let fixture = try DatabaseFixture()
    try await fixture.withNode { node in
      let store = try await node.store()
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<200 { group.addTask { try await store.put("\(number)", "{}") } }
        try await group.waitForAll()
      }
      #expect(try await store.sequences() == Array(1...200))
      let commits = try fixture.execute("SELECT count(DISTINCT xmin::text) FROM documents")[0]
      #expect(commits < 100)
    }
  }

  @Test func updateThatCannotBeWrittenLeavesItsNeighboursAlone() async throws {
    let fixture = try DatabaseFixture()
    try await fixture.withNode { node in
      let store = try await node.store()
      try await store.put("old", "{}")
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<40 { group.addTask { try await store.put("\(number)", "{}") } }
        group.addTask {
          let id = try DocumentID("old")
          // The tree's winner, `1-z`, is not in the mutation and was never stored.
          var tree = RevisionTree()
          try tree.insert(try RevisionID("1-a"), below: nil, isDeleted: false)
          try tree.insert(try RevisionID("1-z"), below: nil, isDeleted: false)
          let mutation = Mutation(
            id: id, tree: tree, revision: try RevisionID("1-a"), body: .empty)
          let found = await code {
            try await store.update(loading: [id], at: Timestamp(milliseconds: 1)) { changes in
              changes.write(mutation)
            }
          }
          #expect(found == .integrity)
        }
        try await group.waitForAll()
      }
      #expect(try await store.sequences() == Array(1...41))
      #expect(try await store.body("old") == "{}")
    }
  }

  @Test func announcedDocumentsTakeOneRoundTripAndTheirWritesAnother() async throws {
    let fixture = try DatabaseFixture()
    try await fixture.withNode { node in
      let store = try await node.store()
      let ids = try (0..<20).map { try DocumentID("\($0)") }
      for id in ids.prefix(10) { try await store.put(id.text, "{}") }
      let connection = try fixture.address.connect()
      let name = try #require(try NameRow(StoreName.system.key, on: connection))
      for _ in 0..<2 {
        let before = connection.roundTrips
        let transaction = try WriteTransaction(
          on: connection, store: name.number, epoch: name.epoch, loading: Set(ids))
        #expect(connection.roundTrips == before + 1)
        var writer = StoreWriter(rows: transaction, header: transaction.current.header)
        let loaded = LoadedDocuments(Set(ids)) { id in try transaction.whole(id) }
        var changes = StoreChanges(
          of: PostgresView(
            source: transaction, now: Timestamp(milliseconds: 1), loaded: loaded,
            sizes: StoreSize(), work: nil))
        for id in ids {
          try changes.put(id, base: changes.view.document(id)?.revision, body: .empty)
        }
        try writer.write(changes, of: loaded, at: Timestamp(milliseconds: 1))
        transaction.current.header = writer.header
        #expect(connection.roundTrips == before + 1)
        try transaction.commit(at: 1)
        #expect(connection.roundTrips == before + 2)
      }
      #expect(try await store.sequences() == Array(31...50))
      let read = InlineRead(of: name.number, epoch: name.epoch)
      let view = PostgresView(
        source: read, now: Timestamp(milliseconds: 1),
        loaded: LoadedDocuments(read: read.document), sizes: StoreSize(), work: nil)
      #expect(throws: InlineRead.NeedsMore.self) { try view.document(ids[0]) }
      read.take(try connection.run([try #require(read.call)])[0])
      #expect(try view.document(ids[0])?.sequence == 31)
      #expect(try view.tree(ids[0])?.nodes.count == 3)
      #expect(!read.needsMore)
      #expect(throws: InlineRead.NeedsMore.self) { try view.document(ids[1]) }
      #expect(read.needsMore)
    }
  }

  @Test func whatTheLastUpdateAskedIsReadWithTheFirstStatements() async throws {
    let fixture = try DatabaseFixture()
    try await fixture.withNode { node in
      let store = try await node.store()
      try await store.put("a", #"{"type":"t"}"#)
      let connection = try fixture.address.connect()
      let name = try #require(try NameRow(StoreName.system.key, on: connection))
      var expected: Call?
      for trips in [1, 0] {
        let transaction = try WriteTransaction(
          on: connection, store: name.number, epoch: name.epoch, loading: [], expecting: expected)
        let loaded = LoadedDocuments([]) { id in try transaction.whole(id) }
        let view = PostgresView(
          source: transaction, now: Timestamp(milliseconds: 1), loaded: loaded, sizes: StoreSize(),
          work: nil)
        let before = connection.roundTrips
        #expect(try view.changes(ofType: "t", after: 0, limit: 9).map(\.id.text) == ["a"])
        #expect(connection.roundTrips == before + trips)
        expected = transaction.repeated
        var writer = StoreWriter(rows: transaction, header: transaction.current.header)
        var changes = StoreChanges(of: view)
        let body = try DocumentBody(parsing: Array(#"{"type":"t"}"#.utf8))
        try changes.put(DocumentID("b"), base: nil, body: body)
        try writer.write(changes, of: loaded, at: Timestamp(milliseconds: 1))
        #expect(try view.changes(ofType: "t", after: 0, limit: 9).map(\.id.text) == ["a", "b"])
        transaction.undo()
      }
    }
  }

  @Test func inlineQueryThatAsksForMoreSeesOneState() async throws {
    let fixture = try DatabaseFixture()
    try await fixture.withNode { node in
      let store = try await node.store()
      let ids = [try DocumentID("a"), try DocumentID("b")]
      try await store.update(loading: Set(ids), at: Timestamp(milliseconds: 1)) { changes in
        for id in ids { try changes.put(id, base: nil, body: .empty) }
      }
      let isDone = NIOLockedValueBox(false)
      let writer = Task {
        while !isDone.withLockedValue({ $0 }) {
          try await store.update(loading: Set(ids), at: Timestamp(milliseconds: 1)) { changes in
            for id in ids {
              let base = try changes.view.document(id)?.revision
              try changes.put(id, base: base, body: .empty)
            }
          }
        }
      }
      for _ in 0..<50 {
        let revisions = try await store.readInline { view in
          try ids.map { try view.document($0)?.revision.generation }
        }
        #expect(revisions[0] == revisions[1])
      }
      isDone.withLockedValue { $0 = true }
      try await writer.value
    }
  }
}
