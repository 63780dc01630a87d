import Documents
import SQLite
import Scheduling
import StoreTesting
import Stores
import TestSupport
import Testing

@testable import SQLiteEngine

/// Long histories are stored in pieces. An edit reads none of them.
@Suite struct HistoriesTests {
  private static let id = DocumentID(stored: "often")
  private let name: StoreName

  init() throws { name = try user(1) }

  @Test(arguments: StorageConformance.longHistories)
  func conforms(to claim: StorageConformance.Claim) async throws {
    let directory = try TemporaryDirectory()
    try await StorageConformance { try await FileEngine.open(directory: directory.path) }
      .check(claim)
  }

  /// Edits the document a number of times; every tenth edit deletes it.
  private func edit(_ storage: any StoreStorage, _ times: Int) async throws {
    for number in 0..<times {
      let body = try DocumentBody(parsing: Array(#"{"n":\#(number)}"#.utf8))
      try await storage.update(loading: [Self.id], at: Timestamp(milliseconds: 1)) { changes in
        let base = try changes.view.newest(Self.id)?.winner
        try changes.put(
          Self.id, base: base?.isDeleted == true ? nil : base?.revision, body: body,
          isDeleted: number % 10 == 9)
      }
    }
  }

  /// Makes a directory with a closed store of one document that was edited a number of times.
  /// - Returns: the directory, and the document's history.
  private func filled(_ times: Int) async throws -> (TemporaryDirectory, RevisionTree) {
    let directory = try TemporaryDirectory()
    let engine = try await FileEngine.open(directory: directory.path, threads: 1)
    let storage = try await engine.store(name)
    try await edit(storage, times)
    let tree = try await tree(storage)
    await storage.close()
    await engine.close()
    return (directory, tree)
  }

  private func tree(_ storage: any StoreStorage) async throws -> RevisionTree {
    try #require(try await storage.read { view in try view.tree(Self.id) })
  }

  private func connect(_ directory: TemporaryDirectory) throws -> Connection {
    try Connection(path: path(of: name, in: directory), mode: .readWrite)
  }

  private func numbers(_ connection: Connection, _ sql: StaticString) throws -> [Int64] {
    try connection.statement(sql).all { row in row.int64(0) }
  }

  @Test func purgedDocumentLeavesNoPiece() async throws {
    let (directory, tree) = try await filled(200)
    #expect(tree.nodes.count == 200)
    let engine = try await FileEngine.open(directory: directory.path, threads: 1)
    let storage = try await engine.store(name)
    try await storage.update(loading: [Self.id], at: Timestamp(milliseconds: 2)) { changes in
      changes.purge(Purge(id: Self.id, tree: RevisionTree()))
    }
    await storage.close()
    let connection = try connect(directory)
    #expect(try numbers(connection, "SELECT count(*) FROM histories") == [0])
    try connection.close()
    await engine.close()
  }

  @Test func rowsAndPiecesStayShortHoweverOftenADocumentIsEdited() async throws {
    let (directory, tree) = try await filled(1_200)
    #expect(tree.nodes.count == 1_000)
    let connection = try connect(directory)
    #expect(try numbers(connection, "SELECT max(length(tree)) FROM documents")[0] < 1_200)
    #expect(try numbers(connection, "SELECT max(length(revisions)) FROM histories") == [544])
    let count = try numbers(connection, "SELECT count(*) FROM histories")[0]
    #expect((29...31).contains(count))
    #expect(try numbers(connection, "SELECT min(generation) FROM histories")[0] > 190)
    try connection.close()
  }

  /// Compares the stored pieces before and after each edit.
  @Test func anEditWritesNoPieceAndNoneIsWrittenTwice() throws {
    let connection = try Connection.inMemory()
    try Schema.store.create(in: connection)
    let rows = StoreRows(connection, as: try BlankDatabase(.store))
    var writer = StoreWriter(rows: rows, header: StoreHeader(key: "key", epoch: "epoch"))
    var written = 0
    for number in 0..<400 {
      let loaded = LoadedDocuments([Self.id], in: rows)
      let view = SQLiteView(
        rows: rows, header: writer.header, now: Timestamp(milliseconds: 1), slice: .endless,
        loaded: loaded)
      var changes = StoreChanges(of: view)
      let base = try view.newest(Self.id)?.winner?.revision
      try changes.put(
        Self.id, base: base, body: try DocumentBody(parsing: Array(#"{"n":\#(number)}"#.utf8)))
      let before = try rows.piecesAsFound()
      try writer.write(changes, of: loaded, at: Timestamp(milliseconds: 1))
      let after = try rows.piecesAsFound()
      #expect(after.prefix(before.count).map(\.stored.piece) == before.map(\.stored.piece))
      written += after.count - before.count
    }
    #expect(written == 400 / HistoryPiece.revisions - 1)
  }

  @Test func undoneTransactionLeavesNoPiece() async throws {
    let directory = try TemporaryDirectory()
    let engine = try await FileEngine.open(directory: directory.path, threads: 1)
    let storage = try #require(try await engine.store(name) as? SQLiteStorage)
    try await edit(storage, 64)
    let before = try await tree(storage)
    // The 65th revision makes a piece. On a full disk the engine tries to write it and rolls back.
    let id = Self.id
    let text = String(repeating: "x", count: 1_000)
    let body = try DocumentBody(parsing: Array(#"{"t":"\#(text)"}"#.utf8))
    let update = RuleUpdate(loading: [id], now: Timestamp(milliseconds: 1)) { changes in
      try changes.put(id, base: try changes.view.newest(id)?.winner?.revision, body: body)
    }
    await storage.file.run { file in file.commitOnFullDisk(update) }
    #expect(throws: ServiceError.self) { try update.outcome() }
    #expect(try await tree(storage) == before)
    try await edit(storage, 1)
    #expect(try await tree(storage).nodes.count == 65)
    await storage.close()
    await engine.close()
  }

  /// A copy of the files at any moment equals what a kill leaves.
  @Test func aKillBetweenTwoEditsLosesNeitherRowNorPiece() async throws {
    let directory = try TemporaryDirectory()
    let engine = try await FileEngine.open(directory: directory.path, threads: 1)
    let storage = try await engine.store(name)
    try await edit(storage, 60)
    for _ in 0..<40 {
      try await edit(storage, 1)
      let wanted = try await tree(storage)
      let copy = try directory.copy()
      let other = try await FileEngine.open(directory: copy.path, threads: 1)
      let copied = try #require(try await other.open(name, creating: false))
      #expect(try await tree(copied) == wanted)
      await copied.close()
      await other.close()
    }
    await storage.close()
    await engine.close()
  }

  /// How a piece is damaged, and how far repairing may go.
  private static let damages: [(String, RepairOutcome.Extent)] = [
    ("one byte", .everything), ("one byte", .withoutLoss), ("two bytes", .everything),
    ("two bytes", .withoutLoss), ("missing", .everything), ("missing", .withoutLoss),
    ("generation", .everything), ("checksum", .withoutLoss),
  ]

  private func damage(_ generation: Int64, _ kind: String, in directory: TemporaryDirectory) throws
  {
    let connection = try connect(directory)
    let found = try connection.statement(
      "SELECT revisions, checksum FROM histories WHERE generation = ?1"
    ).first(.integer(generation)) { row in (row.bytes(0), row.int64(1)) }
    var (bytes, checksum) = try #require(found)
    switch kind {
    case "missing":
      try connection.statement("DELETE FROM histories WHERE generation = ?1")
        .run(.integer(generation))
    case "generation":
      try connection.statement("UPDATE histories SET generation = ?1 WHERE generation = ?2")
        .run(.integer(generation + 1), .integer(generation))
    case "checksum": checksum ^= 0x20
    case "one byte": bytes[20] ^= 0x11
    default: (bytes[20], bytes[50]) = (bytes[20] ^ 0x11, bytes[50] ^ 0x40)
    }
    try connection.statement(
      "UPDATE histories SET revisions = ?1, checksum = ?2 WHERE generation = ?3"
    ).run(.bytes(bytes), .integer(checksum), .integer(generation))
    try connection.close()
  }

  @Test(arguments: damages)
  func damageOfEachPieceIsFoundNamedAndRepaired(
    kind: String, extent: RepairOutcome.Extent
  ) async throws {
    let (sound, tree) = try await filled(200)
    for generation: Int64 in [1, 64, 128] {
      let directory = try sound.copy()
      try damage(generation, kind, in: directory)
      let findings = Findings()
      _ = try DirectoryScrub().run(directory.path, findings.reporter)
      #expect(findings.all.contains { $0.reason.contains("change 200") }, "\(findings.all)")

      let engine = try await FileEngine.open(directory: directory.path, threads: 1)
      let storage = try await engine.store(name)
      await #expect(throws: ServiceError.self) { try await self.tree(storage) }
      // An edit that needs no old revision succeeds.
      try await edit(storage, 3)
      let outcome = try await storage.repair(extent, at: Timestamp(milliseconds: 9), pause: .zero)
      #expect(outcome.lost.isEmpty)
      let isRepairable = ["one byte", "generation", "checksum"].contains(kind)
      #expect(outcome.repaired == (isRepairable ? 1 : 0))
      #expect(outcome.dropped == (!isRepairable && extent == .everything ? 1 : 0))
      #expect(outcome.left == (!isRepairable && extent == .withoutLoss ? 1 : 0))
      if outcome.left == 0 {
        let repaired = try await self.tree(storage)
        let oldest = isRepairable ? 1 : generation / 32 * 32 + 32
        #expect(repaired.nodes.count == 204 - Int(oldest))
        #expect(
          Set(tree.nodes.dropFirst(Int(oldest) - 1).map(\.revision))
            .isSubset(of: repaired.nodes.map(\.revision)))
        try await edit(storage, 40)
        #expect(try await self.tree(storage).nodes.count == 244 - Int(oldest))
      }
      await storage.close()
      await engine.close()
      guard outcome.left == 0 else { continue }
      let left = Findings()
      _ = try DirectoryScrub().run(directory.path, left.reporter)
      #expect(left.all == [])
    }
  }

  @Test func piecesOfNoDocumentAreFound() async throws {
    let (directory, _) = try await filled(100)
    let connection = try connect(directory)
    try connection.execute(
      """
      INSERT INTO histories(first, generation, checksum, revisions)
      SELECT 999, generation, checksum, revisions FROM histories
      """)
    try connection.close()
    let findings = Findings()
    _ = try DirectoryScrub().run(directory.path, findings.reporter)
    #expect(findings.all.contains { $0.reason.contains("pieces of histories") })
  }
}
