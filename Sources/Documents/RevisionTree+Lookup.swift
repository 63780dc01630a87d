/// Look-ups of many revisions with one walk over the tree.
extension RevisionTree {
  /// The indices of revisions in ``nodes``; unknown revisions are left out.
  package func indices(of revisions: some Collection<RevisionID>) -> [RevisionID: Int] {
    var indices: [RevisionID: Int] = [:]
    guard revisions.count > 1 else {
      for revision in revisions { indices[revision] = index(of: revision) }
      return indices
    }
    let wanted = Set(revisions)
    guard let lowest = wanted.lazy.map(\.generation).min(),
      let highest = wanted.lazy.map(\.generation).max()
    else { return indices }
    for index in nodes.indices {
      // This comparison saves the hash of most nodes of a long history.
      guard (lowest...highest).contains(nodes[index].revision.generation),
        wanted.contains(nodes[index].revision)
      else { continue }
      indices[nodes[index].revision] = index
    }
    return indices
  }

  /// The revision at an index and its known ancestors, newest first.
  package func history(at index: Int) -> [RevisionID] { line(at: index).map(\.revision) }

  /// The node at an index and its known ancestors, newest first.
  package func line(at index: Int) -> [Node] {
    var line: [Node] = []
    var next: Int? = nodes.indices.contains(index) ? index : nil
    while let current = next {
      line.append(nodes[current])
      next = nodes[current].parent
    }
    return line
  }

  /// The leaves that descend from a revision, winner first; the revision itself when it is a leaf.
  package func leaves(below revision: RevisionID) -> [Node] {
    guard let first = index(of: revision) else { return [] }
    guard !nodes[first].isLeaf else { return [nodes[first]] }
    // Parents come before their children, so one forward walk finds all descendants.
    var isBelow = [Bool](repeating: false, count: nodes.count)
    isBelow[first] = true
    var leaves: [Node] = []
    for index in nodes.indices.dropFirst(first + 1) {
      guard let parent = nodes[index].parent, isBelow[parent] else { continue }
      isBelow[index] = true
      if nodes[index].isLeaf { leaves.append(nodes[index]) }
    }
    return leaves.sorted(by: Self.wins)
  }

  // MARK: A tree as a list of its revisions, to be stored elsewhere and read back

  /// One revision of a list. Parents come before their children.
  package struct Listed: Sendable, Equatable {
    package let revision: RevisionID
    /// The parent's index in the list; nil for a root.
    package let parent: Int?
    package let isDeleted: Bool

    package init(revision: RevisionID, parent: Int?, isDeleted: Bool) {
      self.revision = revision
      self.parent = parent
      self.isDeleted = isDeleted
    }
  }

  /// The revisions in the order of ``nodes``.
  package var listed: [Listed] {
    nodes.map { Listed(revision: $0.revision, parent: $0.parent, isDeleted: $0.isDeleted) }
  }

  /// Creates a tree from such a list. The tree equals the one that was listed, if that was within the limits.
  /// - Throws: ``DocumentError`` with code `invalidDocument` for an empty list, a revision that occurs twice,
  ///   or a parent that does not come before its child or is not one generation lower; `tooManyLeaves` for a
  ///   tree beyond the limits.
  package init(_ list: [Listed], within limits: HistoryLimits) throws(DocumentError) {
    var nodes: [Node] = []
    nodes.reserveCapacity(list.count)
    var known: Set<RevisionID> = []
    for (index, listed) in list.enumerated() {
      guard known.insert(listed.revision).inserted else {
        throw Self.invalid("Revision \(listed.revision) is in it twice")
      }
      if let parent = listed.parent {
        guard (0..<index).contains(parent),
          nodes[parent].revision.generation + 1 == listed.revision.generation
        else {
          throw Self.invalid(
            "The parent of \(listed.revision) must be before it, one generation lower")
        }
        nodes[parent].isLeaf = false
      }
      nodes.append(
        Node(
          revision: listed.revision, parent: listed.parent, isDeleted: listed.isDeleted,
          isLeaf: true))
    }
    guard !nodes.isEmpty else { throw Self.invalid("There is no revision in it") }
    self.init(nodes: nodes)
    prune(to: limits.revisions)
    guard openLeafCount <= limits.liveLeaves, closedLeafCount <= limits.deletedLeaves,
      byteCount <= limits.treeBytes
    else {
      throw DocumentError(
        .tooManyLeaves, "It has more branches or revisions than a document may have")
    }
  }

  private static func invalid(_ reason: String) -> DocumentError {
    DocumentError(.invalidDocument, reason)
  }
}

/// The leaves below each revision of a tree. The initialiser walks over the tree twice; after that an answer
/// takes time only for its own leaves.
package struct LeavesBelow: Sendable {
  private let tree: RevisionTree
  /// The indices of the leaves; the leaves below one node are next to each other.
  private var leaves: [Int]
  /// For each node the position of its first leaf in ``leaves``, and how many leaves it has.
  private var ranges: [(first: Int, count: Int)]

  /// Prepares the answers for a tree.
  package init(_ tree: RevisionTree) {
    self.tree = tree
    let nodes = tree.nodes
    ranges = Array(repeating: (0, 0), count: nodes.count)
    for index in nodes.indices.reversed() {
      if nodes[index].isLeaf { ranges[index].count = 1 }
      if let parent = nodes[index].parent { ranges[parent].count += ranges[index].count }
    }
    // For each node, the position in `leaves` for the leaves of its next child.
    var free = [Int](repeating: 0, count: nodes.count)
    var end = 0
    for index in nodes.indices {
      if let parent = nodes[index].parent {
        ranges[index].first = free[parent]
        free[parent] += ranges[index].count
      } else {
        ranges[index].first = end
        end += ranges[index].count
      }
      free[index] = ranges[index].first
    }
    leaves = Array(repeating: 0, count: end)
    for index in nodes.indices where nodes[index].isLeaf { leaves[ranges[index].first] = index }
  }

  /// The indices of the leaves that descend from the node at an index, the lowest revision id first; the index itself when
  /// the node is a leaf.
  package func leafIndices(below index: Int) -> [Int] {
    guard ranges.indices.contains(index) else { return [] }
    let (first, count) = ranges[index]
    return leaves[first..<first + count].sorted {
      tree.nodes[$0].revision < tree.nodes[$1].revision
    }
  }
}
