import Documents

/// A document of an import while its bodies arrive.
struct ImportedDocument: Sendable {
  private(set) var id: DocumentID
  /// The document's complete history.
  let tree: RevisionTree
  /// When the document was created, or restored after a tombstone.
  let created: Timestamp
  let updated: Timestamp

  /// Bodies that have arrived and are not yet part of a mutation, in order.
  private var waiting: [AddedRevision] = []
  /// Whether a part of the document is already in a mutation.
  private(set) var isBegun = false
  private(set) var waitingBytes = 0
  private var known: Set<RevisionID> = []
  private var leavesMissing: Int

  init(id: DocumentID, tree: RevisionTree, created: Timestamp, updated: Timestamp) {
    self.id = id
    self.tree = tree
    self.created = created
    self.updated = updated
    leavesMissing = tree.nodes.count { $0.isLeaf }
  }

  func called(_ id: DocumentID) -> ImportedDocument {
    var document = self
    document.id = id
    return document
  }

  /// Whether every leaf has its body.
  var isWhole: Bool { leavesMissing == 0 }

  /// Adds a body.
  /// - Throws: ``ImportedLine/Fault`` when the revision is not in the document's history or came before, or
  ///   when the first body is not the winner's.
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

  /// The mutation that stores the waiting bodies; nil when there are none.
  mutating func takeMutation() -> Mutation? {
    // The first mutation contains the winner's body, so the document is readable from then on.
    guard let last = waiting.popLast() else { return nil }
    var mutation = Mutation(
      id: id, tree: tree, revision: last.revision, body: last.body, created: created)
    mutation.further = waiting
    mutation.updated = updated
    (waiting, waitingBytes, isBegun) = ([], 0, true)
    return mutation
  }
}
