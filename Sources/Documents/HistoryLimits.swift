/// How much history a document may have.
package struct HistoryLimits: Sendable, Equatable {
  /// How many revision ids are kept along each branch, as in CouchDB (`_revs_limit`).
  package var revisions: Int
  /// How many live leaves there may be before further branches are refused.
  package var liveLeaves: Int
  /// How many leaves may be tombstones, which are counted apart.
  package var deletedLeaves: Int
  /// Bytes that the tree may take; see ``RevisionTree/byteCount``. Branches that would take it further are refused.
  /// Edits never are: they keep as many ids along each branch as fit.
  package var treeBytes: Int

  /// Limits by number; those that are not named are people's.
  package init(
    revisions: Int = 1_000, liveLeaves: Int = 512, deletedLeaves: Int = 1_024,
    treeBytes: Int = 1 << 20
  ) {
    self.revisions = revisions
    self.liveLeaves = liveLeaves
    self.deletedLeaves = deletedLeaves
    self.treeBytes = treeBytes
  }

  /// The limits of documents of people's stores and lists.
  package static let standard = HistoryLimits()
  /// Those of the administrator's databases, unless an operator says otherwise: 8 MiB of tree, however many leaves
  /// stand in it.
  package static let database = HistoryLimits(
    liveLeaves: .max, deletedLeaves: .max, treeBytes: 8 << 20)
}
