import Documents

extension Edit {
  /// Puts a tombstone on every live leaf, so that no conflicting revision brings the document back.
  /// - Returns: the edit, its revision being the new winner; nil when no leaf is live.
  /// - Throws: `invalidRevision` for a leaf in the last generation.
  static func deleteAllLeaves(
    _ id: DocumentID, in tree: RevisionTree, limit: Int
  ) throws(DocumentError) -> Mutation? {
    var tree = tree
    let live = tree.leaves.filter { !$0.isDeleted }
    for leaf in live {
      tree = try put(
        id, in: tree, base: leaf.revision, body: .empty, isDeleted: true, limit: limit
      ).tree
    }
    // The tombstones say the same, so whichever of them wins stands for the edit.
    guard !live.isEmpty, let winner = tree.winner else { return nil }
    return Mutation(id: id, tree: tree, revision: winner.revision, body: .empty)
  }
}
