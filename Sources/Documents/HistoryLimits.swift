package struct HistoryLimits: Sendable, Equatable {
  /// How many revision ids are kept along each branch, as in CouchDB (`_revs_limit`).
  package var revisions: Int
  /// How many live leaves are allowed; an edit that would add another one is refused.
  package var liveLeaves: Int
  /// How many tombstone leaves are allowed; they are counted separately.
  package var deletedLeaves: Int
  /// How many bytes the tree may take; see ``RevisionTree/byteCount``. A new branch above this limit is
  /// refused. An edit of a leaf is never refused: it keeps as many revision ids along each branch as fit.
  package var treeBytes: Int

  /// Creates limits. The defaults are those of the users' stores.
  package init(
    revisions: Int = 1_000, liveLeaves: Int = 512, deletedLeaves: Int = 1_024,
    treeBytes: Int = 1 << 20
  ) {
    self.revisions = revisions
    self.liveLeaves = liveLeaves
    self.deletedLeaves = deletedLeaves
    self.treeBytes = treeBytes
  }

  /// The limits of documents in users' stores and lists.
  package static let standard = HistoryLimits()
  /// The limits of the administrator's databases, unless an operator sets others: a tree of 8 MiB and any
  /// number of leaves.
  package static let database = HistoryLimits(
    liveLeaves: .max, deletedLeaves: .max, treeBytes: 8 << 20)
}
