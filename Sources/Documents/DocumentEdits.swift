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
