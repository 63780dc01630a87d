import Documents
import Testing

@Suite struct RevisionTreeTests {
  @Test(arguments: [
    ("1-a", "1-a", "", ""),
    ("1-a(2-b 2-c)", "2-c", "2-b", ""),
    ("1-a(2-b† 2-c)", "2-c", "", "2-b"),
    ("1-a(2-b 2-c†)", "2-b", "", "2-c"),
    ("1-a(2-b(3-d†) 2-c)", "2-c", "", "3-d"),
    ("1-a(2-b(3-a) 2-z)", "3-a", "2-z", ""),
    ("1-a(2-b† 2-c†)", "2-c", "", "2-b"),
    ("1-a 1-b(2-a) 5-x†", "2-a", "1-a", "5-x"),
    ("1-a(2-b 2-c 2-d 2-e†)", "2-d", "2-c 2-b", "2-e"),
    ("9-a 10-a", "10-a", "9-a", ""),
    ("1-Z 1-a 1-~", "1-~", "1-a 1-Z", ""),
  ])
  func picksCouchDBsWinner(
    _ drawing: String, _ winner: String, _ conflicts: String, _ deleted: String
  ) throws {
    let tree = try TreeDrawing.tree(drawing)
    #expect(tree.winner?.revision.description == winner)
    #expect(try tree.conflicts == RevisionID.list(conflicts))
    #expect(try tree.deletedConflicts == RevisionID.list(deleted))
    #expect(tree.leaves.first == tree.winner)
  }

  @Test func emptyTreeHasNoWinner() {
    #expect(RevisionTree().winner == nil)
    #expect(RevisionTree().leaves.isEmpty)
    #expect(RevisionTree().conflicts.isEmpty)
  }

  @Test func winnerIsOrderedByBytesNotByCanonicalEquivalence() throws {
    let tree = try TreeDrawing.tree("1-a1 1-A2 1-a")
    #expect(tree.winner?.revision.description == "1-a1")
  }

  @Test func historyFollowsTheBranch() throws {
    let tree = try TreeDrawing.tree("1-a(2-b(3-c 3-d) 2-e)")
    #expect(try tree.history(of: RevisionID("3-d")) == RevisionID.list("3-d 2-b 1-a"))
    #expect(try tree.history(of: RevisionID("7-x")).isEmpty)
    #expect(
      try tree.leaves(below: RevisionID("2-b")).map(\.revision) == RevisionID.list("3-d 3-c"))
    #expect(try tree.leaves(below: RevisionID("3-c")).count == 1)
    #expect(try tree.leaves(below: RevisionID("9-x")).isEmpty)
  }

  @Test func insertBelowAnUnknownParentIsMissing() throws {
    var tree = try TreeDrawing.tree("1-a")
    #expect(throws: DocumentError.missing) {
      try tree.insert(RevisionID("3-c"), below: RevisionID("2-b"), isDeleted: false)
    }
    #expect(TreeDrawing.draw(tree) == "1-a*")
  }

  @Test func insertOfAKnownRevisionChangesNothing() throws {
    var tree = try TreeDrawing.tree("1-a(2-b)")
    #expect(try !tree.insert(RevisionID("2-b"), below: RevisionID("1-a"), isDeleted: true))
    #expect(TreeDrawing.draw(tree) == "1-a(2-b*)")
  }

  @Test(arguments: [
    ("", "3-c 2-b 1-a", false, "1-a(2-b(3-c*))"),
    ("", "3-c 2-b", true, "2-b(3-c†*)"),
    ("1-a", "3-c 2-b 1-a", false, "1-a(2-b(3-c*))"),
    ("1-a(2-x)", "3-c 2-b 1-a", false, "1-a(2-b(3-c*) 2-x)"),
    ("1-a(2-b)", "1-z", false, "1-a(2-b*) 1-z"),
    // A branch whose old revisions are missing is joined to the history.
    ("3-c", "4-d 3-c 2-b 1-a", false, "1-a(2-b(3-c(4-d*)))"),
    ("1-a 3-c", "4-d 3-c 2-b 1-a", false, "1-a(2-b(3-c(4-d*)))"),
    ("3-c 1-a(2-b)", "4-d 3-c 2-b 1-a", true, "1-a(2-b(3-c(4-d†*)))"),
    ("5-e(6-f) 3-c(4-x)", "6-g 5-e 4-d 3-c 2-b", false, "2-b(3-c(4-d(5-e(6-f 6-g*)) 4-x))"),
    // The history has ancestors of the branch's root.
    ("2-b(3-c)", "4-d 3-c 2-b 1-a", false, "1-a(2-b(3-c(4-d*)))"),
    ("2-b(3-c(4-x)) 1-a", "4-d 3-c 2-b 1-a", false, "1-a(2-b(3-c(4-d 4-x*)))"),
    // A known revision keeps its known parent, whatever the history says.
    ("1-a(2-b)", "3-c 2-b 1-z", false, "1-a(2-b(3-c*))"),
    // A history without a known revision starts a new root.
    ("1-a(2-b)", "4-d 3-c", false, "1-a(2-b) 3-c(4-d*)"),
  ])
  func graftJoinsHistories(
    _ before: String, _ history: String, _ isDeleted: Bool, _ after: String
  ) throws {
    var tree = try TreeDrawing.tree(before)
    #expect(try tree.graft(RevisionID.list(history), isDeleted: isDeleted) == .revision)
    #expect(TreeDrawing.draw(tree) == after)
    #expect(tree.hasParentsFirst)
    #expect(try tree.graft(RevisionID.list(history), isDeleted: isDeleted) == .nothing)
    #expect(TreeDrawing.draw(tree) == after)
  }

  @Test(arguments: [
    ("3-c", "3-c 2-b 1-a", "1-a(2-b(3-c*))"),
    ("3-c(4-d)", "3-c 2-b", "2-b(3-c(4-d*))"),
    ("1-a 3-c†", "3-c 2-b 1-a", "1-a(2-b(3-c†*))"),
    ("1-a(2-x) 3-c(4-d 4-e)", "4-d 3-c 2-b 1-a", "1-a(2-b(3-c(4-d 4-e*)) 2-x)"),
    ("5-e 3-c 1-a", "5-e 4-d 3-c 2-b 1-a", "1-a(2-b(3-c(4-d(5-e*))))"),
  ])
  func graftOfAKnownRevisionLearnsItsAncestors(
    _ before: String, _ history: String, _ after: String
  ) throws {
    var tree = try TreeDrawing.tree(before)
    #expect(try tree.graft(RevisionID.list(history), isDeleted: false) == .ancestors)
    #expect(TreeDrawing.draw(tree) == after)
    #expect(tree.hasParentsFirst)
    #expect(try tree.graft(RevisionID.list(history), isDeleted: false) == .nothing)
  }

  @Test(arguments: [
    ("1-a(2-b)", "2-b"), ("1-a(2-b)", "1-a"), ("1-a(2-b)", "2-b 1-z"),
    ("1-a(2-b(3-c))", "3-c 2-y 1-y"),
  ])
  func graftOfAKnownRevisionThatTellsNothingChangesNothing(
    _ before: String, _ history: String
  ) throws {
    var tree = try TreeDrawing.tree(before)
    let same = tree
    #expect(try tree.graft(RevisionID.list(history), isDeleted: false) == .nothing)
    #expect(tree == same)
  }

  @Test(arguments: ["3-c 1-a", "2-b 2-b", "1-a 2-b", "3-c 2-b 2-b 1-a"])
  func graftRefusesAHistoryThatSkips(_ history: String) throws {
    var tree = RevisionTree()
    #expect {
      try tree.graft(RevisionID.list(history), isDeleted: false)
    } throws: {
      ($0 as? DocumentError)?.code == .invalidRevision
    }
    #expect(tree.nodes.isEmpty)
  }

  @Test func graftOfNothingIsNothing() throws {
    var tree = RevisionTree()
    #expect(try tree.graft([], isDeleted: false) == .nothing)
  }

  @Test(arguments: [
    ("1-a(2-b(3-c(4-d)))", 2, "3-c(4-d*)", "1-a 2-b"),
    ("1-a(2-b(3-c(4-d)))", 4, "1-a(2-b(3-c(4-d*)))", ""),
    ("1-a(2-b(3-c(4-d)) 2-x)", 2, "1-a(2-x) 3-c(4-d*)", "2-b"),
    ("1-a(2-b(3-c(4-d)) 2-x)", 1, "2-x 4-d*", "1-a 2-b 3-c"),
    ("1-a(2-b)", 0, "2-b*", "1-a"),
    ("1-a(2-b)", -7, "2-b*", "1-a"),
    ("1-a 1-b 1-c", 1, "1-a 1-b 1-c*", ""),
  ])
  func pruneCutsWhatIsFarFromEveryLeaf(
    _ before: String, _ limit: Int, _ after: String, _ dropped: String
  ) throws {
    var tree = try TreeDrawing.tree(before)
    #expect(try tree.prune(to: limit) == RevisionID.list(dropped))
    #expect(TreeDrawing.draw(tree) == after)
    #expect(tree.hasParentsFirst)
  }

  @Test func bodiesAreKeptAlongEveryBranch() throws {
    let tree = try TreeDrawing.tree("1-a(2-b(3-c(4-d)) 2-x)")
    #expect(try tree.revisions(withinSteps: 0) == Set(RevisionID.list("4-d 2-x")))
    #expect(try tree.revisions(withinSteps: 1) == Set(RevisionID.list("4-d 3-c 2-x 1-a")))
    #expect(tree.revisions(withinSteps: 9).count == 5)
    #expect(try tree.revisions(withinSteps: -1) == Set(RevisionID.list("4-d 2-x")))
  }

  @Test func drawingsAreReadAsDrawn() throws {
    for text in ["1-a*", "1-a(2-b† 2-c*)", "1-a(2-b(3-c*)) 1-z†"] {
      #expect(try TreeDrawing.draw(TreeDrawing.tree(text)) == text)
    }
    #expect(throws: (any Error).self) { try TreeDrawing.tree("1-a(2-b* 2-c)") }
  }
}

extension RevisionTree {
  /// Whether parents precede children and are one generation lower, exactly the revisions without children are leaves,
  /// and no revision occurs twice.
  var hasParentsFirst: Bool {
    var isParent = Set<Int>()
    for (index, node) in nodes.enumerated() {
      guard let parent = node.parent else { continue }
      guard parent < index, nodes[parent].revision.generation + 1 == node.revision.generation
      else { return false }
      isParent.insert(parent)
    }
    return nodes.indices.allSatisfy { nodes[$0].isLeaf != isParent.contains($0) }
      && Set(nodes.map(\.revision)).count == nodes.count
  }
}
