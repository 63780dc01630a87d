import Documents

extension Edit {
  /// Puts a tombstone on every live leaf, so that no conflicting revision brings the document back.
  /// - Parameter kept: leaves that stay as they are.
  /// - Returns: the edit, its revision being one of the new tombstones, the winner where that is one of
  ///   them; nil when no leaf is live.
  /// - Throws: `invalidRevision` for a leaf in the last generation.
  static func deleteAllLeaves(
    _ id: DocumentID, in tree: RevisionTree, but kept: Set<RevisionID> = [], limit: HistoryLimits
  ) throws(DocumentError) -> Mutation? {
    var tree = tree
    let live = tree.liveLeaves.filter { !kept.contains($0.revision) }
    var added: [RevisionID] = []
    for leaf in live {
      let step = try put(
        id, in: tree, base: leaf.revision, body: .empty, isDeleted: true, limit: limit)
      tree = step.tree
      added.append(step.revision)
    }
    // An older tombstone, or a leaf that was kept, may win; its body is stored already and must stay what it is.
    let winner = tree.winner?.revision
    guard let revision = added.first(where: { $0 == winner }) ?? added.last else { return nil }
    var mutation = Mutation(id: id, tree: tree, revision: revision, body: .empty)
    mutation.closed = added.filter { $0 != revision }
    return mutation
  }
}
