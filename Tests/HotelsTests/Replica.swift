import Documents
import Hotels

/// One copy of the list's document, without a store: its tree, and the list of each revision.
struct Replica {
  var tree: RevisionTree?
  var bodies: [RevisionID: DocumentBody] = [:]
  /// Whether a pull copies the bodies of the other copy's leaves only, as in sync.
  var pullsLeavesOnly = false
  /// How many revision ids a merge keeps of a branch.
  var limits = HistoryLimits.standard
  /// The time of merges.
  var now = Timestamp(seconds: 20_000 * 86_400)

  /// The list that a reader of this copy sees.
  var resolved: BookmarkList {
    get throws {
      guard let tree else { return BookmarkList() }
      return try BookmarkMerge.resolve(tree) { revision in
        try bodies[revision].map { try BookmarkList(parsing: $0.bytes) }
      }?.list ?? BookmarkList()
    }
  }

  /// The winner's list, which an app without conflict handling sees.
  var winner: BookmarkList {
    get throws {
      guard let body = tree?.winner.flatMap({ bodies[$0.revision] }) else { return BookmarkList() }
      return try BookmarkList(parsing: body.bytes)
    }
  }

  var isSettled: Bool { (tree?.leaves.count { !$0.isDeleted } ?? 0) <= 1 }

  /// Closes all branches with the merged list, as the service does.
  mutating func merge() throws {
    guard !isSettled else { return }
    try take(BookmarkMerge.write(resolved.body(), onto: tree, limit: limits, at: now))
  }

  /// Writes a list on top of the winner, as any app does.
  mutating func put(_ list: BookmarkList) throws {
    let base = tree?.winner.flatMap { $0.isDeleted ? nil : $0.revision }
    try take(
      Edit.put(BookmarkList.documentID, in: tree, base: base, body: list.body(), limit: limits))
  }

  /// Copies everything from the other copy.
  mutating func pull(from other: Replica) throws {
    guard let theirs = other.tree else { return }
    var mine = tree ?? RevisionTree()
    for leaf in theirs.leaves {
      try mine.graft(theirs.history(of: leaf.revision), isDeleted: leaf.isDeleted)
    }
    tree = mine
    let brought =
      pullsLeavesOnly
      ? other.bodies.filter { theirs[$0.key]?.isLeaf == true } : other.bodies
    bodies.merge(brought) { mine, _ in mine }
  }

  private mutating func take(_ mutation: Mutation) {
    tree = mutation.tree
    if let body = mutation.body { bodies[mutation.revision] = body }
  }
}
