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

  /// The generation of a new revision after `base`.
  package func generation(after base: RevisionID?) -> Int {
    ((base ?? tree.winner?.revision ?? former)?.generation ?? 0) + 1
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
    guard tree.takes(generation: revision.generation) || tree.index(of: revision) != nil else {
      throw DocumentError(
        .invalidRevision,
        "Revision \(revision) leaves too few generations for edits: begin at a lower one")
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
