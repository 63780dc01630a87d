import Documents

/// The rule that a store's quota is never exceeded, and never in the way of a deletion.
enum Quota {
  /// - Throws: `quotaExceeded` when a revision that is no tombstone adds a live document or makes
  ///   the winners longer, beyond the limits.
  static func check(
    _ mutations: [Mutation], against limits: StoreLimits, in view: any StoreView
  ) throws(StoreError) {
    guard limits.documents != .max, mutations.contains(where: isGrowth) else { return }
    let info = try view.info()
    var (documents, bytes) = (info.documentCount, info.bodyBytes)
    for mutation in mutations {
      guard let winner = mutation.tree.winner else { continue }
      let old = try view.document(mutation.id)
      documents += (winner.isDeleted ? 0 : 1) - ((old?.isDeleted ?? true) ? 0 : 1)
      bytes += try Int64(length(of: winner.revision, after: mutation, old, in: view))
      bytes -= Int64(old?.body.count ?? 0)
    }
    guard documents <= limits.documents || documents <= info.documentCount else {
      throw StoreError(
        .quotaExceeded, "This store is full: it holds at most \(limits.documents) documents")
    }
    guard bytes <= limits.bytes || bytes <= info.bodyBytes else {
      throw StoreError(
        .quotaExceeded, "This store is full: it holds at most \(limits.bytes) bytes")
    }
  }

  /// A tombstone as deletions make it may always be put; one that carries a text is no mere deletion.
  private static let plainTombstoneBytes = 64

  private static func isGrowth(_ mutation: Mutation) -> Bool {
    !(mutation.tree[mutation.revision]?.isDeleted ?? true)
      || mutation.body.bytes.count > plainTombstoneBytes
  }

  /// The winner's bytes after a mutation: the new body's, the old winner's, or those of a branch
  /// that wins since the old winner has been deleted.
  private static func length(
    of winner: RevisionID, after mutation: Mutation, _ old: Document?, in view: any StoreView
  ) throws(StoreError) -> Int {
    if winner == mutation.revision { return mutation.body.bytes.count }
    if let old, old.revision == winner { return old.body.count }
    return try view.body(mutation.id, winner)?.count ?? 0
  }
}
