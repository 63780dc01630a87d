import Documents
import Testing

/// A tree keeps the newest branches that merges closed. An older one leaves a mark for a limited time.
@Suite struct ClosedBranchTests {
  private static let today = 20_000
  private static let hash = "0123456789abcdef0123456789abcdef"

  /// The line `1-r(2-w(3-w(4-w)))` with a number of closed branches `2-bN(3-cN†)` below `1-r`.
  private func tree(closed count: Int, from first: Int = 0) throws -> RevisionTree {
    var tree = try TreeDrawing.tree("1-r(2-w(3-w(4-w)))")
    for number in first..<first + count { try close(number, in: &tree) }
    return tree
  }

  private func close(_ number: Int, in tree: inout RevisionTree) throws {
    let history = try ["3-c\(number)", "2-b\(number)", "1-r"].map { try RevisionID($0) }
    try tree.graft(history, isDeleted: true)
  }

  /// Shrinks a tree and checks whether branches were removed.
  private func expect(_ tree: inout RevisionTree, on day: Int, removes: Bool) {
    let removed = tree.shrinkClosedBranches(on: day)
    #expect(removed == removes)
  }

  private func id(_ text: String) throws -> RevisionID { try RevisionID(text) }

  @Test func newest64StayAndTheOthersBecomeMarks() throws {
    var tree = try tree(closed: 100)
    expect(&tree, on: Self.today, removes: true)
    #expect(tree.deletedConflicts.count == 64)
    #expect(tree.markCount == 36)
    #expect(tree.nodes.count == 4 + 2 * 64)
    #expect(try tree[id("2-b35")] == nil && tree[id("2-b36")] != nil)
    #expect(tree.winner?.revision == (try id("4-w")))
  }

  @Test func markedBranchIsKnownAndDoesNotComeBack() throws {
    var tree = try tree(closed: 100)
    tree.shrinkClosedBranches(on: Self.today)
    let before = tree
    #expect(try tree.knows(id("2-b0")) && tree.knows(id("3-c0")))
    #expect(try !tree.knows(id("2-c0")) && !tree.knows(id("3-b0")))
    let leaf = try [id("2-b0"), id("1-r")]
    let growths = [
      try tree.graft(leaf, isDeleted: false),
      try tree.graft([id("3-c0")] + leaf, isDeleted: true),
      // A peer's merge closed the branch with another tombstone.
      try tree.graft([id("3-other")] + leaf, isDeleted: true),
    ]
    #expect(growths.allSatisfy { $0 == .nothing })
    #expect(tree == before)
  }

  @Test func editOfAMarkedBranchIsAConflictAgain() throws {
    var tree = try tree(closed: 100)
    tree.shrinkClosedBranches(on: Self.today)
    try tree.graft([id("3-x"), id("2-b0"), id("1-r")], isDeleted: false)
    #expect(tree.conflicts == [try id("3-x")])
  }

  @Test func branchesOlderThan90DaysBecomeMarksAndMarksGoAfter90More() throws {
    var tree = try tree(closed: 10)
    expect(&tree, on: Self.today, removes: false)
    expect(&tree, on: Self.today + 90, removes: false)
    #expect(tree.markCount == 0)
    expect(&tree, on: Self.today + 91, removes: true)
    #expect(tree.markCount == 10 && tree.deletedConflicts.isEmpty)
    tree.shrinkClosedBranches(on: Self.today + 181)
    #expect(tree.markCount == 10)
    tree.shrinkClosedBranches(on: Self.today + 182)
    #expect(tree.markCount == 0)
    #expect(!(try tree.knows(id("2-b0"))))
  }

  @Test func clockThatStepsBackLetsNothingGoEarly() throws {
    var tree = try tree(closed: 70)
    tree.shrinkClosedBranches(on: Self.today)
    let before = tree
    expect(&tree, on: Self.today - 5_000, removes: false)
    #expect(tree == before)
  }

  @Test func atMost4096MarksAreKeptTheNewest() throws {
    var tree = try TreeDrawing.tree("1-r(2-w(3-w(4-w)))")
    for round in 0..<60 {
      for number in 0..<80 { try close(round * 80 + number, in: &tree) }
      tree.shrinkClosedBranches(on: Self.today)
    }
    #expect(tree.markCount == 4_096)
    #expect(!(try tree.knows(id("2-b0"))))
    #expect(try tree.knows(id("2-b\(60 * 80 - 64 - 4_096)")))
    #expect(tree.encoded.count < 4_096 * 48 + 64 * 100)
  }

  @Test func revisionThatAnotherLeafDescendsFromStays() throws {
    var tree = try tree(closed: 64, from: 1)
    try tree.graft([id("4-d"), id("3-s"), id("2-b0"), id("1-r")], isDeleted: true)
    try tree.graft([id("4-e"), id("3-s"), id("2-b0"), id("1-r")], isDeleted: false)
    tree.shrinkClosedBranches(on: Self.today)
    #expect(try tree[id("3-s")] != nil && tree[id("4-e")]?.isLeaf == true)
  }

  @Test func deletedDocumentKeepsItsBranches() throws {
    var tree = try tree(closed: 70)
    try tree.insert(id("5-w"), below: id("4-w"), isDeleted: true)
    expect(&tree, on: Self.today, removes: false)
    #expect(tree.markCount == 0)
  }

  @Test func purgeForgetsTheMarks() throws {
    var tree = try tree(closed: 100)
    tree.shrinkClosedBranches(on: Self.today)
    let rest = try tree.purging([id("4-w")])
    #expect(!(try rest.knows(id("2-b0"))))
    #expect(tree.purging([]) == tree)
  }

  @Test func marksAreReadBackAndTreesWithoutAreStoredAsBefore() throws {
    var tree = try tree(closed: 70)
    try tree.graft([id("3-\(Self.hash)"), id("2-\(Self.hash)"), id("1-r")], isDeleted: true)
    #expect(tree.encoded.first == 1)
    tree.shrinkClosedBranches(on: Self.today)
    #expect(tree.encoded.first == 2)
    #expect(try decoded(tree.encoded) == tree)
  }

  /// The bytes are `1-a(2-b† 2-c*)` as the version without marks encoded it.
  @Test func treesOfBeforeAreRead() throws {
    let bytes: [UInt8] = [1, 3, 16, 1, 1, 97, 11, 1, 98, 2, 0, 2, 1, 99]
    #expect(try TreeDrawing.draw(decoded(bytes)) == "1-a(2-b† 2-c*)")
  }

  @Test func everyCutOfMarksIsDamage() throws {
    var tree = try tree(closed: 66)
    tree.shrinkClosedBranches(on: Self.today)
    let bytes = tree.encoded
    for length in 1..<bytes.count {
      #expect(throws: DocumentError.self, "cut at \(length)") {
        try decoded(Array(bytes[..<length]))
      }
    }
  }

  private func decoded(_ bytes: [UInt8]) throws -> RevisionTree {
    try bytes.withUnsafeBytes { try RevisionTree(decoding: $0) }
  }
}

extension RevisionTree {
  /// Whether a revision is in the tree, or is the end of a merged branch that was removed.
  fileprivate func knows(_ revision: RevisionID) -> Bool {
    index(of: revision) != nil || hasMark(of: revision)
  }
}
