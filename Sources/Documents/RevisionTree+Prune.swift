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
