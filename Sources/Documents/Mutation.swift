/// The next state of one document, as a rule decided it. An engine stores it.
package struct Mutation: Sendable {
  package let id: DocumentID
  /// The tree after the edit.
  package let tree: RevisionTree
  /// The revision that the edit added, or the known revision to which it added ancestors.
  package let revision: RevisionID
  /// The body of the added revision; nil when only ancestors were added; then every body stays.
  package let body: DocumentBody?
  /// More revisions that several edits added before ``revision``, in order.
  package var further: [AddedRevision] = []
  /// Whether the edits also joined branches. Any stored body may then be too far from the leaves to be kept.
  package var hasJoined = false
  /// Whether the document was deleted and restored within the edits. Its creation time is then new.
  package var isReborn = false
  /// More tombstones that the edit added to branches which it closed; the body of each is `{}`.
  package var closed: [RevisionID] = []
  /// Whether the edit removed branches that had been closed. The bodies of their revisions are removed too.
  package var removesClosedBranches = false
  /// When the document was created, if the writer knows it better than the engine's clock: a bookmark that
  /// moves to another store keeps its time. A document that is restored after a tombstone counts as newly
  /// created.
  package var created: Timestamp?
  /// When the document last changed, if the writer knows it better than the engine's clock.
  package var updated: Timestamp?

  /// A document's next state.
  package init(
    id: DocumentID, tree: RevisionTree, revision: RevisionID, body: DocumentBody?,
    created: Timestamp? = nil
  ) {
    self.id = id
    self.tree = tree
    self.revision = revision
    self.body = body
    self.created = created
  }

  /// The body of a revision that the edits added; nil for any other revision.
  package func body(of revision: RevisionID) -> DocumentBody? {
    if revision == self.revision { return body }
    return further.last { $0.revision == revision }?.body
  }
}

/// One of several revisions that one mutation adds.
package struct AddedRevision: Sendable {
  package let revision: RevisionID
  package let body: DocumentBody
  package let isDeleted: Bool

  package init(revision: RevisionID, body: DocumentBody, isDeleted: Bool) {
    self.revision = revision
    self.body = body
    self.isDeleted = isDeleted
  }
}
