import Documents
import StoreTesting
import Stores
import Testing

@testable import PostgresEngine

/// Long histories are stored in pieces. An edit reads none of them.
@Suite struct HistoriesTests {
  private let ids = (0..<30).map { DocumentID(stored: "often\($0)") }

  /// Edits documents a number of times; one update edits all of them.
  private func edit(_ store: any StoreStorage, _ ids: [DocumentID], _ times: Int) async throws {
    for number in 0..<times {
      let body = try DocumentBody(parsing: Array(#"{"n":\#(number)}"#.utf8))
      try await store.update(loading: Set(ids), at: Timestamp(milliseconds: 1)) { changes in
        for id in ids {
          let base = try changes.view.newest(id)?.winner?.revision
          try changes.put(id, base: base, body: body)
        }
      }
    }
  }

  @Test func rowsAndPiecesStayShortHoweverOftenADocumentIsEdited() async throws {
    let fixture = try DatabaseFixture()
    try await fixture.withNode { node in
      try await edit(try await node.store(), [ids[0]], 1_200)
      #expect(try fixture.execute("SELECT max(length(tree))::int8 FROM documents")[0] < 1_200)
      #expect(try fixture.execute("SELECT max(length(revisions))::int8 FROM histories") == [544])
      #expect((29...31).contains(try fixture.execute("SELECT count(*) FROM histories")[0]))
      #expect(try fixture.execute("SELECT min(generation) FROM histories")[0] > 190)
    }
  }

  @Test func anEditTakesTwoRoundTripsAndTheWholeHistoriesOfManyDocumentsOneMore() async throws {
    let fixture = try DatabaseFixture()
    try await fixture.withNode { node in
      try await edit(try await node.store(), ids, 100)
      let connection = try fixture.address.connect()
      let name = try #require(try NameRow(StoreName.system.key, on: connection))
      for readsAll in [false, true] {
        let before = connection.roundTrips
        let transaction = try WriteTransaction(
          on: connection, store: name.number, epoch: name.epoch, loading: Set(ids))
        var writer = StoreWriter(rows: transaction, header: transaction.current.header)
        let loaded = LoadedDocuments(Set(ids)) { id in try transaction.whole(id) }
        let view = PostgresView(
          source: transaction, now: Timestamp(milliseconds: 1), loaded: loaded, sizes: StoreSize(),
          work: nil)
        var changes = StoreChanges(of: view)
        for id in ids {
          #expect(try view.newest(id)?.nodes.count ?? 0 < 70)
          if readsAll { #expect(try view.tree(id)?.nodes.count == 101) }
          try changes.put(id, base: view.newest(id)?.winner?.revision, body: .empty)
        }
        try writer.write(changes, of: loaded, at: Timestamp(milliseconds: 1))
        transaction.current.header = writer.header
        try transaction.commit(at: 1)
        #expect(connection.roundTrips == before + (readsAll ? 3 : 2))
      }
      // A read of the whole history outside of an update.
      let read = InlineRead(of: name.number, epoch: name.epoch)
      let view = PostgresView(
        source: read, now: Timestamp(milliseconds: 1),
        loaded: LoadedDocuments(read: read.document), sizes: StoreSize(), work: nil)
      #expect(throws: InlineRead.NeedsMore.self) { try view.newest(ids[0]) }
      read.take(try connection.run([try #require(read.call)])[0])
      #expect(try view.newest(ids[0])?.winner?.revision.generation == 102)
      #expect(throws: InlineRead.NeedsMore.self) { try view.tree(ids[0]) }
      let whole = try await node.store().read { view in try view.tree(ids[0]) }
      #expect(whole?.nodes.count == 102)
    }
  }
}
