/// The history of a document: every known revision with its parent. A value; no engine changes it.
///
/// Nodes stand parents first, so a parent's index is always below its child's. Drawn in tests as
/// `"1-a(2-b† 2-c*)"`: `†` a tombstone, `*` the winner.
package struct RevisionTree: Sendable, Equatable {
  /// How many revision ids are kept along each branch, as in CouchDB (`_revs_limit`).
  package static let defaultRevisionLimit = 1_000
  /// How many live leaves a document may have before further branches are refused.
  package static let maximumLeaves = 64
  /// How many leaves may be tombstones, which are counted apart.
  package static let maximumClosedLeaves = 1_024

  /// One revision.
  package struct Node: Sendable, Equatable {
    /// The revision's id.
    package let revision: RevisionID
    /// The parent's place in ``RevisionTree/nodes``; nil for a root.
    package internal(set) var parent: Int?
    /// Whether this revision deletes the document.
    package let isDeleted: Bool
    /// Whether no other revision names this one as its parent.
    package internal(set) var isLeaf: Bool
  }

  /// Every known revision, parents first.
  package internal(set) var nodes: [Node]
  /// What is known of branches that merges closed.
  var closed = ClosedBranches()

  /// A tree with no revision.
  package init() { nodes = [] }

  init(nodes: [Node]) { self.nodes = nodes }

  /// The leaves, winner first: not deleted before deleted, then the higher id.
  package var leaves: [Node] {
    nodes.indices.filter { nodes[$0].isLeaf }.map { nodes[$0] }.sorted(by: Self.wins)
  }

  /// The leaves that are no tombstones, winner first.
  package var liveLeaves: [Node] {
    nodes.indices.filter { nodes[$0].isLeaf && !nodes[$0].isDeleted }.map { nodes[$0] }
      .sorted(by: Self.wins)
  }

  /// The leaf that stands for the document; nil only for an empty tree.
  package var winner: Node? {
    var best: Int?
    // By their places: to look at one field of a node in a loop copies all of it.
    for place in nodes.indices where nodes[place].isLeaf {
      if let current = best, !Self.wins(nodes[place], nodes[current]) { continue }
      best = place
    }
    return best.map { nodes[$0] }
  }

  /// The leaves beside the winner that are no tombstones, highest first.
  package var conflicts: [RevisionID] {
    leaves.dropFirst().filter { !$0.isDeleted }.map(\.revision)
  }

  /// The tombstone leaves beside the winner, highest first.
  package var deletedConflicts: [RevisionID] {
    leaves.dropFirst().filter(\.isDeleted).map(\.revision)
  }

  /// The node of a revision; nil when unknown.
  package subscript(revision: RevisionID) -> Node? {
    index(of: revision).map { nodes[$0] }
  }

  /// The revision and its known ancestors, newest first; empty when unknown.
  package func history(of revision: RevisionID) -> [RevisionID] {
    index(of: revision).map { history(at: $0) } ?? []
  }

  /// The closest revision that both descend from (or are); nil when they share none.
  package func commonAncestor(_ first: RevisionID, _ second: RevisionID) -> RevisionID? {
    let known = Set(history(of: first))
    return history(of: second).first { known.contains($0) }
  }

  /// Where a revision stands among ``nodes``; nil when unknown. The newest are asked for most, and stand last.
  package func index(of revision: RevisionID) -> Int? {
    nodes.lastIndex { $0.revision == revision }
  }

  /// CouchDB's order of leaves, so that every compatible peer picks the same winner.
  static func wins(_ left: Node, _ right: Node) -> Bool {
    left.isDeleted != right.isDeleted
      ? !left.isDeleted : left.revision > right.revision
  }
}
