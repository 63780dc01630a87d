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
  /// When the document last changed, where the writer knows better than the engine's clock, as ``created``.
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

  /// A revision by its parts.
  package init(revision: RevisionID, body: DocumentBody, isDeleted: Bool) {
    self.revision = revision
    self.body = body
    self.isDeleted = isDeleted
  }
}

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

/// Several edits of one document, one after the other, that become one mutation: its tree is read, pruned and stored
/// once however many they are. Each edit that throws has changed nothing.
package struct DocumentEdits {
  /// The document.
  package let id: DocumentID
  /// The tree as the edits left it so far.
  package private(set) var tree: RevisionTree
  private let before: RevisionTree
  private let limit: HistoryLimits
  private var added: [AddedRevision] = []
  private var places: [RevisionID: Int] = [:]
  /// The last revision of which only ancestors were learnt.
  private var joined: RevisionID?
  private var hasTombstone = false
  private var isReborn = false
  private var hasBegun = false
  /// How many revisions there may be before the tree is pruned between two edits.
  private var room: Int
  /// What the first revision of a new document goes on from.
  private let former: RevisionID?

  /// No edits yet.
  /// - Parameter former: the latest purged revision of a document that is not there: a new one goes on from it, so
  ///   that it gets no id that was purged.
  /// - Parameter limit: how much history to keep.
  package init(
    _ id: DocumentID, in tree: RevisionTree?, after former: RevisionID? = nil, limit: HistoryLimits
  ) {
    self.id = id
    self.former = former
    self.tree = tree ?? RevisionTree()
    before = self.tree
    self.limit = limit
    room = Self.room(for: self.tree)
  }

  /// What one of the added revisions says.
  package func body(of revision: RevisionID) -> DocumentBody? {
    places[revision].map { added[$0].body }
  }

  /// Puts a new revision on the document; see ``Edit/put(_:in:base:body:isDeleted:limit:)``.
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

  /// Takes a peer's revision with its history; see ``Edit/insert(_:in:history:body:isDeleted:known:limit:)``.
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
    // A revision without a body came along as an ancestor, of which nothing else is known.
    if let known, let node = tree[revision],
      known.digest != body.digest || node.isDeleted != isDeleted
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
  /// - Returns: what they come to; nil where nothing has changed.
  package mutating func finish() -> Mutation? {
    tree.prune(to: limit)
    guard let last = added.last else {
      // What was learnt of a known revision may be too old to be kept.
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

  /// The second edit is taken for one of many.
  private mutating func prepare() {
    if hasBegun { tree.prepareForMany() }
    hasBegun = true
  }

  private mutating func add(_ revision: AddedRevision) {
    // A life that ended and began again within these edits leaves no other trace.
    if hasTombstone, !revision.isDeleted, !isReborn {
      isReborn = wasDeleted(before: revision.revision)
    }
    hasTombstone = hasTombstone || revision.isDeleted
    places[revision.revision] = added.count
    added.append(revision)
    guard tree.nodes.count > room else { return }
    tree.prune(to: limit)
    room = Self.room(for: tree)
  }

  /// Whether every other leaf, and the parent of a revision that was just added, is a tombstone.
  private func wasDeleted(before revision: RevisionID) -> Bool {
    guard let place = tree.index(of: revision) else { return false }
    if let parent = tree.nodes[place].parent, !tree.nodes[parent].isDeleted { return false }
    return tree.openLeafCount == (tree.nodes[place].isLeaf ? 1 : 0)
  }

  private static func room(for tree: RevisionTree) -> Int {
    2 * tree.nodes.count + 2 * HistoryLimits.standard.revisions
  }
}
