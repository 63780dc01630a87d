import Documents
import Lanes
import Stores

/// Which of a document's revisions can still be read, as far as `_revs_info` has asked.
struct KeptBodies: Sendable {
  /// Revisions near enough to a leaf: beyond them no body is kept, so none is looked for. Nil before the first
  /// look.
  private var near: Set<RevisionID>?
  private var isKept: [RevisionID: Bool] = [:]

  /// Looks for the bodies of a revision's line, each once, until the slice is over.
  /// - Returns: whether all are looked for.
  mutating func look(
    for revision: RevisionID, of winner: Document, in tree: RevisionTree, _ view: any StoreView
  ) throws(StoreError) -> Bool {
    let near = near ?? tree.revisions(withinSteps: StoreLimits.storedAncestors)
    self.near = near
    guard let place = tree.index(of: revision) else { return true }
    for node in tree.line(at: place)
    where !node.isDeleted && node.revision != winner.revision && near.contains(node.revision)
      && isKept[node.revision] == nil
    {
      isKept[node.revision] = try view.body(winner.id, of: node, in: tree) != nil
      if Slice.isOver { return false }
    }
    return true
  }

  /// CouchDB's word for what is left of a revision.
  func status(of node: RevisionTree.Node, winner: RevisionID) -> String {
    if node.isDeleted { return "deleted" }
    return node.revision == winner || isKept[node.revision] == true ? "available" : "missing"
  }
}
