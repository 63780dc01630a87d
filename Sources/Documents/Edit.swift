/// The write rules: functions over one document's tree, without I/O, the same for every engine.
///
/// Source: CouchDB, "Documents", "Replication and conflict model".
package enum Edit {
  /// Puts a new revision on a document: creates it, goes on from a leaf, or brings it back from its
  /// tombstone.
  ///
  /// `base` is the revision that the writer saw. Nil is right only where there is no live document:
  /// a tombstone is continued, so that generations never run backwards.
  /// - Parameter former: what a document goes on from that is not there; see ``PurgedRevisions/latest``.
  /// - Parameter limit: how much history to keep.
  /// - Throws: `conflict` when `base` is no leaf; `tooManyLeaves`.
  package static func put(
    _ id: DocumentID, in tree: RevisionTree?, base: RevisionID?, after former: RevisionID? = nil,
    body: DocumentBody, isDeleted: Bool = false, limit: HistoryLimits = .standard
  ) throws(DocumentError) -> Mutation {
    var edits = DocumentEdits(id, in: tree, after: former, limit: limit)
    let revision = try edits.put(base: base, body: body, isDeleted: isDeleted)
    return edits.finish() ?? Mutation(id: id, tree: edits.tree, revision: revision, body: body)
  }

  /// Puts a tombstone on a leaf. Without a body it carries nothing.
  /// - Throws: `missing` or `deleted` when there is nothing to delete; `conflict` when `base` is no
  ///   leaf.
  package static func delete(
    _ id: DocumentID, in tree: RevisionTree?, base: RevisionID?, body: DocumentBody = .empty,
    limit: HistoryLimits = .standard
  ) throws(DocumentError) -> Mutation {
    guard let tree, let winner = tree.winner else { throw .missing }
    if winner.isDeleted { throw .deleted }
    guard let base else { throw .conflict }
    return try put(id, in: tree, base: base, body: body, isDeleted: true, limit: limit)
  }

  /// Takes a peer's revision with its history as it is (`new_edits=false`): never a conflict. A repeat is
  /// no mutation at all, unless its history is longer than what is known: then the document learns
  /// ancestors, and keeps the body that it has.
  /// - Parameter history: the revision and its ancestors, newest first, one generation a step.
  /// - Parameter known: the body that is stored for the revision, where there is one.
  /// - Throws: `revisionCollision` when the revision is known with another body, or as a tombstone where
  ///   this is none; `tooManyLeaves`; `invalidRevision` for one beyond ``RevisionID/maximumPeerGeneration``.
  package static func insert(
    _ id: DocumentID, in tree: RevisionTree?, history: [RevisionID], body: DocumentBody,
    isDeleted: Bool, known: DocumentBody?, limit: HistoryLimits = .standard
  ) throws(DocumentError) -> Mutation? {
    var edits = DocumentEdits(id, in: tree, limit: limit)
    _ = try edits.insert(history, body: body, isDeleted: isDeleted, known: known)
    return edits.finish()
  }

  /// The leaf that an edit goes on from.
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
