import TestSupport
import Testing

@testable import Documents

/// Random trees and random edits. The seeds are fixed, so the trees are the same on every machine.
@Suite struct RevisionTreePropertyTests {
  @Test(.bug(id: "Y01"), arguments: 0..<40)
  func replicasThatExchangeInAnyOrderEndEqual(_ seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var replicas = [Replica(), Replica(), Replica()]
    for _ in 0..<30 {
      let index = Int.random(in: 0..<3, using: &generator)
      try replicas[index].edit(using: &generator)
      if Int.random(in: 0..<4, using: &generator) == 0 {
        let (from, to) = (Int.random(in: 0..<3, using: &generator), index)
        try replicas[to].pull(from: replicas[from], using: &generator)
      }
    }
    for _ in 0..<2 {
      for (from, to) in [(0, 1), (1, 2), (2, 0), (0, 2), (2, 1), (1, 0)].shuffled(using: &generator)
      { try replicas[to].pull(from: replicas[from], using: &generator) }
    }
    let leaves = replicas.map { $0.tree.leaves.map(\.revision) }
    #expect(leaves[0] == leaves[1])
    #expect(leaves[1] == leaves[2])
    #expect(replicas[0].tree.winner?.revision == replicas[2].tree.winner?.revision)
    // Replicas exchange whole histories, so the ancestors are the same too.
    let known = replicas.map { Set($0.tree.nodes.map(\.revision)) }
    #expect(known[0] == known[1] && known[1] == known[2])
  }

  @Test(arguments: 0..<60)
  func pruneLosesNoLeafAndKeepsParentsFirst(_ seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let tree = try randomTree(using: &generator)
    for limit in 1...12 {
      var pruned = tree
      let dropped = pruned.prune(to: limit)
      #expect(pruned.leaves.map(\.revision) == tree.leaves.map(\.revision))
      #expect(pruned.hasParentsFirst)
      #expect(dropped.count + pruned.nodes.count == tree.nodes.count)
      for leaf in pruned.leaves {
        let history = pruned.history(of: leaf.revision)
        let wanted = tree.history(of: leaf.revision).prefix(max(limit, history.count))
        #expect(history == Array(wanted))
        #expect(history.count >= min(limit, tree.history(of: leaf.revision).count))
      }
      #expect(pruned.prune(to: limit).isEmpty)
    }
  }

  @Test(arguments: 0..<60)
  func listingIsIdentity(_ seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var tree = try randomTree(using: &generator)
    for limit in [1_000, 9, 3, 1] {
      tree.prune(to: limit)
      let listed = try RevisionTree(tree.listed, within: .standard)
      #expect(listed == tree)
      #expect(listed.byteCount == tree.byteCount)
    }
  }

  @Test(arguments: 0..<60)
  func codingIsIdentity(_ seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    var tree = try randomTree(using: &generator)
    for limit in [1_000, 9, 3, 1] {
      tree.prune(to: limit)
      let decoded = try tree.encoded.withUnsafeBytes { try RevisionTree(decoding: $0) }
      #expect(decoded == tree)
      #expect(decoded.encoded == tree.encoded)
    }
  }

  @Test(arguments: 0..<40)
  func graftsOfOneTreeInAnyOrderRebuildIt(_ seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let tree = try randomTree(using: &generator)
    var rebuilt = RevisionTree()
    // Grafts in any order join the branches. A history does not say which ancestors are tombstones.
    for node in tree.nodes.shuffled(using: &generator) where node.isLeaf {
      try rebuilt.graft(tree.history(of: node.revision), isDeleted: node.isDeleted)
      #expect(rebuilt.hasParentsFirst)
    }
    #expect(rebuilt.leaves.map(\.revision) == tree.leaves.map(\.revision))
    #expect(rebuilt.winner?.revision == tree.winner?.revision)
    for leaf in tree.leaves {
      #expect(rebuilt.history(of: leaf.revision) == tree.history(of: leaf.revision))
    }
  }

  /// Peers keep different numbers of ancestors, send any of their revisions, and send some again. The result is one
  /// tree, as long as nothing is forgotten in between (FAULTS J09).
  @Test(.bug(id: "J09"), arguments: 0..<60)
  func historiesThatAreCutOffMakeOneTreeInAnyOrder(_ seed: UInt64) throws {
    var generator = SeededGenerator(seed: seed)
    let tree = try randomTree(using: &generator)
    let arrivals = (0..<120).compactMap { _ in tree.nodes.randomElement(using: &generator) }
      .map { node in
        let history = tree.history(of: node.revision)
        let length = Int.random(in: 1...history.count, using: &generator)
        return (history: Array(history.prefix(length)), isDeleted: node.isDeleted)
      }
    var trees: [RevisionTree] = []
    for _ in 0..<4 {
      var rebuilt = RevisionTree()
      for arrival in arrivals.shuffled(using: &generator) {
        try rebuilt.graft(arrival.history, isDeleted: arrival.isDeleted)
        #expect(rebuilt.hasParentsFirst)
      }
      trees.append(rebuilt)
    }
    for other in trees.dropFirst() {
      #expect(other.parents == trees[0].parents)
      #expect(other.leaves.map(\.revision) == trees[0].leaves.map(\.revision))
      #expect(other.leaves.map(\.isDeleted) == trees[0].leaves.map(\.isDeleted))
    }
    // Every parent that a history named is the parent in the original tree.
    for (revision, parent) in trees[0].parents {
      guard let parent else { continue }
      #expect(tree.history(of: revision).dropFirst().first == parent)
    }
  }

  private func randomTree(using generator: inout SeededGenerator) throws -> RevisionTree {
    var replica = Replica()
    for _ in 0..<Int.random(in: 1...60, using: &generator) { try replica.edit(using: &generator) }
    return replica.tree
  }
}

/// One device's copy of one document.
private struct Replica {
  private static let id = DocumentID(stored: "a")
  var tree = RevisionTree()
  var bodies: [RevisionID: DocumentBody] = [:]

  /// Edits or deletes a random leaf, or adds a branch below a random revision. An empty tree gets a root.
  mutating func edit(using generator: inout SeededGenerator) throws {
    let body = try DocumentBody.text("{\"n\":\(UInt8.random(in: 0...255, using: &generator))}")
    let isDeleted = Int.random(in: 0..<5, using: &generator) == 0
    let mutation: Mutation?
    switch Int.random(in: 0..<6, using: &generator) {
    case 0 where tree.leaves.count < 20:
      let parent = tree.nodes.randomElement(using: &generator)?.revision
      let revision = body.revision(below: parent, isDeleted: isDeleted)
      let history = [revision] + (parent.map { tree.history(of: $0) } ?? [])
      mutation = try Edit.insert(
        Self.id, in: tree, history: history, body: body, isDeleted: isDeleted, known: nil)
    default:
      let leaf = tree.leaves.randomElement(using: &generator)?.revision
      mutation = try Edit.put(Self.id, in: tree, base: leaf, body: body, isDeleted: isDeleted)
    }
    take(mutation)
  }

  /// Inserts the other replica's leaves with their histories, in random order, as a replicator does.
  mutating func pull(from other: Replica, using generator: inout SeededGenerator) throws {
    for leaf in other.tree.leaves.shuffled(using: &generator) {
      take(
        try Edit.insert(
          Self.id, in: tree, history: other.tree.history(of: leaf.revision),
          body: other.bodies[leaf.revision] ?? .empty, isDeleted: leaf.isDeleted,
          known: bodies[leaf.revision]))
    }
  }

  private mutating func take(_ mutation: Mutation?) {
    guard let mutation else { return }
    tree = mutation.tree
    if let body = mutation.body { bodies[mutation.revision] = body }
  }
}
