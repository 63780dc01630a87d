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

  /// Adds a tombstone to a leaf, with an empty body by default.
  /// - Throws: `missing` or `deleted` when there is nothing to delete; `conflict` when `base` is not a leaf.
  package static func delete(
    _ id: DocumentID, in tree: RevisionTree?, base: RevisionID?, body: DocumentBody = .empty,
    limit: HistoryLimits = .standard
  ) throws(DocumentError) -> Mutation {
    guard let tree, let winner = tree.winner else { throw .missing }
    if winner.isDeleted { throw .deleted }
    guard let base else { throw .conflict }
    return try put(id, in: tree, base: base, body: body, isDeleted: true, limit: limit)
  }

  /// Adds a peer's revision with its history unchanged (`new_edits=false`). This is never a conflict.
  ///
  /// A known revision changes nothing, unless its history is longer than the known one: the tree then gets
  /// ancestors, and the stored body stays.
  /// - Parameter history: the revision and its ancestors, newest first; each step is one generation.
  /// - Parameter known: the body that is stored for the revision, if there is one.
  /// - Throws: `revisionCollision` when the revision is known with another body (numbers compare as doubles), or when
  ///   only one of the two is a tombstone; `tooManyLeaves`; `invalidRevision` for a generation above
  ///   ``RevisionID/maximumPeerGeneration``.
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
