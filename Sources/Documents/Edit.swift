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

/// Several edits of one document that become one mutation. The tree is read, pruned and stored once for all
/// of them. An edit that throws changes nothing.
package struct DocumentEdits {
  package let id: DocumentID
  /// The tree after the edits so far.
  package private(set) var tree: RevisionTree
  private let before: RevisionTree
  private let limit: HistoryLimits
  private var added: [AddedRevision] = []
  private var addedIndices: [RevisionID: Int] = [:]
  /// The last revision of which only ancestors were added.
  private var joined: RevisionID?
  private var hasTombstone = false
  private var isReborn = false
  private var hasBegun = false
  /// How many nodes the tree may have before it is pruned between two edits.
  private var nodeCapacity: Int
  /// The parent of the first revision of a new document.
  private let former: RevisionID?

  /// Creates a list without edits.
  /// - Parameter former: the latest purged revision of an absent document. A new document continues after it,
  ///   so that it never gets the id of a purged revision.
  /// - Parameter limit: how much history to keep.
  package init(
    _ id: DocumentID, in tree: RevisionTree?, after former: RevisionID? = nil, limit: HistoryLimits
  ) {
    self.id = id
    self.former = former
    self.tree = tree ?? RevisionTree()
    before = self.tree
    self.limit = limit
    nodeCapacity = Self.nodeCapacity(for: self.tree)
  }

  package func body(of revision: RevisionID) -> DocumentBody? {
    addedIndices[revision].map { added[$0].body }
  }

  /// Adds a new revision to the document; see ``Edit/put(_:in:base:after:body:isDeleted:limit:)``.
  package mutating func put(
    base: RevisionID?, body: DocumentBody, isDeleted: Bool
  ) throws(DocumentError) -> RevisionID {
    prepare()
    let purged = base == nil && tree.nodes.isEmpty ? former : nil
    let parent: RevisionID? = if let purged { purged } else { try Edit.parent(for: base, in: tree) }
    let revision = body.revision(below: parent, isDeleted: isDeleted)
    guard revision.generation <= RevisionID.maximumGeneration else {
      throw DocumentError(.invalidRevision, "The document has no generation left")
    }
    if let purged { try tree.insert(purged, below: nil, isDeleted: true, within: limit) }
    guard try tree.insert(revision, below: parent, isDeleted: isDeleted, within: limit) else {
      throw .conflict
    }
    add(AddedRevision(revision: revision, body: body, isDeleted: isDeleted))
    return revision
  }

  /// Adds a peer's revision with its history; see ``Edit/insert(_:in:history:body:isDeleted:known:limit:)``.
  /// - Returns: the revision.
  package mutating func insert(
    _ history: [RevisionID], body: DocumentBody, isDeleted: Bool, known: DocumentBody?
  ) throws(DocumentError) -> RevisionID? {
    guard let revision = history.first else { return nil }
    prepare()
    guard revision.generation <= RevisionID.maximumPeerGeneration || tree.index(of: revision) != nil
    else {
      throw DocumentError(.invalidRevision, "No edit could follow revision \(revision)")
    }
    // A known revision without a body came as an ancestor; nothing else is known of it.
    if let known, let node = tree[revision],
      node.isDeleted != isDeleted || !known.hasSameValue(as: body)
    {
      throw DocumentError(
        .revisionCollision, "Revision \(revision) is known here with another body")
    }
    switch try tree.graft(history, isDeleted: isDeleted, within: limit) {
    case .nothing: break
    case .ancestors: joined = revision
    case .revision: add(AddedRevision(revision: revision, body: body, isDeleted: isDeleted))
    }
    return revision
  }

  /// Ends the edits.
  /// - Returns: the mutation; nil when nothing has changed.
  package mutating func finish() -> Mutation? {
    tree.prune(to: limit)
    guard let last = added.last else {
      // Pruning may have removed the added ancestors again.
      guard let joined, tree.nodes != before.nodes,
        tree.nodes.count != before.nodes.count || tree.parents != before.parents
      else { return nil }
      return Mutation(id: id, tree: tree, revision: joined, body: nil)
    }
    var mutation = Mutation(id: id, tree: tree, revision: last.revision, body: last.body)
    mutation.further = Array(added.dropLast())
    mutation.hasJoined = joined != nil
    mutation.isReborn = isReborn
    return mutation
  }

  /// From the second edit on, many edits are expected.
  private mutating func prepare() {
    if hasBegun { tree.prepareForMany() }
    hasBegun = true
  }

  private mutating func add(_ revision: AddedRevision) {
    // No other value records that the document was deleted and restored within these edits.
    if hasTombstone, !revision.isDeleted, !isReborn {
      isReborn = wasDeleted(before: revision.revision)
    }
    hasTombstone = hasTombstone || revision.isDeleted
    addedIndices[revision.revision] = added.count
    added.append(revision)
    guard tree.nodes.count > nodeCapacity else { return }
    tree.prune(to: limit)
    nodeCapacity = Self.nodeCapacity(for: tree)
  }

  /// Whether all other leaves and the parent of a newly added revision are tombstones.
  private func wasDeleted(before revision: RevisionID) -> Bool {
    guard let index = tree.index(of: revision) else { return false }
    if let parent = tree.nodes[index].parent, !tree.nodes[parent].isDeleted { return false }
    return tree.openLeafCount == (tree.nodes[index].isLeaf ? 1 : 0)
  }

  private static func nodeCapacity(for tree: RevisionTree) -> Int {
    2 * tree.nodes.count + 2 * HistoryLimits.standard.revisions
  }
}
