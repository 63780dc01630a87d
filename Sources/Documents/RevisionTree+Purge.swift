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
}
