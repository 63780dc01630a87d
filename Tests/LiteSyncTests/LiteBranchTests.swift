import CouchSync
import Documents
import Stores
import Testing

@testable import LiteSync

/// Which branches of a document end when a device writes it.
@Suite struct LiteBranchTests {
  private let maker = "dGhlIG1ha2VyIG9mIGl0IQ"

  /// Regression: what a device had merged stayed a conflict, and was the winner when the device deleted the document.
  @Test(arguments: [false, true])
  func aVersionEndsTheBranchesThatItHasSeen(isDeleted: Bool) async throws {
    let own = try #require(LiteVersion("10@\(maker)")).digest.text
    let branches = [["2-\(own)", "1-a"], ["3-cccccccccc", "2-b", "1-a"], ["2-d", "1-a"]]
    let store = try await store(of: branches)
    let error = try await push(
      [
        "rev": "20@\(maker)", "deleted": isDeleted ? "1" : "0",
        "history": "10@\(maker), 3cccccccccc@Revision+Tree+Encoding;",
      ], to: store)
    #expect(error == nil)
    let tree = try await tree(in: store)
    // The device has not seen the last branch.
    let live = tree.liveLeaves.map(\.revision)
    #expect(live.map(\.generation) == (isDeleted ? [2] : [4, 2]))
    #expect(live.last == (try RevisionID("2-d")))
    #expect(tree.leaves.map(\.isDeleted) == [false, isDeleted, true])
  }

  /// Regression: a device that has the older version saw a conflict.
  @Test func versionsThatDevicesGotFromEachOtherAreAncestors() async throws {
    let other = "YW5vdGhlciBtYWtlciBvZg"
    let store = try await store(of: [["1-aaaaaaaaaa"]])
    let base = "1aaaaaaaaaa@\(LiteVersion.treeMaker)"
    let sent = ["rev": "20@\(maker)", "history": "18@\(other), \(base), 15@\(maker)"]
    #expect(try await push(sent, to: store) == nil)
    let tree = try await tree(in: store)
    let winner = try #require(tree.winner?.revision)
    #expect(winner.generation == 3 && tree.leaves.count == 1)
    let vector = LiteRevision.text(LiteRevision.vector(of: winner, in: tree))
    #expect(vector == "20@\(maker); \(base), 18@\(other)")
    // It is known, and the next one of its maker follows.
    #expect(try await push(["rev": "18@\(other)"], to: store) == nil)
    let next = ["rev": "30@\(other)", "history": "20@\(maker)"]
    #expect(try await push(next, to: store) == nil)
    let newest = try await self.tree(in: store)
    #expect(newest.winner?.revision.generation == 4 && newest.leaves.count == 1)
  }

  /// A device that syncs with two servers may have to leave the branch of one of them.
  @Test func aDeviceMayEndTheBranchOfTheServer() async throws {
    let store = try await store(of: [["3-cccccccccc", "2-bbbbbbbbbb", "1-aaaaaaaaaa"]])
    let sent = ["rev": "2-dddddddddd", "history": "1-aaaaaaaaaa"]
    for ended in ["", "3-eeeeeeeeee,2-bbbbbbbbbb"] {
      let error = try await push(sent.merging(["deleted_branch": ended]) { $1 }, to: store)
      #expect(error == LiteError("HTTP", 409, "Document update conflict."))
    }
    let ended = ["deleted_branch": "4-eeeeeeeeee,3-cccccccccc"]
    #expect(try await push(sent.merging(ended) { $1 }, to: store) == nil)
    let tree = try await tree(in: store)
    #expect(tree.liveLeaves.map(\.revision.description) == ["2-dddddddddd"])
    #expect(tree.leaves.map(\.revision.generation) == [2, 4])
    // It is known now.
    #expect(try await push(sent, to: store) == nil)
    // It is no conflict where it would be one without the end of the other branch.
    let other = try await self.store(of: [["3-cccccccccc", "2-bbbbbbbbbb", "1-aaaaaaaaaa"]])
    let newer = sent.merging(["rev": "4-dddddddddd"].merging(ended) { $1 }) { $1 }
    #expect(try await push(newer, to: other, in: .vectors) == nil)
    let leaves = try await self.tree(in: other).liveLeaves.map(\.revision.description)
    #expect(leaves == ["4-dddddddddd"])
  }

  /// Regression: a device of version 4 compares such a revision, which it has from version 3, with the version of the winner.
  /// It took its own for newer, never read the winner, and got 409 for each edit.
  @Test(arguments: [
    ("2-cccccccccc", LiteForm.vectors, true), ("3-aaaaaaaaaa", .vectors, true),
    ("2-aaaaaaaaaa", .vectors, false), ("2-cccccccccc", .trees, false),
  ])
  func aRevisionOfVersion3IsKeptIfItsDeviceNeverTakesTheWinner(
    _ revision: String, _ form: LiteForm, isKept: Bool
  ) async throws {
    let store = try await store(of: [["2-bbbbbbbbbb", "1-aaaaaaaaaa"]])
    let row = Array(#"[["a","\#(revision)","1-aaaaaaaaaa"]]"#.utf8)
    var session = LiteSession(in: form, merges: { _ in false }, status: { _ in 409 })
    let proposal = LiteRequest("proposeChanges", body: row)
    let verdicts = try await session.answer([(1, proposal)], in: store).first?.reply.body
    #expect(verdicts == Array((isKept ? "[0]" : "[409]").utf8))
    for isDeleted in [true, false] {
      let sent = [
        "rev": revision, "history": "1-aaaaaaaaaa", "deleted": isDeleted ? "1" : "0",
      ]
      let error = try await push(sent, to: store, in: form)
      #expect((error == nil) == (isKept && !isDeleted))
    }
    let leaves = try await tree(in: store).leaves.map(\.revision.description)
    #expect(leaves.sorted() == (isKept ? ["2-bbbbbbbbbb", revision] : ["2-bbbbbbbbbb"]))
  }

  private func store(of branches: [[String]]) async throws -> Database {
    let store = try await Database()
    let document = try IncomingDocument(ParsedJSON(Array("{}".utf8), limits: .document).root)
    for branch in branches {
      let history = try branch.map { try RevisionID($0) }
      let write = try DocumentWrite(
        of: DocumentID("a"), document, isDeleted: false, limits: .standard
      ) { _, _ in DocumentWrite.Place(history) }
      _ = try await store.database.write([write])
    }
    return store
  }

  /// Sends a revision of the document.
  /// - Returns: the error that it is answered with.
  private func push(
    _ properties: [String: String], to store: Database, in form: LiteForm = .trees
  ) async throws -> LiteError? {
    var session = LiteSession(in: form, merges: { _ in false }, status: { _ in 409 })
    let request = LiteRequest("rev", properties.merging(["id": "a"]) { $1 })
    let answers = try await session.answer([(1, request)], in: store)
    return try #require(answers.first).reply.error
  }

  private func tree(in store: Database) async throws -> RevisionTree {
    try #require(
      try await store.database.store.read { view in try view.tree(DocumentID("a")) })
  }
}
