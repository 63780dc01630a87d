package import Documents

/// Revisions of one document that a store forgets: unlike a deletion it leaves no tombstone, and it is not
/// replicated. For a time marks are left, by which the store knows what a peer would bring back.
///
/// Source: CouchDB, "POST /{db}/_purge".
package struct Purge: Sendable {
  /// Which document.
  package let id: DocumentID
  /// What is left of its tree; an empty one removes the document, which is then in no feed. One that is
  /// left keeps its time of birth and moves to the feed's end.
  package let tree: RevisionTree

  /// Whether marks are left: not where no peer could bring anything back.
  let leavesMarks: Bool

  /// A document's tree after revisions were forgotten.
  package init(id: DocumentID, tree: RevisionTree, leavesMarks: Bool = true) {
    self.id = id
    self.tree = tree
    self.leavesMarks = leavesMarks
  }
}
