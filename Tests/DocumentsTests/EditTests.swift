import Documents
import Testing

@Suite struct EditTests {
  private let id = DocumentID(stored: "a")

  @Test func putCreatesADocument() throws {
    let body = try DocumentBody.text(#"{"x":1}"#)
    let mutation = try Edit.put(id, in: nil, base: nil, body: body)
    #expect(mutation.id == id)
    #expect(mutation.body == body)
    #expect(mutation.revision == body.revision(below: nil, isDeleted: false))
    #expect(mutation.revision.generation == 1)
    #expect(TreeDrawing.draw(mutation.tree) == "\(mutation.revision)*")
  }

  @Test func putGoesOnFromALeaf() throws {
    let tree = try TreeDrawing.tree("1-a(2-b 2-c)")
    let mutation = try Edit.put(id, in: tree, base: RevisionID("2-b"), body: .empty)
    #expect(mutation.revision.generation == 3)
    #expect(TreeDrawing.draw(mutation.tree) == "1-a(2-b(\(mutation.revision)*) 2-c)")
  }

  @Test(arguments: [nil, "1-a", "1-z", "2-z", "3-b"] as [String?])
  func putWithStaleRevisionIsConflict(_ base: String?) throws {
    let tree = try TreeDrawing.tree("1-a(2-b)")
    #expect(throws: DocumentError.conflict) {
      try Edit.put(id, in: tree, base: base.map { try RevisionID($0) }, body: .empty)
    }
  }

  @Test func putWithARevisionOfAnAbsentDocumentIsConflict() {
    #expect(throws: DocumentError.conflict) {
      try Edit.put(id, in: nil, base: RevisionID("1-a"), body: .empty)
    }
  }

  @Test func putWithoutRevisionBringsATombstoneBack() throws {
    let tree = try TreeDrawing.tree("1-a(2-b†)")
    let mutation = try Edit.put(id, in: tree, base: nil, body: .empty)
    #expect(mutation.revision.generation == 3)
    #expect(TreeDrawing.draw(mutation.tree) == "1-a(2-b†(\(mutation.revision)*))")
    let named = try Edit.put(id, in: tree, base: RevisionID("2-b"), body: .empty)
    #expect(named.tree == mutation.tree)
  }

  @Test func putPrunesToItsLimit() throws {
    var (tree, base) = (RevisionTree?.none, RevisionID?.none)
    for number in 0..<10 {
      let body = try DocumentBody.text("{\"n\":\(number)}")
      let mutation = try Edit.put(
        id, in: tree, base: base, body: body, limit: HistoryLimits(revisions: 4))
      (tree, base) = (mutation.tree, mutation.revision)
    }
    #expect(tree?.nodes.map(\.revision.generation) == [7, 8, 9, 10])
  }

  @Test func putBeyondTheLastGenerationIsRefused() throws {
    let tree = try TreeDrawing.tree("9007199254740992-a")
    #expect(
      code { try Edit.put(id, in: tree, base: tree.winner?.revision, body: .empty) }
        == .invalidRevision)
  }

  @Test func deletePutsATombstone() throws {
    let tree = try TreeDrawing.tree("1-a(2-b 2-c)")
    let mutation = try Edit.delete(id, in: tree, base: RevisionID("2-c"))
    #expect(mutation.body == .empty)
    #expect(TreeDrawing.draw(mutation.tree) == "1-a(2-b* 2-c(\(mutation.revision)†))")
  }

  @Test(
    arguments: [
      (nil, "1-a", DocumentError.Code.missing),
      ("", "1-a", .missing),
      ("1-a(2-b)", nil, .conflict),
      ("1-a(2-b)", "1-a", .conflict),
      ("1-a(2-b)", "9-z", .conflict),
      ("1-a(2-b†)", nil, .deleted),
      ("1-a(2-b†)", "2-b", .deleted),
      ("1-a(2-b†)", "1-a", .deleted),
    ] as [(String?, String?, DocumentError.Code)])
  func deleteIsRefused(
    _ drawing: String?, _ base: String?, _ wanted: DocumentError.Code
  ) throws {
    let tree = try drawing.map { try TreeDrawing.tree($0) }
    let base = try base.map { try RevisionID($0) }
    #expect(code { try Edit.delete(id, in: tree, base: base) } == wanted)
  }

  @Test func insertNeverConflicts() throws {
    let tree = try TreeDrawing.tree("1-a(2-b)")
    let mutation = try Edit.insert(
      id, in: tree, history: RevisionID.list("2-c 1-a"), body: .empty, isDeleted: false, known: nil)
    #expect(mutation.map { TreeDrawing.draw($0.tree) } == "1-a(2-b 2-c*)")
    #expect(try mutation?.revision == RevisionID("2-c"))
  }

  @Test func insertAgainIsNoMutation() throws {
    let tree = try TreeDrawing.tree("1-a(2-b)")
    let body = try DocumentBody.text(#"{"x":1,"y":2}"#)
    let same = try DocumentBody.text(#"{ "y":2, "x":1 }"#)
    for known in [nil, body, same] {
      let mutation = try Edit.insert(
        id, in: tree, history: RevisionID.list("2-b 1-a"), body: body, isDeleted: false,
        known: known)
      #expect(mutation == nil)
    }
    #expect(
      try Edit.insert(id, in: tree, history: [], body: body, isDeleted: false, known: nil) == nil)
  }

  @Test func insertOfAKnownRevisionWithAnotherBodyIsCollision() throws {
    let tree = try TreeDrawing.tree("1-a(2-b)")
    let known = try DocumentBody.text(#"{"x":1}"#)
    #expect(
      code {
        _ = try Edit.insert(
          id, in: tree, history: RevisionID.list("2-b 1-a"), body: .empty, isDeleted: false,
          known: known)
      } == .revisionCollision)
  }

  @Test func leavesAreBounded() throws {
    var tree = RevisionTree()
    for number in 1...HistoryLimits.standard.liveLeaves {
      let history = try RevisionID.list("2-\(number) 1-a")
      let mutation = try Edit.insert(
        id, in: tree, history: history, body: .empty, isDeleted: false, known: nil)
      tree = try #require(mutation?.tree)
    }
    #expect(tree.leaves.count == HistoryLimits.standard.liveLeaves)
    for history in ["2-x 1-a", "1-x", "3-x 2-y 1-a"] {
      let history = try RevisionID.list(history)
      #expect(
        code {
          _ = try Edit.insert(
            id, in: tree, history: history, body: .empty, isDeleted: false, known: nil)
        } == .tooManyLeaves)
    }
    let on = try Edit.insert(
      id, in: tree, history: RevisionID.list("3-x 2-1 1-a"), body: .empty, isDeleted: true,
      known: nil)
    #expect(on?.tree.leaves.count == HistoryLimits.standard.liveLeaves)
    let put = try Edit.put(id, in: tree, base: tree.winner?.revision, body: .empty)
    #expect(put.tree.leaves.count == HistoryLimits.standard.liveLeaves)
  }

  @Test func closedBranchesMakeRoomForOthers() throws {
    var tree = RevisionTree()
    for number in 1...HistoryLimits.standard.deletedLeaves {
      try tree.graft(RevisionID.list("2-\(number) 1-a"), isDeleted: false)
      try tree.graft(RevisionID.list("3-\(number) 2-\(number) 1-a"), isDeleted: true)
    }
    #expect(tree.leaves.count == HistoryLimits.standard.deletedLeaves)
    #expect(tree.conflicts.isEmpty)
  }

  @Test func revisionsAreTheSameWhereverTheyAreMade() throws {
    let body = try DocumentBody.text(#"{"b":[1.0,"é"],"a":{}}"#)
    let same = try DocumentBody.text(#" { "a" : {}, "b" : [ 1.0 , "\u00e9" ] } "#)
    let parent = try RevisionID("1-a")
    let revision = body.revision(below: parent, isDeleted: false)
    #expect(same.revision(below: parent, isDeleted: false) == revision)
    #expect(revision.digest.count == 32)
    let others = [
      body.revision(below: parent, isDeleted: true), body.revision(below: nil, isDeleted: false),
      body.revision(below: try RevisionID("1-b"), isDeleted: false),
      try DocumentBody.text(#"{"b":[1,"é"],"a":{}}"#).revision(below: parent, isDeleted: false),
    ]
    #expect(!others.contains(revision))
    #expect(Set(others).count == others.count)
  }

  @Test func theLayoutOfRevisionsIsFixed() {
    // SHA-256 of 01 00 00 and SHA-256("{}"); SHA-256 of 01 01 "1-a" 00 and SHA-256("{}"). If this layout changed,
    // replicas would compute different ids for the same revision.
    let first = DocumentBody.empty.revision(below: nil, isDeleted: false)
    let second = DocumentBody.empty.revision(
      below: RevisionID(generation: 1, digest: "a"), isDeleted: true)
    #expect(first.description == "1-abbca31bb2457152c61d7210d8b0a38c")
    #expect(second.description == "2-835ac6b92ea9d22197ae857272cf8c57")
  }

  private func code(_ edit: () throws -> some Any) -> DocumentError.Code? {
    do { _ = try edit() } catch { return (error as? DocumentError)?.code }
    return nil
  }
}
