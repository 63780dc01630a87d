import Documents
import TestSupport
import Testing

struct RevisionTreePurgeTests {
  @Test(arguments: [
    ("1-a*", "1-a", ""), ("1-a(2-b(3-c*))", "3-c", ""),
    ("1-a(2-b 2-c*)", "2-c", "1-a(2-b*)"), ("1-a(2-b 2-c*)", "2-b", "1-a(2-c*)"),
    ("1-a(2-b 2-c*)", "2-b 2-c", ""), ("1-a(2-b(3-d(4-e*)) 2-c)", "4-e", "1-a(2-c*)"),
    ("1-a(2-b† 2-c*)", "2-c", "1-a(2-b†*)"), ("1-a(2-b†*)", "2-b", ""),
    ("1-a(2-b 2-c(3-d 3-e*))", "3-d 3-e", "1-a(2-b*)"), ("1-a 1-b*", "1-b", "1-a*"),
    ("3-x(4-y*) 3-z", "4-y", "3-z*"),
  ])
  func purgedLeavesGoWithWhatNoOtherNeeds(drawn: String, purged: String, left: String) throws {
    let tree = try TreeDrawing.tree(drawn).purging(Set(RevisionID.list(purged)))
    #expect(TreeDrawing.draw(tree) == left)
    if left.isEmpty { #expect(tree.winner == nil) }
  }

  @Test(arguments: [
    ("1-a(2-b*)", "1-a"), ("1-a(2-b*)", "9-z"), ("1-a(2-b(3-c*) 2-d)", "2-b 1-a"), ("1-a*", ""),
  ])
  func whatIsNoLeafStays(drawn: String, purged: String) throws {
    let tree = try TreeDrawing.tree(drawn)
    #expect(try tree.purging(Set(RevisionID.list(purged))) == tree)
  }

  @Test func purgedTreeIsSoundAndKeepsTheOtherLeavesHistories() throws {
    var generator = SeededGenerator(seed: 7)
    for _ in 0..<300 {
      var tree = RevisionTree()
      for number in 0..<Int.random(in: 1...25, using: &generator) {
        let nodes = Bool.random(using: &generator) ? tree.nodes : []
        let parent = nodes.randomElement(using: &generator)?.revision
        let revision = RevisionID(
          generation: (parent?.generation ?? 0) + 1, digest: "x\(number)")
        try tree.insert(revision, below: parent, isDeleted: number.isMultiple(of: 5))
      }
      let leaves = tree.leaves.map(\.revision)
      let purged = Set(leaves.filter { _ in Bool.random(using: &generator) })
      let rest = tree.purging(purged)
      #expect(Set(rest.leaves.map(\.revision)) == Set(leaves).subtracting(purged))
      var needed: Set<RevisionID> = []
      for leaf in rest.leaves {
        #expect(rest.history(of: leaf.revision) == tree.history(of: leaf.revision))
        needed.formUnion(rest.history(of: leaf.revision))
      }
      #expect(Set(rest.nodes.map(\.revision)) == needed)
      for (index, node) in rest.nodes.enumerated() {
        #expect((node.parent ?? -1) < index)
        #expect(node.isLeaf == !rest.nodes.contains { $0.parent == index })
      }
    }
  }
}
