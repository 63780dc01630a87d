import Testing

@testable import Documents

/// Trees from lists, which anyone may have written.
@Suite struct RevisionListingTests {
  private typealias Listed = RevisionTree.Listed

  @Test func listsThatAreNoTreesAreRefused() throws {
    let (a, b) = (try listed("1-a", nil), try listed("2-b", 0))
    let faulty: [[Listed]] = [
      [], [a, a], [b], [a, try listed("3-b", 0)], [a, try listed("1-b", 0)],
      [a, try listed("2-b", 1)], [a, try listed("2-b", -1)], [try listed("2-b", 1), a],
    ]
    for list in faulty {
      #expect(throws: DocumentError.self) { try RevisionTree(list, within: .standard) }
    }
    #expect(try RevisionTree([a, b], within: .standard).leaves.map(\.revision) == [b.revision])
  }

  @Test func aTreeBeyondTheLimitsIsRefusedAndOneAtThemIsNot() throws {
    let leaves = try (0..<3).map { try listed("1-\($0)", nil) }
    let limits = HistoryLimits(revisions: 9, liveLeaves: 3, deletedLeaves: 9, treeBytes: 99)
    #expect(try RevisionTree(leaves, within: limits).openLeafCount == 3)
    let more = leaves + [try listed("1-x", nil)]
    #expect(throws: DocumentError.self) { try RevisionTree(more, within: limits) }
  }

  @Test func closedBranchesAreRememberedElsewhereAndGarbageIsNot() throws {
    var tree = RevisionTree()
    try tree.graft([try RevisionID("2-b"), try RevisionID("1-a")], isDeleted: false)
    try tree.graft([try RevisionID("2-c"), try RevisionID("1-a")], isDeleted: true)
    tree.shrinkClosedBranches(on: 1)
    let bytes = tree.closedBytes
    #expect(!bytes.isEmpty)
    var other = try RevisionTree(tree.listed, within: .standard)
    #expect(other != tree)
    try other.remember(closed: bytes)
    #expect(other == tree)
    for garbage in [[], [0, 0], Array(bytes.dropLast()), bytes + [0], [0xFF, 0xFF]] {
      #expect(throws: DocumentError.self) { try other.remember(closed: garbage) }
      #expect(other == tree)
    }
  }

  private func listed(_ revision: String, _ parent: Int?) throws -> Listed {
    Listed(revision: try RevisionID(revision), parent: parent, isDeleted: false)
  }
}
