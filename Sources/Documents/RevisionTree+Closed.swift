extension RevisionTree {
  /// Whether a peer need not bring a revision: it is in the tree, or the end of a branch that was merged and let go of.
  package func knows(_ revision: RevisionID) -> Bool {
    index(of: revision) != nil || hasMark(of: revision)
  }

  /// Whether a revision is the end of a branch that was merged and let go of.
  package func hasMark(of revision: RevisionID) -> Bool { closed.hasMark(of: revision) }

  /// How many branches are remembered by a mark alone.
  package var markCount: Int { closed.markCount }

  /// Whether the tree says more than its winner's id.
  package var isMoreThanOneRevision: Bool { nodes.count > 1 || !closed.isEmpty }

  /// Lets go of branches with a tombstone beside a live winner, but for the newest
  /// ``ClosedBranches/maximumStanding`` that were closed less than ``ClosedBranches/days`` days ago: of each a mark
  /// remains. Revisions that another leaf descends from stay.
  ///
  /// What is merged is in the winner and stays there. The mark alone keeps a peer from bringing the branch back.
  /// - Parameter day: today, in days since 1970. Branches that were closed before this was noted count as closed today.
  /// - Returns: whether revisions went.
  @discardableResult
  package mutating func shrinkClosedBranches(on day: Int) -> Bool {
    defer { if !closed.isEmpty { closed.forgetOldMarks(on: day) } }
    guard winner?.isDeleted == false else { return false }
    var places: [ClosedBranch.Key: Int] = [:]
    var found: [(key: ClosedBranch.Key, branch: ClosedBranch)] = []
    for place in nodes.indices where nodes[place].isLeaf && nodes[place].isDeleted {
      let leaf = nodes[place].parent.map { nodes[$0].revision }
      let branch = ClosedBranch(tombstone: nodes[place].revision, leaf: leaf, day: day)
      places[branch.key] = place
      found.append((branch.key, branch))
    }
    closed.standing.removeAll { places[$0.key] == nil }
    let noted = Set(closed.standing.map(\.key))
    closed.standing += found.filter { !noted.contains($0.key) }.map(\.branch)
    let excess = closed.standing.count - ClosedBranches.maximumStanding
    var going: Set<Int> = []
    var standing: [ClosedBranch] = []
    for (rank, branch) in closed.standing.enumerated() {
      guard rank < excess || day - branch.day > ClosedBranches.days else {
        standing.append(branch)
        continue
      }
      closed.mark(branch, on: day)
      if let place = places[branch.key] { going.insert(place) }
    }
    closed.standing = standing
    if !going.isEmpty { letGo(of: going) }
    return !going.isEmpty
  }

  /// Whether a peer's history ends in a branch that was merged and let go of, or only closes such a branch.
  func isMarked(_ history: [RevisionID], isDeleted: Bool) -> Bool {
    guard let newest = history.first, !closed.isEmpty, index(of: newest) == nil else {
      return false
    }
    if closed.hasMark(of: newest) { return true }
    guard isDeleted, history.count > 1, index(of: history[1]) == nil else { return false }
    return closed.hasMark(ofLeaf: history[1])
  }

  /// Takes leaves out, with the ancestors that no other leaf descends from.
  private mutating func letGo(of leaves: Set<Int>) {
    var isNeeded = nodes.indices.map { nodes[$0].isLeaf && !leaves.contains($0) }
    for place in nodes.indices.reversed() where isNeeded[place] {
      if let parent = nodes[place].parent { isNeeded[parent] = true }
    }
    remove { !isNeeded[$0] }
  }
}

extension ClosedBranch {
  /// Tells one tombstone of a tree from the others.
  struct Key: Hashable {
    let generation: Int
    let tombstone: Digest
  }

  /// Which tombstone it is.
  var key: Key { Key(generation: generation, tombstone: tombstone) }
}
