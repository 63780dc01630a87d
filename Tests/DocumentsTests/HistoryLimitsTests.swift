import Documents
import Testing

/// The limits on a document's history.
@Suite struct HistoryLimitsTests {
  private let id = DocumentID(stored: "a")

  /// The history of a separate branch whose digests are hashes.
  private func branch(_ number: Int, length: Int) -> [RevisionID] {
    (0..<length).map {
      RevisionID(
        generation: length - $0,
        digest: .hash(high: UInt64(number + 1) << 32, low: UInt64($0) << 32 | 1))
    }
  }

  /// The counted bytes are the stored bytes, without those that say where a branch begins.
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

  /// 61 branches of 1,000 revisions take 1 MiB. Another branch is refused, but an edit is accepted.
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

  /// The next edit prunes a tree that is larger than the limit allows.
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

  /// A document's first branch is always accepted, and pruned to the limit.
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
