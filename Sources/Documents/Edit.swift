/// The rules for writes: functions of one document's tree, without I/O, the same for every engine.
///
/// Source: CouchDB, "Documents", "Replication and conflict model".
package enum Edit {
  /// Adds a new revision to a document: creates the document, continues a leaf, or restores the document
  /// after its tombstone.
  /// - Parameter base: the revision that the writer read. Nil is accepted only when there is no live
  ///   document. After a tombstone the new revision becomes its child, so that generations never decrease.
  /// - Parameter former: the revision that a new document continues; see ``PurgedRevisions/latest``.
  /// - Parameter limit: how much history to keep.
  /// - Throws: `conflict` when `base` is not a leaf; `tooManyLeaves`; `invalidRevision` when the highest
  ///   generation is reached.
  package static func put(
    _ id: DocumentID, in tree: RevisionTree?, base: RevisionID?, after former: RevisionID? = nil,
    body: DocumentBody, isDeleted: Bool = false, limit: HistoryLimits = .standard
  ) throws(DocumentError) -> Mutation {
    var edits = DocumentEdits(id, in: tree, after: former, limit: limit)
    let revision = try edits.put(base: base, body: body, isDeleted: isDeleted)
    return edits.finish() ?? Mutation(id: id, tree: edits.tree, revision: revision, body: body)
  }

  /// Adds a tombstone with an empty body to a leaf.
  /// - Throws: `missing` or `deleted` when there is nothing to delete; `conflict` when `base` is not a leaf.
  package static func delete(
    _ id: DocumentID, in tree: RevisionTree?, base: RevisionID?,
    limit: HistoryLimits = .standard
  ) throws(DocumentError) -> Mutation {
    guard let tree, let winner = tree.winner else { throw .missing }
    if winner.isDeleted { throw .deleted }
    guard let base else { throw .conflict }
    return try put(id, in: tree, base: base, body: .empty, isDeleted: true, limit: limit)
  }

  /// Adds a peer's revision with its history unchanged (`new_edits=false`). This is never a conflict.
  ///
  /// A known revision changes nothing, unless its history is longer than the known one: the tree then gets
  /// ancestors, and the stored body stays.
  /// - Parameter history: the revision and its ancestors, newest first; each step is one generation.
  /// - Parameter known: the body that is stored for the revision, if there is one.
  /// - Throws: `revisionCollision` when the revision is known with another body (numbers compare as doubles), or when
  ///   only one of the two is a tombstone; `tooManyLeaves`; `invalidRevision` for a generation that the tree does not
  ///   take (``RevisionTree/takes(generation:)``).
  package static func insert(
    _ id: DocumentID, in tree: RevisionTree?, history: [RevisionID], body: DocumentBody,
    isDeleted: Bool, known: DocumentBody?, limit: HistoryLimits = .standard
  ) throws(DocumentError) -> Mutation? {
    var edits = DocumentEdits(id, in: tree, limit: limit)
    _ = try edits.insert(history, body: body, isDeleted: isDeleted, known: known)
    return edits.finish()
  }

  /// The leaf that becomes the parent of an edit.
  static func parent(
    for base: RevisionID?, in tree: RevisionTree
  ) throws(DocumentError) -> RevisionID? {
    guard let base else {
      guard let winner = tree.winner else { return nil }
      guard winner.isDeleted else { throw .conflict }
      return winner.revision
    }
    guard let node = tree[base], node.isLeaf else { throw .conflict }
    return base
  }
}
