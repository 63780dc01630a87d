import Documents
import Stores

/// Reads the revisions of one document as JSON: the stored bytes with the requested extra members added. The document
/// is read and its tree decoded once, however many revisions are requested.
struct DocumentReader: Sendable {
  private var winner: Document
  private var tree: RevisionTree?
  private let extras: DocumentExtras
  /// The members `_conflicts` and `_deleted_conflicts`, which are the same for every revision.
  private var conflicts: [UInt8]
  /// The bodies that were looked up for `_revs_info` so far.
  private var kept = KeptBodies()

  /// Reads a document; nil when its id was never used.
  /// - Parameter needsTree: whether ``leaves`` or revisions other than the winner will be requested.
  init?(_ id: DocumentID, in view: any StoreView, extras: DocumentExtras, needsTree: Bool) throws {
    guard let winner = try view.document(id) else { return nil }
    let tree =
      needsTree || extras.needsAncestors
      ? try view.tree(id) : extras.needsTree ? try view.newest(id) : nil
    self.init(winner, tree, extras)
  }

  /// Makes a reader of a winner that was read before.
  /// - Parameter tree: its tree, when that was read too. Old revisions may be missing.
  init(
    _ winner: Document, tree: RevisionTree? = nil, in view: any StoreView, extras: DocumentExtras
  ) throws {
    var tree = tree
    if extras.needsAncestors, tree?.older != 0 {
      tree = try view.tree(winner.id)
    } else if extras.needsTree, tree == nil {
      tree = try view.newest(winner.id)
    }
    self.init(winner, extras.needsTree ? tree : nil, extras)
  }

  private init(_ winner: Document, _ tree: RevisionTree?, _ extras: DocumentExtras) {
    self.winner = winner
    self.tree = tree
    self.extras = extras
    conflicts = tree.map { extras.conflicts(in: $0) } ?? []
  }

  /// Reads the document again when it has changed in a later snapshot of the store.
  /// - Returns: nil when the document has been purged.
  func renewed(in view: any StoreView) throws -> DocumentReader? {
    let change = try view.changes(after: winner.sequence - 1, limit: 1).first
    if change?.sequence == winner.sequence { return self }
    return try DocumentReader(winner.id, in: view, extras: extras, needsTree: tree != nil)
  }

  var isDeleted: Bool { winner.isDeleted }
  var winningRevision: RevisionID { winner.revision }
  /// All leaves, winner first.
  var leaves: [RevisionID] { tree?.leaves.map(\.revision) ?? [] }

  /// The leaf that descends from a revision; the winning one when there are several; nil for an unknown revision.
  func leaf(below revision: RevisionID) -> RevisionID? {
    tree?.leaves(below: revision).first?.revision
  }

  /// The index of a revision in the tree; nil for an unknown revision.
  func index(of revision: RevisionID) -> Int? { tree?.index(of: revision) }

  /// Finds the indexes of several revisions at once.
  func indices(of revisions: [RevisionID]) -> [RevisionID: Int] {
    tree?.indices(of: revisions) ?? [:]
  }

  /// Finds the leaves that descend from any of the document's revisions.
  func leavesBelow() -> LeavesBelow { LeavesBelow(tree ?? RevisionTree()) }

  func node(at index: Int) -> RevisionTree.Node? {
    guard let tree, tree.nodes.indices.contains(index) else { return nil }
    return tree.nodes[index]
  }

  /// The winner as JSON; see ``appendWinner(to:in:)``.
  func winning(in view: any StoreView) throws -> [UInt8] {
    try bytes(of: winner, at: nil, in: view)
  }

  /// The forms of a revision with the bytes of its attachments.
  enum Form {
    case json
    /// The attachments as parts that follow the document.
    case related(boundary: String)
  }

  /// A revision with the bytes of the requested attachments, or with all that the client does not have if they follow; nil
  /// when it is unknown or its body is not kept.
  /// - Parameter index: the index of the revision in the tree, when the caller knows it.
  /// - Parameter wanted: which attachments, if not those of the request.
  func text(
    of revision: RevisionID, at index: Int? = nil, as form: Form,
    _ wanted: WantedAttachments? = nil, in view: any StoreView
  ) throws -> RevisionText? {
    guard let (found, index) = try document(revision, at: index, in: view) else { return nil }
    let wanted = wanted ?? extras.attachments
    var body = AttachmentReader.Body(bytes: found.body)
    if DocumentBody.hasAttachments(found.body) {
      let reader = attachments(of: found, at: index, wanted)
      switch form {
      case .related: body = try reader.body(found.body, as: .follows, in: view)
      case .json:
        if wanted != nil { body = try reader.body(found.body, as: .data, in: view) }
      }
    }
    var bytes: [UInt8] = []
    found.with(body.bytes).append(to: &bytes, extra: members(of: revision, at: index))
    if case .related(let boundary) = form {
      return RevisionText(bytes, following: body.following, boundary)
    }
    // The body is the end of the text.
    let start = bytes.count - body.bytes.count
    return RevisionText(bytes, gaps: body.gaps.map { $0.moved(by: start) })
  }

  /// Writes the winner as JSON. Its `_revs_info` says whether a revision can be read only for those that ``prepare(_:in:)``
  /// has looked up.
  func appendWinner(to writer: inout JSONWriter, in view: any StoreView) throws {
    let document = try listed(winner, at: nil, in: view)
    let extra = members(of: winner.revision, at: nil)
    writer.raw { bytes in document.append(to: &bytes, extra: extra) }
  }

  /// A revision as JSON; nil when it is unknown or its body is not kept.
  func revision(_ revision: RevisionID, in view: any StoreView) throws -> [UInt8]? {
    guard let (document, index) = try document(revision, at: nil, in: view) else { return nil }
    return try bytes(of: document, at: index, in: view)
  }

  /// A revision, and its index in the tree if that is known.
  private func document(
    _ revision: RevisionID, at index: Int?, in view: any StoreView
  ) throws -> (document: Document, index: Int?)? {
    if revision == winner.revision { return (winner, index) }
    guard let tree, let index = validIndex(index, of: revision) ?? tree.index(of: revision),
      let node = node(at: index),
      let body = try view.body(winner.id, of: node, in: tree)
    else { return nil }
    let document = Document(
      id: winner.id, revision: revision, isDeleted: node.isDeleted, sequence: winner.sequence,
      created: winner.created, updated: winner.updated, body: body)
    return (document, index)
  }

  /// A revision as a list of documents has it.
  private func listed(
    _ document: Document, at index: Int?, in view: any StoreView
  ) throws -> Document {
    guard let wanted = extras.attachments, DocumentBody.hasAttachments(document.body) else {
      return document
    }
    return document.with(
      try attachments(of: document, at: index, wanted)
        .body(document.body, as: .listed, in: view).bytes)
  }

  private func attachments(
    of document: Document, at index: Int?, _ wanted: WantedAttachments?
  ) -> AttachmentReader {
    var known: RevisionID?
    if let wanted, !wanted.since.isEmpty, let tree,
      let index = validIndex(index, of: document.revision) ?? tree.index(of: document.revision)
    {
      known = wanted.known(in: tree.history(at: index))
    }
    return AttachmentReader(id: document.id, revision: document.revision, known: known)
  }

  /// The index, if the revision is still there.
  private func validIndex(_ index: Int?, of revision: RevisionID) -> Int? {
    index.flatMap { node(at: $0)?.revision == revision ? $0 : nil }
  }

  /// Looks up the bodies for `_revs_info` of a revision, each body once, until the slice is over.
  /// - Returns: whether all is done.
  mutating func prepare(_ revision: RevisionID, in view: any StoreView) throws -> Bool {
    guard extras.revisionsInfo, let tree else { return true }
    return try kept.lookUp(for: revision, of: winner, in: tree, view)
  }

  private func bytes(
    of document: Document, at index: Int?, in view: any StoreView
  ) throws -> [UInt8] {
    let document = try listed(document, at: index, in: view)
    var bytes: [UInt8] = []
    document.append(to: &bytes, extra: members(of: document.revision, at: index))
    return bytes
  }

  private func members(of revision: RevisionID, at index: Int?) -> [UInt8] {
    guard !extras.isEmpty else { return [] }
    var writer = JSONWriter()
    // An empty value; each member then begins with a comma.
    writer.raw([UInt8]())
    if extras.revisions || extras.revisionsInfo, let tree,
      let index = validIndex(index, of: revision) ?? tree.index(of: revision)
    {
      if extras.revisions { Self.appendRevisions(tree.history(at: index), to: &writer) }
      if extras.revisionsInfo { appendInfo(of: tree.line(at: index), to: &writer) }
    }
    if !conflicts.isEmpty { writer.raw(conflicts) }
    if extras.localSequence { writer.member("_local_seq", Int(clamping: winner.sequence)) }
    return writer.bytes
  }

  private static func appendRevisions(_ history: [RevisionID], to writer: inout JSONWriter) {
    writer.object("_revisions") { writer in
      writer.member("start", history.first?.generation ?? 0)
      writer.array("ids", of: history) { $1.digest($0.digest) }
    }
  }

  private func appendInfo(of line: [RevisionTree.Node], to writer: inout JSONWriter) {
    writer.objects("_revs_info", of: line) { node, writer in
      writer.name("rev")
      writer.revision(node.revision)
      writer.member("status", kept.status(of: node, winner: winner.revision))
    }
  }
}

extension DocumentExtras {
  /// The members `_conflicts` and `_deleted_conflicts`, without a comma before the first; empty when there are none.
  fileprivate func conflicts(in tree: RevisionTree) -> [UInt8] {
    guard conflicts || deletedConflicts else { return [] }
    var writer = JSONWriter(reserving: 0)
    for (name, revisions) in [
      ("_conflicts", conflicts ? tree.conflicts : []),
      ("_deleted_conflicts", deletedConflicts ? tree.deletedConflicts : []),
    ] where !revisions.isEmpty { writer.array(name, of: revisions) { $1.revision($0) } }
    return writer.bytes
  }
}
