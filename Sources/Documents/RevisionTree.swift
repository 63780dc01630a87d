/// The history of a document: every known revision with its parent. A value; no engine changes it.
///
/// Nodes stand parents first, so a parent's index is always below its child's. Drawn in tests as
/// `"1-a(2-b† 2-c*)"`: `†` a tombstone, `*` the winner.
package struct RevisionTree: Sendable, Equatable {
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
  /// Bytes that the revisions take as they are stored, but for the few that tell where a branch begins.
  package internal(set) var byteCount: Int
  /// How many revisions below the first node are kept apart from the tree; see ``HistoryPiece``. None in most trees.
  package internal(set) var older = 0
  /// What is known of branches that merges closed.
  var closed = ClosedBranches()
  /// Finds revisions; nil for a tree that few are looked for in, or that was put in another order since.
  var finder: RevisionPlaces?

  /// How many revisions are known.
  package var count: Int { nodes.count + older }

  /// A tree with no revision.
  package init() { (nodes, byteCount) = ([], 0) }

  init(nodes: [Node]) {
    self.nodes = nodes
    byteCount = nodes.reduce(0) { $0 + $1.revision.storedBytes }
  }

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
    if let finder { return finder.place(of: revision, among: nodes) }
    return nodes.lastIndex { $0.revision == revision }
  }

  /// Gets ready for many look-ups and edits.
  package mutating func prepareForMany() {
    if finder == nil { finder = RevisionPlaces(nodes) }
  }

  /// How many leaves are no tombstones.
  package var openLeafCount: Int {
    finder?.openLeaves ?? nodes.indices.count { nodes[$0].isLeaf && !nodes[$0].isDeleted }
  }

  /// How many leaves are tombstones.
  var closedLeafCount: Int {
    finder?.closedLeaves ?? nodes.indices.count { nodes[$0].isLeaf && nodes[$0].isDeleted }
  }

  package static func == (left: RevisionTree, right: RevisionTree) -> Bool {
    left.nodes == right.nodes && left.older == right.older && left.closed == right.closed
  }

  /// CouchDB's order of leaves, so that every compatible peer picks the same winner.
  static func wins(_ left: Node, _ right: Node) -> Bool {
    left.isDeleted != right.isDeleted
      ? !left.isDeleted : left.revision > right.revision
  }
}

extension RevisionTree {
  /// The tree without some of its leaves, and without those ancestors that no other leaf descends from.
  /// Revisions that are no leaves stay as they are.
  ///
  /// A leaf comes from one peer and its ancestors may come from several, so that what another leaf needs
  /// is kept. Source: CouchDB, "POST /{db}/_purge".
  /// - Returns: an empty tree when no leaf is left.
  package func purging(_ revisions: Set<RevisionID>) -> RevisionTree {
    var isNeeded = nodes.map { $0.isLeaf && !revisions.contains($0.revision) }
    // Parents stand before their children, so that going backwards every child is settled first.
    for place in nodes.indices.reversed() where isNeeded[place] {
      if let parent = nodes[place].parent { isNeeded[parent] = true }
    }
    var rest = self
    rest.remove { !isNeeded[$0] }
    // What was merged may have gone with them: whoever has a branch still may bring it back.
    if rest.nodes.count < nodes.count { rest.closed = ClosedBranches() }
    return rest
  }

  /// The tree up to the newest revision on each branch that is one of these: what stands for a document of which
  /// nothing else is left.
  /// - Returns: an empty tree when none is.
  package func keeping(_ revisions: Set<RevisionID>) -> RevisionTree {
    var isNeeded = nodes.map { revisions.contains($0.revision) }
    for place in nodes.indices.reversed() where isNeeded[place] {
      if let parent = nodes[place].parent { isNeeded[parent] = true }
    }
    var rest = self
    rest.remove { !isNeeded[$0] }
    guard rest.nodes.count < nodes.count else { return rest }
    rest.closed = ClosedBranches()
    let parents = Set(rest.nodes.compactMap(\.parent))
    for place in rest.nodes.indices { rest.nodes[place].isLeaf = !parents.contains(place) }
    return rest
  }
}

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
  package var isMoreThanOneRevision: Bool { count > 1 || !closed.isEmpty }

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
