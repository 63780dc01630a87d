import Documents
import SQLite
import StoreTesting
import Stores
import TestSupport
import Testing

@testable import SQLiteEngine

/// F13: rows that differ from what was written.
@Suite struct RepairTests {
  private func row(content: [UInt8]) -> RowValues {
    var row = RowValues(
      kind: .local,
      values: [
        .text(Array("_local/a".utf8)), .integer(7), .optionalInteger(nil),
        .optionalInteger(1_700_000_000_000), .optionalText(nil), .optionalText(Array("é".utf8)),
      ], content: content, checksum: 0)
    row.checksum = sum(of: row)
    return row
  }

  /// The checksum of a row.
  private func sum(of row: RowValues) -> Int64 {
    var sum = Checksum(row.kind)
    for value in row.values {
      switch value {
      case .integer(let number): sum.append(number)
      case .optionalInteger(let number): sum.append(number)
      case .text(let bytes): sum.append(bytes: bytes)
      case .optionalText(let bytes): sum.append(optionalBytes: bytes)
      }
    }
    sum.content = row.content
    return sum.value
  }

  /// Repairing computes one wrong byte from the checksum.
  @Test func oneWrongByteIsComputedBackWhereverItIs() throws {
    let sound = row(content: Array(#"{"name":"Château","n":17}"#.utf8))
    for index in sound.content.indices {
      var damaged = sound
      damaged.content[index] ^= 0x5A
      #expect(damaged.repaired()?.content == sound.content)
      #expect(damaged.repaired(onlyContent: true)?.content == sound.content)
    }
    for wrong: RowValues.Value in [
      .integer(7 ^ 0x40), .integer(-121), .integer(0x0700_0000_0000 ^ 7),
    ] {
      var damaged = sound
      damaged.values[1] = wrong
      #expect(damaged.repaired()?.values == sound.values)
    }
    var damaged = sound
    damaged.values[0] = .text([0xFF] + Array("local/a".utf8))
    #expect(damaged.repaired()?.values == sound.values)
    damaged = sound
    damaged.checksum ^= 0x1100
    #expect(damaged.repaired()?.checksum == sound.checksum)
  }

  @Test func twoWrongBytesAreNotGuessedAt() {
    let sound = row(content: Array(#"{"name":"Inn"}"#.utf8))
    var damaged = sound
    damaged.content[2] ^= 1
    damaged.content[9] ^= 1
    #expect(damaged.repaired() == nil)
  }

  @Test func rowsTooLongToBeSearchedAreLeftAtOnce() {
    let sound = row(content: [UInt8](repeating: 0x61, count: 1 << 20))
    var damaged = sound
    damaged.content[9] ^= 1
    #expect(damaged.repaired() == nil)
  }

  @Test func aTreeIsKeptUpToTheNewestBodyOfEachBranch() throws {
    var tree = RevisionTree()
    let ids = try ["1-a", "2-b", "3-c", "3-d"].map { try RevisionID($0) }
    try tree.insert(ids[0], below: nil, isDeleted: false)
    try tree.insert(ids[1], below: ids[0], isDeleted: false)
    try tree.insert(ids[2], below: ids[1], isDeleted: false)
    try tree.insert(ids[3], below: ids[1], isDeleted: false)
    #expect(tree.keeping([ids[1], ids[2]]).leaves.map(\.revision) == [ids[2]])
    #expect(tree.keeping([ids[0]]).leaves.map(\.revision) == [ids[0]])
    #expect(tree.keeping([ids[2], ids[3]]) == tree)
    #expect(tree.keeping([]).nodes.isEmpty)
  }

  /// Repairing restores a revision's damaged arrival or drops it. The document's body does not change.
  @Test(arguments: [
    (RepairOutcome.Extent.everything, "documents", 1), (.everything, "bodies", 1),
    (.everything, "documents", 2), (.everything, "bodies", 2), (.withoutLoss, "documents", 2),
  ])
  func arrivalIsComputedBackOrUnknown(
    extent: RepairOutcome.Extent, table: String, wrong: Int
  ) async throws {
    let directory = try TemporaryDirectory()
    let engine = try await FileEngine.open(directory: directory.path, threads: 1)
    let storage = try await engine.store(user(1))
    let first = try await storage.put("note", #"{"n":1}"#, at: 7)
    let second = try await storage.put("note", #"{"n":2}"#, base: first, at: 8)
    await storage.close()
    let connection = try Connection(path: path(of: user(1), in: directory), mode: .readWrite)
    let isWinner = table == "documents"
    let select: StaticString =
      isWinner ? "SELECT arrival FROM documents" : "SELECT arrival FROM bodies"
    var bytes = try #require(try connection.statement(select).first { row in row.bytes(0) })
    #expect(bytes.count == 17)
    for index in 0..<wrong { bytes[9 + 3 * index] ^= 0x5A }
    let update: StaticString =
      isWinner ? "UPDATE documents SET arrival = ?1" : "UPDATE bodies SET arrival = ?1"
    try connection.statement(update).run(.bytes(bytes))
    try connection.close()

    let damaged = try await engine.store(user(1))
    let id = try DocumentID("note")
    let (revision, other) = isWinner ? (second, first) : (first, second)
    await #expect(throws: ServiceError.self) {
      try await damaged.read { view in try view.kept(id, revision) }
    }
    let outcome = try await damaged.repair(extent, at: Timestamp(milliseconds: 9), pause: .zero)
    #expect(outcome.lost.isEmpty)
    #expect(outcome.repaired == (wrong == 1 ? 1 : 0))
    #expect(outcome.dropped == (wrong == 2 && extent == .everything ? 1 : 0))
    #expect(outcome.left == (extent == .withoutLoss ? 1 : 0))
    #expect(try await damaged.body("note") == #"{"n":2}"#)
    let kept = try await damaged.read { view in try view.kept(id, other) }
    #expect(kept?.arrival?.time.milliseconds == (isWinner ? 7 : 8))
    if extent == .everything {
      let repaired = try #require(try await damaged.read { view in try view.kept(id, revision) })
      #expect(repaired.arrival?.time.milliseconds == (wrong == 2 ? nil : isWinner ? 8 : 7))
    }
    await damaged.close()
    await engine.close()
  }

  @Test func accountsAreOnlyComputedBack() async throws {
    let directory = try TemporaryDirectory()
    let engine = try await FileEngine.open(directory: directory.path, threads: 1)
    let storage = try await engine.store(.system)
    let first = try await storage.put("account", #"{"type":"user","epoch":1,"id":"first"}"#)
    try await storage.put("account", #"{"type":"user","epoch":2,"id":"second"}"#, base: first)
    await storage.close()
    let file = try path(of: .system, in: directory)
    let sound = try contents(file)
    let needle = Array(#""epoch":2"#.utf8)
    let index = try #require(
      sound.indices.dropLast(needle.count).last {
        sound[$0..<$0 + needle.count].elementsEqual(needle)
      })
    for wrong in 1...2 {
      var bytes = sound
      for offset in 0..<wrong { bytes[index + offset] ^= 1 }
      try write(bytes, to: file)
      let damaged = try await engine.store(.system)
      let outcome = try await damaged.repair(
        .withoutLoss, at: Timestamp(milliseconds: 9), pause: .zero)
      #expect(outcome.lost.isEmpty && outcome.dropped == 0)
      #expect((outcome.repaired, outcome.left) == (wrong == 1 ? (1, 0) : (0, 1)))
      await damaged.close()
    }
    await engine.close()
  }
}
