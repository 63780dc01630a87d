import Documents
import Testing

/// How much history a document may have.
@Suite struct HistoryLimitsTests {
  private let id = DocumentID(stored: "a")

  /// A branch of its own with revisions whose ids are hashes.
  private func branch(_ number: Int, length: Int) -> [RevisionID] {
    (0..<length).map {
      RevisionID(
        generation: length - $0,
        digest: .hash(high: UInt64(number + 1) << 32, low: UInt64($0) << 32 | 1))
    }
  }

  /// The bytes that are counted are those that are stored, but for where a branch begins.
  @Test func countedBytesFollowTheTree() throws {
    var tree = RevisionTree()
    for number in 0..<20 {
      try tree.graft(branch(number, length: 50), isDeleted: false)
      try tree.graft(RevisionID.list("2-b\(number) 1-a"), isDeleted: number % 3 == 0)
    }
    #expect((tree.byteCount...tree.byteCount + 400).contains(tree.encoded.count))
    let read = try tree.encoded.withUnsafeBytes { try RevisionTree(decoding: $0) }
    #expect(read.byteCount == tree.byteCount)
    tree.prune(to: 7)
    #expect((tree.byteCount...tree.byteCount + 400).contains(tree.encoded.count))
    let pruned = try tree.encoded.withUnsafeBytes { try RevisionTree(decoding: $0) }
    #expect(pruned.byteCount == tree.byteCount)
  }

  /// 61 branches of a thousand revisions are 1 MiB; there is room for no other, and an edit is taken all the same.
  @Test func longBranchesAreRefusedWhereTheTreeIsFull() throws {
    var tree: RevisionTree?
    var taken = 0
    var refusals: Set<DocumentError.Code> = []
    for number in 0..<70 {
      let taking = Result { () throws(DocumentError) in
        try Edit.insert(
          id, in: tree, history: branch(number, length: 1_000), body: .empty, isDeleted: false,
          known: nil)
      }
      switch taking {
      case .success(let mutation):
        tree = mutation?.tree
        taken += 1
      case .failure(let error): refusals.insert(error.code)
      }
    }
    #expect(taken == 61)
    #expect(refusals == [.tooManyLeaves])
    let full = try #require(tree)
    let body = try DocumentBody.text(#"{"n":1}"#)
    let edited = try Edit.put(id, in: full, base: full.winner?.revision, body: body).tree
    #expect(edited.leaves.count == taken)
    #expect(edited.byteCount <= HistoryLimits.standard.treeBytes)
  }

  /// A tree that an earlier version let grow is made to fit by its next edit.
  @Test func treeThatIsTooLargeKeepsFewerRevisionsOfEachBranch() throws {
    var tree = RevisionTree()
    for number in 0..<200 {
      try tree.graft(branch(number, length: 1_000), isDeleted: number > 0, within: .database)
    }
    #expect(tree.nodes.count == 200_000)
    let edited = try Edit.put(id, in: tree, base: tree.winner?.revision, body: .empty).tree
    #expect(edited.leaves.count == 200)
    #expect(edited.byteCount <= HistoryLimits.standard.treeBytes)
    #expect(edited.history(of: try #require(edited.winner?.revision)).count == 250)
  }

  /// The first branch comes whatever it takes.
  @Test func aDocumentsOnlyBranchIsTaken() throws {
    let limits = HistoryLimits(treeBytes: 100)
    let tree = try #require(
      try Edit.insert(
        id, in: nil, history: branch(0, length: 1_000), body: .empty, isDeleted: false, known: nil,
        limit: limits)
    ).tree
    #expect(tree.winner?.revision.generation == 1_000)
    #expect(tree.byteCount <= 100)
  }
}
