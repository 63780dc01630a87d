import Documents

/// What a merge knows of each revision of a tree while it goes from the leaves to the root.
struct MergedBranches {
  /// The branches below each node that have a live leaf.
  var sides: [[BookmarkMerge.Side]]
  /// The tombstones right below each node that are leaves.
  private(set) var tombstones: [[RevisionID]]
  private let tree: RevisionTree
  /// Whether a live leaf stands below each node, or is it, whose branch was never merged before.
  private let isOpen: [Bool]

  /// Looks at a tree.
  init(_ tree: RevisionTree) {
    let nodes = tree.nodes
    var tombstones = [[RevisionID]](repeating: [], count: nodes.count)
    for node in nodes where node.isLeaf && node.isDeleted {
      if let parent = node.parent { tombstones[parent].append(node.revision) }
    }
    var isBelowMerged = [Bool](repeating: false, count: nodes.count)
    for (place, node) in nodes.enumerated() {
      guard let parent = node.parent else { continue }
      isBelowMerged[place] = isBelowMerged[parent] || !tombstones[parent].isEmpty
    }
    var isOpen = [Bool](repeating: false, count: nodes.count)
    for (place, node) in nodes.enumerated().reversed() {
      if node.isLeaf { isOpen[place] = !node.isDeleted && !isBelowMerged[place] }
      if let parent = node.parent, isOpen[place] { isOpen[parent] = true }
    }
    self.sides = Array(repeating: [], count: nodes.count)
    self.tombstones = tombstones
    self.tree = tree
    self.isOpen = isOpen
  }

  /// Whether what a revision says is in the target already: for the same document, in a live leaf below
  /// the revision that one of its tombstones names.
  func isMerged(_ place: Int, into target: BookmarkMerge.Target) -> Bool {
    let tombstones = tombstones[place]
    guard !tombstones.isEmpty else { return false }
    switch target {
    case .canonicalList: return true
    case .sameDocument:
      let loser = tree.nodes[place].revision
      return tree.nodes.enumerated().contains { place, node in
        isOpen[place] && tombstones.contains(BookmarkMerge.closing(loser, into: node.revision))
      }
    }
  }
}
