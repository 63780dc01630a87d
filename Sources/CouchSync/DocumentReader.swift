import Documents
import Stores

/// Reads one document's revisions as JSON: stored bytes with the asked members spliced in.
struct DocumentReader {
  private let view: any StoreView
  private let winner: Document
  private let tree: RevisionTree?
  private let extras: DocumentExtras

  /// Finds a document; nil when its id was never used.
  /// - Parameter needsTree: whether ``leaves`` and revisions beside the winner will be asked for.
  init?(
    _ id: DocumentID, in view: any StoreView, extras: DocumentExtras, needsTree: Bool
  ) throws(StoreError) {
    guard let winner = try view.document(id) else { return nil }
    self.view = view
    self.winner = winner
    self.extras = extras
    tree = needsTree || extras.needsTree ? try view.tree(id) : nil
  }

  /// A reader over a winner that was read before.
  init(
    _ winner: Document, in view: any StoreView, extras: DocumentExtras
  ) throws(StoreError) {
    self.view = view
    self.winner = winner
    self.extras = extras
    tree = extras.needsTree ? try view.tree(winner.id) : nil
  }

  /// Whether the document's winner is a tombstone.
  var isDeleted: Bool { winner.isDeleted }
  /// The winner's id.
  var winningRevision: RevisionID { winner.revision }
  /// All leaves, winner first.
  var leaves: [RevisionID] { tree?.leaves.map(\.revision) ?? [] }

  /// The leaves that a revision leads to, winner first; itself where it is one; none when unknown.
  func leaves(below revision: RevisionID) -> [RevisionID] {
    guard let tree, let node = tree[revision] else { return [] }
    // What is asked for is a leaf nearly always, which saves a walk over the whole tree.
    return node.isLeaf ? [revision] : tree.leaves(below: revision).map(\.revision)
  }

  /// The winner as JSON.
  func winning() throws(StoreError) -> [UInt8] {
    try bytes(of: winner)
  }

  /// A revision as JSON; nil when it is unknown or its body is not kept.
  func revision(_ revision: RevisionID) throws(StoreError) -> [UInt8]? {
    if revision == winner.revision { return try winning() }
    guard let node = tree?[revision], let body = try view.body(winner.id, revision) else {
      return nil
    }
    return try bytes(
      of: Document(
        id: winner.id, revision: revision, isDeleted: node.isDeleted, sequence: winner.sequence,
        created: winner.created, updated: winner.updated, body: body))
  }

  private func bytes(of document: Document) throws(StoreError) -> [UInt8] {
    var bytes: [UInt8] = []
    document.append(to: &bytes, extra: try members(of: document.revision))
    return bytes
  }

  private func members(of revision: RevisionID) throws(StoreError) -> [UInt8] {
    guard !extras.isEmpty else { return [] }
    var writer = JSONWriter()
    // Nothing, written as a value: each member then comes with its leading comma.
    writer.raw([UInt8]())
    if let tree {
      if extras.revisions { Self.appendRevisions(tree.history(of: revision), to: &writer) }
      if extras.revisionsInfo { try appendInfo(of: revision, in: tree, to: &writer) }
      if extras.conflicts { Self.append("_conflicts", tree.conflicts, to: &writer) }
      if extras.deletedConflicts {
        Self.append("_deleted_conflicts", tree.deletedConflicts, to: &writer)
      }
    }
    if extras.localSequence { writer.member("_local_seq", Int(clamping: winner.sequence)) }
    return writer.bytes
  }

  private static func appendRevisions(_ history: [RevisionID], to writer: inout JSONWriter) {
    writer.name("_revisions")
    writer.beginObject()
    writer.member("start", history.first?.generation ?? 0)
    writer.name("ids")
    writer.beginArray()
    for revision in history { writer.string(revision.digest.text) }
    writer.endArray()
    writer.endObject()
  }

  private func appendInfo(
    of revision: RevisionID, in tree: RevisionTree, to writer: inout JSONWriter
  ) throws(StoreError) {
    // Beyond these no body is kept, so none need be looked for.
    let kept = tree.revisions(withinSteps: StoreLimits.storedAncestors)
    writer.name("_revs_info")
    writer.beginArray()
    for ancestor in tree.history(of: revision) {
      var status = "missing"
      if tree[ancestor]?.isDeleted ?? false {
        status = "deleted"
      } else if ancestor == winner.revision {
        status = "available"
      } else if kept.contains(ancestor), try view.body(winner.id, ancestor) != nil {
        status = "available"
      }
      writer.beginObject()
      writer.member("rev", ancestor.description)
      writer.member("status", status)
      writer.endObject()
    }
    writer.endArray()
  }

  private static func append(
    _ name: String, _ revisions: [RevisionID], to writer: inout JSONWriter
  ) {
    guard !revisions.isEmpty else { return }
    writer.name(name)
    writer.beginArray()
    for revision in revisions { writer.string(revision.description) }
    writer.endArray()
  }
}
