extension RevisionTree {
  /// What a peer's history added to a tree.
  package enum Growth: Sendable {
    /// Nothing: the tree knew all of it.
    case nothing
    /// Ancestors of a known revision.
    case ancestors
    /// The newest revision, and perhaps ancestors.
    case revision
  }

  /// Adds a revision as a child of `parent`, or as a root when `parent` is nil.
  /// - Returns: false when the tree already knew the revision.
  /// - Throws: `missing` when the parent is unknown; `tooManyLeaves` when the tree would have one branch too
  ///   many or be too large.
  @discardableResult
  package mutating func insert(
    _ revision: RevisionID, below parent: RevisionID?, isDeleted: Bool,
    within limits: HistoryLimits = .standard
  ) throws(DocumentError) -> Bool {
    guard index(of: revision) == nil else { return false }
    var parentIndex: Int?
    if let parent {
      guard let found = index(of: parent) else { throw .missing }
      parentIndex = found
    }
    try requireCapacity(
      for: revision.storedBytes, whenBelow: parentIndex, isDeleted: isDeleted, limits)
    append(revision, below: parentIndex, isDeleted: isDeleted)
    return true
  }

  /// Merges a peer's history into the tree. The history is newest first; each step is one generation.
  ///
  /// Unknown revisions are added. A branch whose older part is missing (it starts at a root) is joined to the
  /// ancestors in the history, also when the tree knows the newest revision. New ancestors have no body and
  /// count as live.
  ///
  /// So histories that were cut at different revisions make the same tree in every order of arrival. Source:
  /// CouchDB, `couch_key_tree:merge`.
  /// - Throws: `tooManyLeaves` when the tree would have one branch too many or be too large;
  ///   `invalidRevision` when the history skips a generation; `damaged` when revisions of the tree are kept
  ///   apart (``older``).
  @discardableResult
  package mutating func graft(
    _ history: [RevisionID], isDeleted: Bool, within limits: HistoryLimits = .standard
  ) throws(DocumentError) -> Growth {
    guard let newest = history.first else { return .nothing }
    // The history may name revisions that are kept apart.
    guard older == 0 else { throw HistoryPiece.damaged }
    guard zip(history, history.dropFirst()).allSatisfy({ $0.generation - 1 == $1.generation })
    else {
      throw DocumentError(
        .invalidRevision, "Each revision of a history must be one generation below the former one")
    }
    guard !isMarked(history, isDeleted: isDeleted) else { return .nothing }
    let path = path(of: history)
    let isKnown = path.first?.known != nil
    if !isKnown {
      try requireCapacity(
        for: path.reduce(0) { $0 + ($1.known == nil ? $1.revision.storedBytes : 0) },
        whenBelow: path.first { $0.known != nil }?.known, isDeleted: isDeleted, limits)
    }
    var parent: Int?
    var hasJoined = false
    for step in path.reversed() {
      if let known = step.known {
        if let parent, nodes[known].parent == nil {
          join(known, to: parent)
          hasJoined = true
        }
        parent = known
      } else {
        parent = append(
          step.revision, below: parent, isDeleted: step.revision == newest && isDeleted)
      }
    }
    if hasJoined { restoreOrder() }
    return isKnown ? (hasJoined ? .ancestors : .nothing) : .revision
  }

  /// The part of a history that does not contradict the tree, with the indices of the known revisions.
  ///
  /// Where tree and history agree, the history may know ancestors of a branch's root. Where they disagree,
  /// the tree stays as it is. So the content of the tree does not depend on the order of arrival.
  private func path(of history: [RevisionID]) -> [(revision: RevisionID, known: Int?)] {
    var path: [(revision: RevisionID, known: Int?)] = []
    var agreed: Int?
    let indices = finder == nil ? pathIndices(of: history) : nil
    for (position, revision) in history.enumerated() {
      let known = agreed ?? (indices.map { $0[position] } ?? index(of: revision))
      agreed = nil
      path.append((revision, known))
      guard let known, let parent = nodes[known].parent else { continue }
      guard history.indices.contains(position + 1), nodes[parent].revision == history[position + 1]
      else { break }
      agreed = parent
    }
    return path
  }

  /// Each revision with its parent. Equal for trees with the same revisions, whatever the order of arrival.
  var parents: [RevisionID: RevisionID?] {
    Dictionary(
      nodes.map { ($0.revision, $0.parent.map { nodes[$0].revision }) },
      uniquingKeysWith: { first, _ in first })
  }

  /// The index of each revision of a history, nil for unknown ones. Walks over the tree once.
  private func pathIndices(of history: [RevisionID]) -> [Int?] {
    var indices = [Int?](repeating: nil, count: history.count)
    guard let newest = history.first else { return indices }
    // The loop uses indices: a loop over nodes copies each of them.
    for index in nodes.indices {
      let step = newest.generation - nodes[index].revision.generation
      if history.indices.contains(step), history[step] == nodes[index].revision {
        indices[step] = index
      }
    }
    return indices
  }

  private mutating func join(_ root: Int, to parent: Int) {
    nodes[root].parent = parent
    noLongerLeaf(parent)
  }

  private mutating func noLongerLeaf(_ index: Int) {
    finder?.noLongerLeaf(nodes[index])
    nodes[index].isLeaf = false
  }

  /// Puts parents before their children again, by generation.
  private mutating func restoreOrder() {
    guard nodes.indices.contains(where: { (nodes[$0].parent ?? -1) > $0 }) else { return }
    let order = nodes.indices.sorted {
      (nodes[$0].revision.generation, $0) < (nodes[$1].revision.generation, $1)
    }
    finder = nil
    var newIndices = [Int](repeating: 0, count: nodes.count)
    for (index, old) in order.enumerated() { newIndices[old] = index }
    nodes = order.map { old in
      var node = nodes[old]
      node.parent = node.parent.map { newIndices[$0] }
      return node
    }
  }

  /// Checks the limits of leaves and bytes. Live leaves and tombstones have separate limits, because each
  /// merge leaves a tombstone behind.
  private func requireCapacity(
    for bytes: Int, whenBelow parent: Int?, isDeleted: Bool, _ limits: HistoryLimits
  ) throws(DocumentError) {
    if let parent, nodes[parent].isLeaf { return }
    let count = isDeleted ? closedLeafCount : openLeafCount
    guard count < (isDeleted ? limits.deletedLeaves : limits.liveLeaves) else {
      throw DocumentError(
        .tooManyLeaves, "The document has \(count) conflicting revisions; resolve some first")
    }
    guard count == 0 || byteCount + bytes <= limits.treeBytes else {
      throw DocumentError(
        .tooManyLeaves,
        "The document's revisions take \(byteCount) bytes; resolve conflicts before others come")
    }
  }

  @discardableResult
  private mutating func append(_ revision: RevisionID, below parent: Int?, isDeleted: Bool) -> Int {
    if let parent { noLongerLeaf(parent) }
    byteCount += revision.storedBytes
    nodes.append(Node(revision: revision, parent: parent, isDeleted: isDeleted, isLeaf: true))
    if finder?.addLast(of: nodes) == false { finder = RevisionIndexTable(nodes) }
    return nodes.count - 1
  }

  /// Forgets revisions that are more than `limit` steps from every leaf; the leaf is the first step. The
  /// oldest revision that stays on a branch becomes a root.
  /// - Returns: the forgotten revisions, without those that are kept apart.
  @discardableResult
  package mutating func prune(to limit: Int) -> [RevisionID] {
    guard count > max(limit, 1) else { return [] }
    forgetOlder(beyond: max(limit, 1))
    guard nodes.count > max(limit, 1) else { return [] }
    guard !isLine else { return removeFirst(nodes.count - max(limit, 1)) }
    let allowance = allowances(max(limit, 1))
    guard allowance.contains(0) else { return [] }
    return remove { allowance[$0] == 0 }
  }

  /// Forgets revisions until the tree is within the limits: first those that are too many steps from every
  /// leaf. While the tree takes too many bytes, the allowed number of steps is halved.
  package mutating func prune(to limits: HistoryLimits) {
    var steps = max(limits.revisions, 1)
    prune(to: steps)
    while byteCount > limits.treeBytes, steps > 1 {
      steps /= 2
      prune(to: steps)
    }
  }

  /// The revisions whose bodies an engine keeps: the leaves, and the nearest `ancestors` ancestors of each,
  /// for history and restore.
  package func revisions(withinSteps ancestors: Int) -> Set<RevisionID> {
    guard !isLine else { return Set(nodes.suffix(max(ancestors, 0) + 1).map(\.revision)) }
    let allowance = allowances(max(ancestors, 0) + 1)
    return Set(nodes.indices.lazy.filter { allowance[$0] > 0 }.map { nodes[$0].revision })
  }

  /// Whether the tree has no branches, as most trees: each node is the parent of the next one.
  var isLine: Bool { nodes.indices.allSatisfy { nodes[$0].parent == ($0 == 0 ? nil : $0 - 1) } }

  /// For each node, how many further steps towards the root some leaf allows; the leaf is the first step. 0
  /// means too far from every leaf.
  func allowances(_ limit: Int) -> [Int] {
    var allowance = [Int](repeating: 0, count: nodes.count)
    for index in nodes.indices.reversed() {
      if nodes[index].isLeaf { allowance[index] = limit }
      if let parent = nodes[index].parent {
        allowance[parent] = max(allowance[parent], allowance[index] - 1)
      }
    }
    return allowance
  }

  /// Removes nodes by their indices. A node whose parent is removed becomes a root.
  /// - Returns: the removed revisions.
  @discardableResult
  mutating func remove(_ isDropped: (Int) -> Bool) -> [RevisionID] {
    if older > 0, isDropped(0) { forgetOlder(to: 0) }
    let first = nodes.indices.first { !isDropped($0) } ?? nodes.count
    guard nodes.indices.dropFirst(first).contains(where: isDropped) else {
      return removeFirst(first)
    }
    var dropped: [RevisionID] = []
    // Nodes move forward within the array: another array of them is megabytes for the largest trees.
    var newIndices = [Int?](repeating: nil, count: nodes.count)
    var end = 0
    for index in nodes.indices {
      guard !isDropped(index) else {
        dropped.append(nodes[index].revision)
        byteCount -= nodes[index].revision.storedBytes
        continue
      }
      newIndices[index] = end
      if let parent = nodes[index].parent { nodes[index].parent = newIndices[parent] }
      if end < index { nodes.swapAt(end, index) }
      end += 1
    }
    nodes.removeLast(nodes.count - end)
    finder = nil
    return dropped
  }

  /// Removes the oldest nodes, as each edit of a long history without branches does. The other nodes only
  /// move.
  private mutating func removeFirst(_ count: Int) -> [RevisionID] {
    guard count > 0 else { return [] }
    forgetOlder(to: 0)
    let dropped = nodes.prefix(count).map(\.revision)
    byteCount -= dropped.reduce(0) { $0 + $1.storedBytes }
    nodes.removeFirst(count)
    finder = nil
    for index in nodes.indices {
      guard let parent = nodes[index].parent else { continue }
      nodes[index].parent = parent < count ? nil : parent - count
    }
    return dropped
  }
}
