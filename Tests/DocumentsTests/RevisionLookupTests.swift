import TestSupport
import Testing

@testable import Documents

/// Lookups of many revisions at once and many edits at once, compared with one at a time.
@Suite struct RevisionLookupTests {
  @Test(arguments: 0..<40)
  func lookupsAgreeWithASearchForEach(_ seed: UInt64) throws {
    let tree = try Self.tree(seed)
    let unknown = try RevisionID("3-unknown")
    let asked = tree.nodes.map(\.revision) + [unknown]
    let indices = tree.indices(of: asked)
    let below = LeavesBelow(tree)
    for revision in asked {
      #expect(indices[revision] == tree.index(of: revision))
      let leaves = tree.leaves.filter { tree.history(of: $0.revision).contains(revision) }
      #expect(tree.leaves(below: revision) == leaves)
      guard let index = indices[revision] else { continue }
      #expect(
        below.leafIndices(below: index).map { tree.nodes[$0] }
          == leaves.sorted { $0.revision < $1.revision })
    }
    #expect(tree.indices(of: [unknown]).isEmpty)
    #expect(tree.indices(of: [asked[0]]) == [asked[0]: 0])
    #expect(below.leafIndices(below: tree.nodes.count).isEmpty)
  }

  @Test(arguments: 0..<20)
  func treeThatIsReadyForManyEditsFindsAndCountsTheSame(_ seed: UInt64) throws {
    var (plain, ready) = (RevisionTree(), RevisionTree())
    ready.prepareForMany()
    var generator = SeededGenerator(seed: seed)
    // The table must grow for so many revisions. Words and hashes alternate.
    for number in 0..<100 {
      let parent = plain.nodes.randomElement(using: &generator)?.revision
      let digest = number % 2 == 0 ? "r\(number)" : Hex.string(UInt64(number), UInt64(seed))
      let revision = RevisionID(generation: (parent?.generation ?? 0) + 1, digest: digest)
      // The later ones are all tombstones, so that leaves of both kinds are counted.
      let isDeleted = number > 40 || Bool.random(using: &generator)
      try plain.insert(revision, below: parent, isDeleted: isDeleted)
      try ready.insert(revision, below: parent, isDeleted: isDeleted)
      #expect(ready.finder != nil && ready == plain)
      #expect(ready.index(of: revision) == number)
      #expect(ready.openLeafCount == plain.openLeafCount)
      #expect(ready.closedLeafCount == plain.closedLeafCount)
    }
    for (index, node) in plain.nodes.enumerated() {
      #expect(ready.index(of: node.revision) == index)
    }
    #expect(ready.index(of: RevisionID(generation: 1, digest: "unknown")) == nil)
  }

  @Test(arguments: 0..<40)
  func editsAtOnceAgreeWithOneAfterTheOther(_ seed: UInt64) throws {
    let limit = HistoryLimits.standard
    var generator = SeededGenerator(seed: seed)
    let source = try Self.tree(seed &+ 100)
    let id = DocumentID(stored: "a")
    var tree: RevisionTree?
    var edits = DocumentEdits(id, in: nil, limit: limit)
    var bodies: [RevisionID: DocumentBody] = [:]
    for _ in 0..<12 {
      let node = try #require(source.nodes.randomElement(using: &generator))
      let history = source.history(of: node.revision)
      let body = try DocumentBody(parsing: Array(#"{"n":"\#(node.revision)"}"#.utf8))
      let known = edits.body(of: node.revision)
      #expect(known?.digest == bodies[node.revision]?.digest)
      let single = try Edit.insert(
        id, in: tree, history: history, body: body, isDeleted: false,
        known: bodies[node.revision], limit: limit)
      if let single {
        tree = single.tree
        if single.body != nil { bodies[single.revision] = body }
      }
      #expect(
        try edits.insert(history, body: body, isDeleted: false, known: known) == node.revision)
    }
    let finished = edits.finish()
    let together = try #require(finished)
    #expect(together.tree.leaves.map(\.revision) == tree?.leaves.map(\.revision))
    #expect(together.tree.parents == tree?.parents)
    for (revision, body) in bodies { #expect(together.body(of: revision)?.bytes == body.bytes) }
  }

  @Test func longLineOfEditsAtOnceIsPruned() throws {
    var edits = DocumentEdits(DocumentID(stored: "a"), in: nil, limit: HistoryLimits(revisions: 5))
    var base: RevisionID?
    for number in 0..<3_000 {
      let body = try DocumentBody(parsing: Array("{\"n\":\(number)}".utf8))
      base = try edits.put(base: base, body: body, isDeleted: false)
    }
    #expect(edits.tree.nodes.count < 3_000)
    let finished = edits.finish()
    let mutation = try #require(finished)
    #expect(mutation.tree.nodes.count == 5)
    #expect(mutation.tree.winner?.revision.generation == 3_000)
  }

  @Test func documentThatComesBackBetweenEditsIsBornAgain() throws {
    let id = DocumentID(stored: "a")
    var edits = DocumentEdits(id, in: nil, limit: HistoryLimits(revisions: 1_000))
    let first = try edits.put(base: nil, body: .empty, isDeleted: false)
    let deleted = try edits.put(base: first, body: .empty, isDeleted: true)
    let tree = edits.tree
    let last = try edits.put(base: deleted, body: .empty, isDeleted: false)
    let finished = edits.finish()
    let mutation = try #require(finished)
    #expect(mutation.isReborn)
    #expect(mutation.revision == last)
    #expect(mutation.further.map(\.revision) == [first, deleted])
    #expect(throws: DocumentError.conflict) {
      try edits.put(base: first, body: .empty, isDeleted: false)
    }
    // `isReborn` reports only a deletion between the edits. The tree tells of an earlier one.
    var later = DocumentEdits(id, in: tree, limit: HistoryLimits(revisions: 1_000))
    _ = try later.put(base: nil, body: .empty, isDeleted: false)
    #expect(later.finish()?.isReborn == false)
  }

  /// A tree of several roots, with branches.
  private static func tree(_ seed: UInt64) throws -> RevisionTree {
    var generator = SeededGenerator(seed: seed)
    var tree = RevisionTree()
    for number in 0..<30 {
      let parent = tree.nodes.randomElement(using: &generator)?.revision
      let below = Int.random(in: 0..<6, using: &generator) == 0 ? nil : parent
      let revision = RevisionID(generation: (below?.generation ?? 0) + 1, digest: "r\(number)")
      try tree.insert(
        revision, below: below, isDeleted: Int.random(in: 0..<5, using: &generator) == 0)
    }
    return tree
  }
}
