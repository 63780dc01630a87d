/// The history of a document: every known revision with its parent. A value.
///
/// In ``nodes`` each parent comes before its children, so a parent's index is always lower than its child's.
/// Tests write a tree as `"1-a(2-b† 2-c*)"`: `†` is a tombstone, `*` the winner.
package struct RevisionTree: Sendable, Equatable {
  /// One revision.
  package struct Node: Sendable, Equatable {
    package let revision: RevisionID
    /// The parent's index in ``RevisionTree/nodes``; nil for a root.
    package internal(set) var parent: Int?
    package let isDeleted: Bool
    /// Whether no known revision has this one as its parent.
    package internal(set) var isLeaf: Bool
  }

  /// Every known revision that is not kept in pieces, parents first.
  package internal(set) var nodes: [Node]
  /// The bytes of the stored revisions, without the few bytes that say where a branch begins.
  package internal(set) var byteCount: Int
  /// How many older ancestors of the first node are kept apart from the tree; see ``HistoryPiece``. 0 for
  /// most trees.
  package internal(set) var older = 0
  /// What the tree remembers of branches that were closed by merges.
  var closed = ClosedBranches()
  /// An index of the revisions; nil in a tree with few look-ups, and after the nodes were put in another
  /// order.
  var finder: RevisionIndexTable?

  /// How many revisions are known.
  package var count: Int { nodes.count + older }

  package init() { (nodes, byteCount) = ([], 0) }

  init(nodes: [Node]) {
    self.nodes = nodes
    byteCount = nodes.reduce(0) { $0 + $1.revision.storedBytes }
  }

  /// The leaves, winner first: live leaves before tombstones, then the higher id.
  package var leaves: [Node] {
    nodes.indices.filter { nodes[$0].isLeaf }.map { nodes[$0] }.sorted(by: Self.wins)
  }

  /// The live leaves, winner first.
  package var liveLeaves: [Node] {
    nodes.indices.filter { nodes[$0].isLeaf && !nodes[$0].isDeleted }.map { nodes[$0] }
      .sorted(by: Self.wins)
  }

  /// The winner; nil only for an empty tree.
  package var winner: Node? {
    var best: Int?
    // The loop uses indices: a loop over nodes copies each node to read one field.
    for index in nodes.indices where nodes[index].isLeaf {
      if let current = best, !Self.wins(nodes[index], nodes[current]) { continue }
      best = index
    }
    return best.map { nodes[$0] }
  }

  /// The conflicts: the live leaves except the winner, highest first.
  package var conflicts: [RevisionID] {
    leaves.dropFirst().filter { !$0.isDeleted }.map(\.revision)
  }

  /// The tombstone leaves except the winner, highest first.
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

  /// The index of a revision in ``nodes``; nil when unknown. The search starts at the end, because most
  /// look-ups are for the newest revisions.
  package func index(of revision: RevisionID) -> Int? {
    if let finder { return finder.index(of: revision, among: nodes) }
    return nodes.lastIndex { $0.revision == revision }
  }

  /// Builds an index for many look-ups and edits.
  package mutating func prepareForMany() {
    if finder == nil { finder = RevisionIndexTable(nodes) }
  }

  /// How many leaves are live.
  package var openLeafCount: Int {
    finder?.openLeaves ?? nodes.indices.count { nodes[$0].isLeaf && !nodes[$0].isDeleted }
  }

  /// How many leaves are tombstones.
  var closedLeafCount: Int {
    finder?.closedLeaves ?? nodes.indices.count { nodes[$0].isLeaf && nodes[$0].isDeleted }
  }

  /// By how many generations a peer's revision may be ahead of the tree, above ``RevisionID/maximumPeerGeneration``.
  private static let lead = 1 << 20

  /// Whether a peer may send a revision of this generation, so that enough are left for edits.
  package func takes(generation: Int) -> Bool {
    guard generation > RevisionID.maximumPeerGeneration else { return true }
    let highest = nodes.lazy.map(\.revision.generation).max() ?? 0
    return generation <= min(highest + Self.lead, RevisionID.maximumGeneration - 1)
  }

  package static func == (left: RevisionTree, right: RevisionTree) -> Bool {
    left.nodes == right.nodes && left.older == right.older && left.closed == right.closed
  }

  /// CouchDB's order of leaves, so that all compatible peers have the same winner.
  static func wins(_ left: Node, _ right: Node) -> Bool {
    left.isDeleted != right.isDeleted ? !left.isDeleted : left.revision > right.revision
  }

  /// The tree without some of its leaves, and without the ancestors that no other leaf has. Given revisions
  /// that are not leaves stay.
  ///
  /// Ancestors of another leaf stay, because a leaf comes from one peer, but its ancestors may come from
  /// several. Source: CouchDB, "POST /{db}/_purge".
  /// - Returns: an empty tree when no leaf stays.
  package func purging(_ revisions: Set<RevisionID>) -> RevisionTree {
    var rest = self
    rest.keep(nodes.map { $0.isLeaf && !revisions.contains($0.revision) })
    // A merge may be among the purged revisions. Without the marks a peer can send the merged branches again.
    if rest.nodes.count < nodes.count { rest.closed = ClosedBranches() }
    return rest
  }

  /// The given revisions with their ancestors. The newest given revision of each branch becomes a leaf.
  ///
  /// For a document of which nothing else is left.
  /// - Returns: an empty tree when none of the revisions is known.
  package func keeping(_ revisions: Set<RevisionID>) -> RevisionTree {
    var rest = self
    rest.keep(nodes.map { revisions.contains($0.revision) })
    guard rest.nodes.count < nodes.count else { return rest }
    rest.closed = ClosedBranches()
    let parents = Set(rest.nodes.compactMap(\.parent))
    for index in rest.nodes.indices { rest.nodes[index].isLeaf = !parents.contains(index) }
    return rest
  }

  /// Whether a revision is the end of a merged branch that was removed.
  package func hasMark(of revision: RevisionID) -> Bool { closed.hasMark(of: revision) }

  /// How many removed branches have a mark.
  package var markCount: Int { closed.markCount }

  /// Whether the tree holds more than one revision or remembers closed branches.
  package var isMoreThanOneRevision: Bool { count > 1 || !closed.isEmpty }

  /// Removes branches that end in a tombstone, when the winner is live. A mark remains of each.
  ///
  /// Kept are the newest ``ClosedBranches/maximumStanding`` of these branches, if they were closed at most
  /// ``ClosedBranches/days`` days ago. Revisions that are ancestors of another leaf are kept too.
  ///
  /// The winner contains what was merged. The mark keeps a peer from sending the branch again.
  /// - Parameters:
  ///   - day: today, in days since 1970.
  ///   - unrecorded: the day that counts for a branch without a recorded one; today if nil.
  /// - Returns: whether revisions were removed.
  @discardableResult
  package mutating func shrinkClosedBranches(on day: Int, unrecorded: Int? = nil) -> Bool {
    defer { if !closed.isEmpty { closed.forgetOldMarks(on: day) } }
    guard winner?.isDeleted == false else { return false }
    var indices: [ClosedBranch.Key: Int] = [:]
    var found: [(key: ClosedBranch.Key, branch: ClosedBranch)] = []
    for index in nodes.indices where nodes[index].isLeaf && nodes[index].isDeleted {
      let leaf = nodes[index].parent.map { nodes[$0].revision }
      let branch = ClosedBranch(
        tombstone: nodes[index].revision, leaf: leaf, day: unrecorded ?? day)
      indices[branch.key] = index
      found.append((branch.key, branch))
    }
    closed.standing.removeAll { indices[$0.key] == nil }
    let noted = Set(closed.standing.map(\.key))
    closed.standing += found.filter { !noted.contains($0.key) }.map(\.branch)
    let excess = closed.standing.count - ClosedBranches.maximumStanding
    var removed: Set<Int> = []
    var standing: [ClosedBranch] = []
    for (rank, branch) in closed.standing.enumerated() {
      guard rank < excess || day - branch.day > ClosedBranches.days else {
        standing.append(branch)
        continue
      }
      closed.mark(branch, on: day)
      if let index = indices[branch.key] { removed.insert(index) }
    }
    closed.standing = standing
    if !removed.isEmpty { keep(nodes.indices.map { nodes[$0].isLeaf && !removed.contains($0) }) }
    return !removed.isEmpty
  }

  /// Whether a peer's history ends in a merged branch that was removed, or adds only a tombstone to such a
  /// branch.
  func isMarked(_ history: [RevisionID], isDeleted: Bool) -> Bool {
    guard let newest = history.first, !closed.isEmpty, index(of: newest) == nil else {
      return false
    }
    if closed.hasMark(of: newest) { return true }
    guard isDeleted, history.count > 1, index(of: history[1]) == nil else { return false }
    return closed.hasMark(ofLeaf: history[1])
  }

  /// Removes all revisions but some, given by index, and their ancestors.
  private mutating func keep(_ isKept: [Bool]) {
    var isNeeded = isKept
    // Parents come before their children, so a backward loop sees all children of a node before the node.
    for index in nodes.indices.reversed() where isNeeded[index] {
      if let parent = nodes[index].parent { isNeeded[parent] = true }
    }
    remove { !isNeeded[$0] }
  }
}

extension ClosedBranch {
  /// Identifies a tombstone within a tree.
  struct Key: Hashable {
    let generation: Int
    let tombstone: Digest
  }

  /// The key of the branch's tombstone.
  var key: Key { Key(generation: generation, tombstone: tombstone) }
}
