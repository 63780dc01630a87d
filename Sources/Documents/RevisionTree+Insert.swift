extension RevisionTree {
  /// What a peer's history taught a tree.
  package enum Growth: Sendable {
    /// Nothing: all of it was known.
    case nothing
    /// Ancestors of a newest revision that was known.
    case ancestors
    /// The newest revision, maybe with ancestors.
    case revision
  }

  /// Adds a revision below a leaf, or a root when `parent` is nil.
  /// - Returns: false when the revision was known.
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
    try requireRoom(
      for: revision.storedBytes, whenBelow: parentIndex, isDeleted: isDeleted, limits)
    append(revision, below: parentIndex, isDeleted: isDeleted)
    return true
  }

  /// Grafts a peer's history, newest first, one generation a step: adds what is unknown, and joins
  /// a branch that had been cut off (a root) to the ancestors that the history names, also where the
  /// newest revision is known. Ancestors that are new come without a body and are counted as live.
  ///
  /// So histories that were cut off anywhere make one tree, in whatever order they come. Source: CouchDB,
  /// `couch_key_tree:merge`.
  /// - Throws: `tooManyLeaves` when the graft would open one branch too many or make the tree too large; `invalidRevision`
  ///   when the history skips a generation.
  @discardableResult
  package mutating func graft(
    _ history: [RevisionID], isDeleted: Bool, within limits: HistoryLimits = .standard
  ) throws(DocumentError) -> Growth {
    guard let newest = history.first else { return .nothing }
    guard zip(history, history.dropFirst()).allSatisfy({ $0.generation - 1 == $1.generation })
    else { throw DocumentError(.invalidRevision, "A history goes back one generation a step") }
    guard !isMarked(history, isDeleted: isDeleted) else { return .nothing }
    let path = path(of: history)
    let isKnown = path.first?.known != nil
    if !isKnown {
      try requireRoom(
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

  /// As much of a history as the tree has nothing against, with the places of what it knows.
  ///
  /// Where the tree and the history agree, the history may know what is below a branch's root; where they
  /// don't, the tree's own word stands. So what a tree knows does not depend on the order of arrival.
  private func path(of history: [RevisionID]) -> [(revision: RevisionID, known: Int?)] {
    var path: [(revision: RevisionID, known: Int?)] = []
    var agreed: Int?
    let places = finder == nil ? places(of: history) : nil
    for (place, revision) in history.enumerated() {
      let known = agreed ?? (places.map { $0[place] } ?? index(of: revision))
      agreed = nil
      path.append((revision, known))
      guard let known, let parent = nodes[known].parent else { continue }
      guard history.indices.contains(place + 1), nodes[parent].revision == history[place + 1]
      else { break }
      agreed = parent
    }
    return path
  }

  /// Each revision with its parent: equal for trees that know the same, in whatever order they learnt it.
  var parents: [RevisionID: RevisionID?] {
    Dictionary(
      nodes.map { ($0.revision, $0.parent.map { nodes[$0].revision }) },
      uniquingKeysWith: { first, _ in first })
  }

  /// Where each revision of a history stands, nil for the unknown; goes through the tree once.
  private func places(of history: [RevisionID]) -> [Int?] {
    var places = [Int?](repeating: nil, count: history.count)
    guard let newest = history.first else { return places }
    for (place, node) in nodes.enumerated() {
      let step = newest.generation - node.revision.generation
      if history.indices.contains(step), history[step] == node.revision { places[step] = place }
    }
    return places
  }

  private mutating func join(_ root: Int, to parent: Int) {
    nodes[root].parent = parent
    noLongerLeaf(parent)
  }

  private mutating func noLongerLeaf(_ place: Int) {
    finder?.noLongerLeaf(nodes[place])
    nodes[place].isLeaf = false
  }

  /// Puts parents before their children again; a child is one generation above its parent.
  private mutating func restoreOrder() {
    guard nodes.enumerated().contains(where: { ($1.parent ?? -1) > $0 }) else { return }
    let order = nodes.indices.sorted {
      (nodes[$0].revision.generation, $0) < (nodes[$1].revision.generation, $1)
    }
    finder = nil
    var places = [Int](repeating: 0, count: nodes.count)
    for (place, old) in order.enumerated() { places[old] = place }
    nodes = order.map { old in
      var node = nodes[old]
      node.parent = node.parent.map { places[$0] }
      return node
    }
  }

  /// A branch that was closed by a tombstone makes room again: a merge leaves one behind each time.
  private func requireRoom(
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
    if finder?.addLast(of: nodes) == false { finder = RevisionPlaces(nodes) }
    return nodes.count - 1
  }
}
