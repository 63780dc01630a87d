package import Documents

/// Revisions of one document that a store forgets, as if they had never been there: unlike a deletion it
/// leaves no tombstone, and it is not replicated.
///
/// Source: CouchDB, "POST /{db}/_purge".
package struct Purge: Sendable {
  /// Which document.
  package let id: DocumentID
  /// What is left of its tree; an empty one removes the document, which is then in no feed. One that is
  /// left keeps its time of birth and moves to the feed's end.
  package let tree: RevisionTree

  /// A document's tree after revisions were forgotten.
  package init(id: DocumentID, tree: RevisionTree) {
    self.id = id
    self.tree = tree
  }
}
