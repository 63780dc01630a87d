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
    // What a peer names may stand among those that are kept apart.
    guard older == 0 else { throw HistoryPiece.damaged }
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

extension RevisionTree {
  /// Forgets revisions that are more than `limit` steps from every leaf, the leaf counted.
  /// What remains of a cut branch starts at a new root.
  /// - Returns: the forgotten revisions, but for those that are kept apart.
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
  var isLine: Bool {
    nodes.indices.allSatisfy { nodes[$0].parent == ($0 == 0 ? nil : $0 - 1) }
  }

  /// How many further steps up from each node some leaf allows, the leaf counted; 0 means: too far.
  func allowances(_ limit: Int) -> [Int] {
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
    if older > 0, isDropped(0) { forgetOlder(to: 0) }
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
    forgetOlder(to: 0)
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

/// What is left of the revisions of one document that were purged: marks that make them known, each in
/// ``ClosedBranch/byteCount`` bytes for two revisions, one below the other.
///
/// So whoever still has a purged revision does not bring it back, and a new document of the same id goes on from the
/// latest, so that it never gets a purged id. A mark is kept for ``ClosedBranches/days`` days, and of many the newest
/// ``ClosedBranches/maximumMarks``.
package struct PurgedRevisions: Sendable, Equatable {
  private var marks = ClosedBranches()

  /// None.
  package init() {}

  /// Reads marks as ``bytes`` wrote them.
  /// - Throws: `damaged` for other bytes.
  package init(_ bytes: [UInt8]) throws(DocumentError) {
    let marks: Result<ClosedBranches, DocumentError> = bytes.withUnsafeBytes { all in
      do throws(DocumentError) {
        return .success(try ClosedBranches(standing: all[0..<0], marks: all[...]))
      } catch {
        return .failure(error)
      }
    }
    self.marks = try marks.get()
  }

  /// The marks, the oldest first.
  package var bytes: [UInt8] { marks.marks }

  /// Whether a revision was purged.
  package func knows(_ revision: RevisionID) -> Bool { marks.hasMark(of: revision) }

  /// The latest revision that was purged and that an edit can follow, by its generation and then by its digest. Of a
  /// peer's own word the hash stands for it.
  package var latest: RevisionID? {
    marks.marked.map(\.marked).filter { $0.generation < RevisionID.maximumGeneration }.max()
  }

  /// Remembers the revisions that a purge takes out of a tree, and forgets what was purged long ago.
  /// - Parameter rest: what is left of the tree.
  /// - Parameter day: today, in days since 1970.
  package mutating func add(
    from tree: RevisionTree, leaving rest: RevisionTree, on day: Int
  ) {
    let left = Set(rest.nodes.map(\.revision))
    var isMarked = tree.nodes.map { left.contains($0.revision) }
    var branches: [ClosedBranch] = []
    // Parents stand before their children: from the leaves on, each mark takes a revision and its parent.
    for place in tree.nodes.indices.reversed() where !isMarked[place] {
      let node = tree.nodes[place]
      branches.append(
        ClosedBranch(
          tombstone: node.revision, leaf: node.parent.map { tree.nodes[$0].revision }, day: day))
      if let parent = node.parent { isMarked[parent] = true }
    }
    // The leaves last: they are the last to be forgotten.
    for branch in branches.reversed() { marks.mark(branch, on: day) }
    marks.forgetOldMarks(on: day)
  }
}

extension ClosedBranches {
  /// The branches of which a mark is left, the oldest first.
  fileprivate var marked: [ClosedBranch] {
    let size = ClosedBranch.byteCount
    return stride(from: 0, to: marks.count, by: size).compactMap { place in
      ClosedBranch(marks[place..<min(place + size, marks.count)])
    }
  }
}

extension ClosedBranch {
  /// The revision that the mark stands for.
  fileprivate var marked: RevisionID { RevisionID(generation: generation, digest: tombstone.hash) }
}
