import CouchSync
import Documents
import StoreTesting
import Stores
import TestSupport
import Testing

struct ReplicationTests {
  /// Every document with its leaves, as `open_revs=all` answers: revisions, tombstones, histories, bodies.
  private func leaves(_ couch: Couch) async throws -> [String: String] {
    var all: [String: String] = [:]
    for row in try await couch.changes().values {
      let id = try #require(row["id"]?.string)
      let answer = try await couch.database.openRevisions(
        DocumentID(id), .all, DocumentQuery(query([("revs", "true")])))
      all[id] = answer.text
    }
    return all
  }

  /// One random write: a new document, an edit of any leaf, a deletion, or a new revision of a deleted document.
  private func write(_ couch: Couch, _ generator: inout SeededGenerator) async throws {
    let id = "doc\(Int.random(in: 0..<6, using: &generator))"
    let value = Int.random(in: 0..<1_000, using: &generator)
    let tree = try await couch.store.read { view in
      try view.tree(DocumentID(stored: id))
    }
    guard let leaf = tree?.leaves.randomElement(using: &generator) else {
      try await couch.put(id, #"{"v":\#(value)}"#)
      return
    }
    if Int.random(in: 0..<4, using: &generator) == 0, !leaf.isDeleted {
      try await couch.delete(id, rev: leaf.revision.description)
    } else {
      // A write to a deleted document needs no revision.
      let isGone = tree?.winner?.isDeleted ?? false
      try await couch.put(
        id, #"{"v":\#(value)}"#, rev: isGone ? nil : leaf.revision.description)
    }
  }

  @Test(arguments: 1...20)
  func storesThatReplicateBothWaysEndWithEqualLeaves(seed: Int) async throws {
    var generator = SeededGenerator(seed: UInt64(seed))
    let (first, second) = (try await Couch(), try await Couch())
    for _ in 0..<4 {
      for _ in 0..<Int.random(in: 0..<15, using: &generator) { try await write(first, &generator) }
      for _ in 0..<Int.random(in: 0..<15, using: &generator) { try await write(second, &generator) }
      if Bool.random(using: &generator) {
        _ = try await Replicator(from: first, to: second, id: "there").run()
      }
    }
    _ = try await Replicator(from: first, to: second, id: "there").run()
    _ = try await Replicator(from: second, to: first, id: "back").run()
    let (ours, theirs) = (try await leaves(first), try await leaves(second))
    #expect(ours == theirs)
    #expect(!ours.isEmpty)
    let again = try await Replicator(from: first, to: second, id: "there").run()
    #expect(again == 0)
    for id in ours.keys {
      let winners = [try? await first.get(id).text, try? await second.get(id).text]
      #expect(winners[0] == winners[1])
    }
  }

  @Test func interruptedReplicationGoesOnFromItsCheckpoint() async throws {
    let (source, target) = (try await Couch(), try await Couch())
    for number in 0..<20 { try await source.put("a\(number)") }
    #expect(try await Replicator(from: source, to: target, id: "r", batch: 3).run() == 20)
    try await source.put("new")
    #expect(try await Replicator(from: source, to: target, id: "r", batch: 3).run() == 1)
  }

  @Test func checkpointOfALostStoreStartsOverAndSendsNothingTwice() async throws {
    let (source, target) = (try await Couch(), try await Couch())
    try await source.put("a")
    _ = try await Replicator(from: source, to: target, id: "r").run()
    let replacement = try await Couch()
    try await replacement.put("a")
    try await replacement.put("b")
    let stale = try await source.database.changes(ChangesQuery(query([]))).last.text
    let page = try await replacement.changes(("since", stale))
    #expect(page.isRewound)
    #expect(page.ids == "a b")
    #expect(try await Replicator(from: replacement, to: target, id: "s").run() == 1)
  }

  @Test func conflictsResolvedOnOneSideAreResolvedOnTheOther() async throws {
    let (first, second) = (try await Couch(), try await Couch())
    try await first.put("a", #"{"v":1}"#)
    try await second.put("a", #"{"v":2}"#)
    _ = try await Replicator(from: first, to: second, id: "there").run()
    _ = try await Replicator(from: second, to: first, id: "back").run()
    let answer = try await first.get("a", ("conflicts", "true"))
    let loser = try #require(answer.json["_conflicts"]?.array?.first?.string)
    try await first.delete("a", rev: loser)
    _ = try await Replicator(from: first, to: second, id: "there").run()
    #expect(try await second.get("a", ("conflicts", "true")).json["_conflicts"] == nil)
    #expect(try await second.get("a").text == (try await first.get("a").text))
  }
}
