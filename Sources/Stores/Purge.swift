package import Documents

/// Removes revisions of one document for ever. Unlike a deletion, a purge leaves no tombstone and is not
/// replicated. For some time the store keeps marks, so that a peer can't bring the revisions back.
///
/// Source: CouchDB, "POST /{db}/_purge".
package struct Purge: Sendable {
  package let id: DocumentID
  /// The document's tree after the purge. An empty tree removes the document, also from the feed. Otherwise
  /// the document keeps its creation time and moves to the end of the feed.
  package let tree: RevisionTree

  /// Whether marks are kept. They are not needed where no peer could bring revisions back.
  let leavesMarks: Bool
  /// Whether the revisions are old tombstones. A copy of the store that has already read them is still
  /// correct.
  let isForAge: Bool

  package init(
    id: DocumentID, tree: RevisionTree, leavesMarks: Bool = true, isForAge: Bool = false
  ) {
    self.id = id
    self.tree = tree
    self.leavesMarks = leavesMarks
    self.isForAge = isForAge
  }
}

extension StoreView {
  /// How often the store has purged revisions, without old tombstones. The owner of a copy compares it,
  /// because the feed does not report purges.
  package func purgeCount() throws -> Int64 { try local(.purgeCount)?.revision ?? 0 }
}

extension LocalID {
  /// The local document whose revision counts purges; see ``PurgeLog``.
  package static let purgeCount = LocalID(receipt: "purges")
}

extension StoreView {
  /// The latest purged revision of an absent document; see ``PurgeMarks/former(_:_:)``.
  package func former(_ id: DocumentID, _ tree: RevisionTree?) throws -> RevisionID? {
    guard tree == nil else { return nil }
    return try PurgeMarks(self).former(id, nil)
  }
}
