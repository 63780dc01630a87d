/// One document's next state, as a rule decided it and an engine is to keep it.
package struct Mutation: Sendable {
  /// Which document.
  package let id: DocumentID
  /// Its whole tree after the edit.
  package let tree: RevisionTree
  /// The revision that the edit added, or one that was known and of which it added ancestors.
  package let revision: RevisionID
  /// What the added revision says; nil where only ancestors were added, and every body stays.
  package let body: DocumentBody?
  /// Further revisions that several edits added before ``revision``, in order.
  package var further: [AddedRevision] = []
  /// Whether branches were joined besides, so that any body may be too old now.
  package var hasJoined = false
  /// Whether the document was a tombstone and came back in between: a new life begins then.
  package var isReborn = false
  /// Further tombstones that the edit added, on branches that it closed; each says `{}`.
  package var closed: [RevisionID] = []
  /// Whether the edit let go of branches that had been closed: what their revisions say goes too.
  package var letsGo = false
  /// When this life of the document began, where the writer knows better than the engine's clock: a
  /// bookmark that moves from one store to another keeps its time.
  package var created: Timestamp?

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

  /// What a revision says, if it is one of those that the edits added.
  package func body(of revision: RevisionID) -> DocumentBody? {
    if revision == self.revision { return body }
    return further.last { $0.revision == revision }?.body
  }
}

/// One of several revisions that one mutation adds.
package struct AddedRevision: Sendable {
  /// The revision's id.
  package let revision: RevisionID
  /// What it says.
  package let body: DocumentBody
  /// Whether it is a tombstone.
  package let isDeleted: Bool
}
