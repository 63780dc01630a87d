import Documents

/// A document of an import while its bodies come.
struct ImportedDocument: Sendable {
  /// Which document.
  private(set) var id: DocumentID
  /// Its whole history.
  let tree: RevisionTree
  /// When this life of it began.
  let created: Timestamp
  /// When it last changed.
  let updated: Timestamp

  /// Bodies that have come and are not on their way to the store, in order.
  private var waiting: [AddedRevision] = []
  /// Whether some of it is on its way to the store.
  private(set) var isBegun = false
  /// Bytes of the waiting bodies.
  private(set) var waitingBytes = 0
  private var known: Set<RevisionID> = []
  private var leavesMissing: Int

  /// A document of which no body has come.
  init(id: DocumentID, tree: RevisionTree, created: Timestamp, updated: Timestamp) {
    self.id = id
    self.tree = tree
    self.created = created
    self.updated = updated
    leavesMissing = tree.nodes.count { $0.isLeaf }
  }

  /// The same under another id.
  func called(_ id: DocumentID) -> ImportedDocument {
    var document = self
    document.id = id
    return document
  }

  /// Whether every leaf has its body.
  var isWhole: Bool { leavesMissing == 0 }

  /// Takes a body.
  /// - Throws: ``ImportedLine/Fault`` for a revision that is not the document's, that came before, or for another than
  ///   the winner at first.
  mutating func take(_ revision: RevisionID, _ body: DocumentBody) throws(ImportedLine.Fault) {
    guard let node = tree[revision] else {
      throw ImportedLine.Fault(reason: "\(revision) is not in the history of \(id.text)")
    }
    guard !known.isEmpty || revision == tree.winner?.revision else {
      throw ImportedLine.Fault(reason: "the winner's body must come before the others")
    }
    guard known.insert(revision).inserted else {
      throw ImportedLine.Fault(reason: "the body of \(revision) came before")
    }
    if node.isLeaf { leavesMissing -= 1 }
    waiting.append(AddedRevision(revision: revision, body: body, isDeleted: node.isDeleted))
    waitingBytes += body.bytes.count
  }

  /// Takes what waits to the store; nil for nothing.
  mutating func takeMutation() -> Mutation? {
    // The winner among the first ones, so that the document is one from then on.
    guard let last = waiting.popLast() else { return nil }
    var mutation = Mutation(
      id: id, tree: tree, revision: last.revision, body: last.body, created: created)
    mutation.further = waiting
    mutation.updated = updated
    (waiting, waitingBytes, isBegun) = ([], 0, true)
    return mutation
  }
}
