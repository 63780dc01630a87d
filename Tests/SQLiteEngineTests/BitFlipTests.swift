import Documents
import Foundation
import Scheduling
import StoreTesting
import Stores
import TestSupport
import Testing

@testable import SQLiteEngine

/// How many bits are flipped, one at a time: in the nightly run the 1,000 of FAULTS F13.
private let turns = repetitions(200, nightly: 1_000)

/// F13: whichever bit of a store's file is flipped, every answer is right or an error.
@Suite struct BitFlipTests {
  /// The results of all reads of a store, as text.
  private func answers(_ storage: any StoreStorage) async throws -> [String] {
    let local = try LocalID(client: "_local/checkpoint")
    return try await storage.read { view in
      var answers: [String] = ["\(try view.info())"]
      var ids: [DocumentID] = []
      try view.documents(DocumentRange(includesDeleted: true)) { document in
        ids.append(document.id)
        answers.append("\(document)")
        return true
      }
      for id in ids + [DocumentID(stored: "never")] {
        answers.append("\(String(describing: try view.document(id)))")
        let tree = try view.tree(id)
        answers.append("\(String(describing: tree))")
        for node in tree?.nodes ?? [] {
          answers.append("\(String(describing: try view.body(id, node.revision)))")
          answers.append("\(String(describing: try view.kept(id, node.revision)))")
        }
      }
      answers.append("\(try view.changes(after: 0, limit: 1_000))")
      answers.append("\(try view.ids(ofType: "hotel"))")
      answers.append("\(String(describing: try view.local(local)))")
      answers.append("\(try view.changes(upTo: 99, limit: 99)) \(try view.changeCount(after: 9))")
      answers.append(Self.indexes)
      for index in try view.indexes() {
        answers.append("\(index) \(String(describing: try view.indexedSequence(index)))")
        try view.entries(index, IndexRange(wantsContent: true)) { entry in
          answers.append("\(entry)")
          return true
        }
      }
      return answers
    }
  }

  /// The line that precedes the lines of query indexes.
  private static let indexes = "indexes"

  /// The answers of a store whose query indexes were dropped. A query builds its index again.
  private func withoutIndexes(_ answers: [String]) -> [String] {
    Array(answers.prefix { $0 != Self.indexes }) + [Self.indexes]
  }

  private func fill(_ storage: any StoreStorage) async throws {
    for number in 0..<24 {
      try await storage.put("document-\(number)", #"{"type":"hotel","n":\#(number)}"#)
    }
    var base: RevisionID?
    for number in 0..<6 { base = try await storage.put("edited", #"{"n":\#(number)}"#, base: base) }
    try await storage.graft("document-3", ["2-b", "1-a"], #"{"type":"hotel","other":true}"#)
    let local = try LocalID(client: "_local/checkpoint")
    try await storage.update(loading: [], at: Timestamp(milliseconds: 5)) {
      changes in
      let document = LocalDocument(revision: 1, body: Array(#"{"last_seq":4}"#.utf8))
      changes.write(LocalEdit(local, document, expires: Timestamp(milliseconds: 99)))
    }
    let entries = try (0..<24).map { number in
      IndexEntry(
        id: try DocumentID("document-\(number)"), key: [UInt8(number) / 5, 7],
        content: number % 4 == 0 ? nil : Array(#"{"n":\(number)}"#.utf8))
    }
    let gone = try DocumentID("document-23")
    try await storage.update(loading: [gone], at: Timestamp(milliseconds: 6)) {
      changes in
      changes.write(
        .advance(
          IndexID("by-number"), documents: entries.map(\.id), entries: entries, sequence: 31))
    }
    try await storage.update(loading: [gone], at: Timestamp(milliseconds: 7)) {
      changes in changes.purge(Purge(id: gone, tree: RevisionTree()))
    }
  }

  /// Makes and closes a store.
  /// - Returns: the file's path, its bytes, and the store's answers.
  private func filledStore(
    _ name: StoreName, of engine: FileEngine, in directory: TemporaryDirectory
  ) async throws -> (file: String, bytes: [UInt8], answers: [String]) {
    let made = try await engine.store(name)
    try await fill(made)
    let expected = try await answers(made)
    await made.close()
    let file = try path(of: name, in: directory)
    return (file, try contents(file), expected)
  }

  /// Whether an error tells the operator what is damaged: a document by the number of its change, because its id is
  /// private to its owner, and other things by their kind.
  private static func names(_ detail: String) -> Bool {
    ["of change ", "a local document ", "of an index "].contains { detail.contains($0) }
  }

  @Test(.bug(id: "F13")) func anyTurnedBitIsFoundOrHarmless() async throws {
    let directory = try TemporaryDirectory()
    let engine = try await FileEngine.open(directory: directory.path, threads: 1)
    let name = try user(1)
    let (file, sound, expected) = try await filledStore(name, of: engine, in: directory)

    // A local document with a changed id looks as if it had never existed. Its owner then compares everything again.
    let id = Array("_local/checkpoint".utf8)
    let ids = sound.indices.filter { sound[$0...].starts(with: id) }.map { $0..<$0 + id.count }
    let withoutLocal = expected.map { $0.contains("LocalDocument") ? "nil" : $0 }
    var generator = SeededGenerator(seed: 20_261_121)
    var found = 0
    for _ in 0..<turns {
      var bytes = sound
      let offset = Int.random(in: 0..<bytes.count, using: &generator)
      bytes[offset] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
      try write(bytes, to: file)
      do throws(any Error) {
        let storage = try #require(try await engine.open(name, creating: true))
        do throws(any Error) {
          let found = try await answers(storage)
          let expected = ids.contains { $0.contains(offset) } ? withoutLocal : expected
          #expect(found == expected || found == withoutIndexes(expected), "byte \(offset)")
        } catch let error as ServiceError {
          #expect([.damaged, .integrity].contains(error.code), "byte \(offset): \(error)")
          if error.code == .integrity {
            #expect(Self.names(error.detail), "byte \(offset): \(error)")
          }
          found += 1
        }
        await storage.close()
      } catch let error as ServiceError {
        #expect(ServiceError(error)?.code == .damaged, "byte \(offset): \(error)")
        found += 1
      }
    }
    #expect(found > turns / 40)
    await engine.close()
  }

  @Test(.bug(id: "F13")) func whateverByteTurnsNothingElseIsLostOrTheStoreStaysDamaged()
    async throws
  {
    let directory = try TemporaryDirectory()
    let engine = try await FileEngine.open(directory: directory.path, threads: 1)
    let name = try user(1)
    let (file, sound, expected) = try await filledStore(name, of: engine, in: directory)
    let blank = try BlankDatabase(.store)

    var generator = SeededGenerator(seed: 20_261_123)
    let threads = ThreadPool(name: "repair")
    var (repaired, refused) = (0, 0)
    for _ in 0..<turns / 2 {
      var bytes = sound
      let offset = Int.random(in: 0..<bytes.count, using: &generator)
      bytes[offset] ^= UInt8.random(in: 1...255, using: &generator)
      try write(bytes, to: file)
      let storage: any StoreStorage
      do {
        guard let opened = try await engine.open(name, creating: false) else { continue }
        storage = opened
      } catch {
        #expect(ServiceError(error)?.code == .damaged, "byte \(offset): \(error)")
        do { try await engine.replaceDamaged(name, by: .ownRows, on: threads) } catch {
          #expect(ServiceError(error)?.code == .damaged, "byte \(offset): \(error)")
          #expect(try contents(file) == bytes, "byte \(offset)")
          refused += 1
          continue
        }
        storage = try #require(try await engine.open(name, creating: false))
      }
      let now = Timestamp(milliseconds: 8)
      let outcome = try await storage.repair(.everything, at: now, pause: .zero)
      let found = try await answers(storage)
      if outcome.lost.isEmpty, outcome.dropped == 0 {
        #expect(found == expected || found == withoutIndexes(expected), "byte \(offset)")
      }
      let count = outcome.repaired + outcome.lost.count + outcome.dropped
      #expect(outcome.left == 0 && count < 3, "byte \(offset): \(outcome)")
      if outcome.hasChanged { repaired += 1 }
      await storage.close()
      let findings = Findings()
      _ = StoreScrub.run(
        DatabaseFile(
          directory: (file as NSString).deletingLastPathComponent,
          name: (file as NSString).lastPathComponent), of: .init(key: name.key), as: blank,
        name: "store", findings.reporter)
      #expect(findings.all == [], "byte \(offset)")
    }
    #expect(repaired > 0 && refused > 0)
    await threads.stop()
    await engine.close()
  }
}
