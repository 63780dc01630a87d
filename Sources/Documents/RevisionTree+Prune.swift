extension RevisionTree {
  /// Forgets revisions that are more than `limit` steps from every leaf, the leaf counted.
  /// What remains of a cut branch starts at a new root.
  /// - Returns: the forgotten revisions.
  @discardableResult
  package mutating func prune(to limit: Int) -> [RevisionID] {
    guard nodes.count > max(limit, 1) else { return [] }
    guard !isLine else { return removeFirst(nodes.count - max(limit, 1)) }
    let allowance = allowances(max(limit, 1))
    guard allowance.contains(0) else { return [] }
    return remove { allowance[$0] == 0 }
  }

  /// Forgets revisions until the tree is within limits: those that are too many steps from every leaf, and where what
  /// remains takes too many bytes, those that are half as many, and so on.
  package mutating func prune(to limits: HistoryLimits) {
    var steps = max(limits.revisions, 1)
    prune(to: steps)
    while byteCount > limits.treeBytes, steps > 1 {
      steps /= 2
      prune(to: steps)
    }
  }

  /// The revisions whose bodies an engine keeps: the leaves and, for history and restore, so many
  /// ancestors of each.
  package func revisions(withinSteps ancestors: Int) -> Set<RevisionID> {
    guard !isLine else { return Set(nodes.suffix(max(ancestors, 0) + 1).map(\.revision)) }
    let allowance = allowances(max(ancestors, 0) + 1)
    return Set(nodes.indices.lazy.filter { allowance[$0] > 0 }.map { nodes[$0].revision })
  }

  /// Whether there are no branches, as in most documents: then the oldest stand first, and each is followed by its
  /// child.
  private var isLine: Bool {
    nodes.indices.allSatisfy { nodes[$0].parent == ($0 == 0 ? nil : $0 - 1) }
  }

  /// How many further steps up from each node some leaf allows, the leaf counted; 0 means: too far.
  private func allowances(_ limit: Int) -> [Int] {
    var allowance = [Int](repeating: 0, count: nodes.count)
    for place in nodes.indices.reversed() {
      if nodes[place].isLeaf { allowance[place] = limit }
      if let parent = nodes[place].parent {
        allowance[parent] = max(allowance[parent], allowance[place] - 1)
      }
    }
    return allowance
  }

  /// Takes nodes out by their places; a node whose parent goes becomes a root.
  /// - Returns: their revisions.
  @discardableResult
  mutating func remove(_ isDropped: (Int) -> Bool) -> [RevisionID] {
    let first = nodes.indices.first { !isDropped($0) } ?? nodes.count
    guard nodes.indices.dropFirst(first).contains(where: isDropped) else {
      return removeFirst(first)
    }
    var kept: [Node] = []
    var dropped: [RevisionID] = []
    var places = [Int?](repeating: nil, count: nodes.count)
    for (place, node) in nodes.enumerated() {
      guard !isDropped(place) else {
        dropped.append(node.revision)
        byteCount -= node.revision.storedBytes
        continue
      }
      var node = node
      node.parent = node.parent.flatMap { places[$0] }
      places[place] = kept.count
      kept.append(node)
    }
    nodes = kept
    finder = nil
    return dropped
  }

  /// Takes the oldest nodes out, as an edit of a document with one branch does each time: the others only move.
  private mutating func removeFirst(_ count: Int) -> [RevisionID] {
    guard count > 0 else { return [] }
    let dropped = nodes.prefix(count).map(\.revision)
    byteCount -= dropped.reduce(0) { $0 + $1.storedBytes }
    nodes.removeFirst(count)
    finder = nil
    for place in nodes.indices {
      guard let parent = nodes[place].parent else { continue }
      nodes[place].parent = parent < count ? nil : parent - count
    }
    return dropped
  }
}
