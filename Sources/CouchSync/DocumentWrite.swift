package import Documents
package import Stores

/// A document to write, checked as far as possible without the store.
package struct DocumentWrite: Sendable {
  /// How the revision is made.
  enum Kind: Sendable {
    /// Here, as a child of the revision that the writer saw.
    case edit(base: RevisionID?)
    /// Elsewhere; the value is its history, newest first.
    case replicated([RevisionID])
    /// Elsewhere, with a history that depends on what the store has of the document.
    case proposed(Proposal)
  }

  /// Makes the place of a revision from the document's present tree, which may be empty.
  package typealias Proposal =
    @Sendable (_ tree: RevisionTree, _ view: any StoreView) throws -> Place

  /// Where a proposed revision belongs in its document's tree.
  package struct Place: Sendable {
    /// The revision with its ancestors, newest first.
    let history: [RevisionID]
    /// The live leaves of other branches whose content is in the revision. Tombstones end them.
    let merged: [RevisionID]

    package init(_ history: [RevisionID], merging merged: [RevisionID] = []) {
      (self.history, self.merged) = (history, merged)
    }
  }

  package let id: DocumentID
  let kind: Kind
  /// Whether the revision was made elsewhere.
  var isReplicated: Bool { if case .edit = kind { false } else { true } }
  let isDeleted: Bool
  let body: DocumentBody
  /// The attachments that came with it, before ``received(_:)``.
  let incoming: [IncomingAttachment]
  /// The attachments with their bytes.
  private(set) var attachments: [SentAttachment] = []
  /// The leaves that end with the write; see ``Place/merged``.
  private var merged: [RevisionID] = []

  /// Makes a write of a document from a request.
  /// - Parameter base: the revision that the writer saw, when the request contains it outside of the document.
  /// - Parameter limits: those of the database.
  /// - Throws: ``DocumentError`` with code `tooLarge`; `invalidRevision` for a replicated document without `_rev`.
  init(
    _ document: IncomingDocument, id: DocumentID, base: RevisionID?, isNewEdit: Bool,
    limits: DocumentLimits
  ) throws {
    try limits.check(document.body, longestString: document.longestString)
    self.id = id
    isDeleted = document.isDeleted
    body = document.body
    incoming = document.attachments
    if isNewEdit {
      kind = .edit(base: base ?? document.revision)
    } else {
      guard let revision = document.revision ?? base else {
        throw DocumentError(
          .invalidRevision,
          "When `new_edits: false`, the document needs `_rev` or `_revisions` specified")
      }
      kind = .replicated(document.history ?? [revision])
    }
  }

  /// Makes a write of a revision that was made elsewhere.
  /// - Parameter proposal: makes its place, or throws ``DocumentError/conflict``.
  /// - Throws: ``DocumentError`` with code `tooLarge`.
  package init(
    of id: DocumentID, _ document: IncomingDocument, isDeleted: Bool, limits: DocumentLimits,
    _ proposal: @escaping Proposal
  ) throws(DocumentError) {
    try limits.check(document.body, longestString: document.longestString)
    (self.id, self.isDeleted) = (id, isDeleted)
    (body, incoming) = (document.body, document.attachments)
    kind = .proposed(proposal)
  }

  /// Makes a write of a revision that was sent before.
  init(of id: DocumentID, _ body: DocumentBody, isDeleted: Bool, _ history: [RevisionID]) {
    (self.id, self.body, self.isDeleted) = (id, body, isDeleted)
    (kind, incoming) = (.replicated(history), [])
  }

  private init(_ write: DocumentWrite, at place: Place) {
    (id, body, isDeleted) = (write.id, write.body, write.isDeleted)
    (incoming, attachments) = (write.incoming, write.attachments)
    (kind, merged) = (.replicated(place.history), place.merged)
  }

  /// The write with the history that follows from the document's present tree.
  /// - Throws: the errors of its proposal.
  func resolved(in tree: RevisionTree, _ view: any StoreView) throws -> DocumentWrite {
    guard case .proposed(let proposal) = kind else { return self }
    return DocumentWrite(self, at: try proposal(tree, view))
  }

  /// The write with the bytes of its attachments.
  /// - Parameter limit: the most bytes of one.
  /// - Parameter following: the bytes that followed the document.
  /// - Throws: 400 and 413.
  package func received(
    _ limit: Int, following: [AttachmentName: NewAttachment] = [:]
  ) async throws -> DocumentWrite {
    guard !incoming.isEmpty else { return self }
    var write = self
    write.attachments = try await SentAttachment.decoding(
      incoming, limit: limit, following: following)
    return write
  }

  /// The write with further attachments, which replace those of the same names.
  package func attaching(_ sent: [SentAttachment]) -> DocumentWrite {
    guard !sent.isEmpty else { return self }
    var write = self
    let names = Set(sent.map(\.name))
    write.attachments.removeAll { names.contains($0.name) }
    write.attachments += sent
    return write
  }

  /// Records the write in an update; nothing when the revision and its ancestors are known.
  /// - Returns: the revision that the write leads to.
  /// - Throws: ``DocumentError`` for a write that the document rules refuse.
  func record(in changes: inout StoreChanges, limit: HistoryLimits) throws -> RevisionID? {
    let marks = try PurgeMarks(changes.view)
    var edits = try DocumentEdits(
      of: id, in: changes.view, marks, limit: limit, isReplicated: isReplicated)
    var contents = AttachedContents()
    let revision = try apply(to: &edits, in: changes.view, marks, &contents)
    changes.write(edits.finish())
    try contents.record(in: &changes)
    return revision
  }

  /// Adds the write to the edits of its document.
  /// - Parameter marks: the purged revisions that the store remembers.
  /// - Parameter contents: gets the bytes of the attachments of the revision.
  /// - Returns: the revision that the write leads to.
  /// - Throws: ``DocumentError`` for a write that the document rules refuse; the edits stay unchanged.
  func apply(
    to edits: inout DocumentEdits, in view: any StoreView, _ marks: PurgeMarks,
    _ contents: inout AttachedContents
  ) throws -> RevisionID? {
    switch kind {
    case .edit(let base):
      // As in CouchDB a conflict counts before a stub whose bytes are not here: the writer then reads the document again.
      if !attachments.isEmpty, edits.conflicts(base: base, isDeleted: isDeleted) {
        throw DocumentError.conflict
      }
      let found = try attached(
        edits, contents,
        after: EarlierAttachments(
          id: id, ancestors: base.map { [$0] } ?? [], edits: edits, view: view))
      let revision = try edits.write(base: base, body: found.body, isDeleted: isDeleted)
      if !found.contents.isEmpty { contents.add(found.contents, id, revision) }
      return revision
    case .replicated(let history):
      // A purged revision counts as known.
      if !marks.isEmpty, let revision = history.first, edits.tree[revision] == nil,
        try marks.of(id).knows(revision)
      {
        return revision
      }
      let known = try history.first.flatMap { revision in
        try stored(revision, edits, in: view)
      }
      if let known {
        // The digests of a peer's attachments may differ from those of the same attachments here.
        return try edits.insert(history, body: body, isDeleted: isDeleted, known: known.with([]))
      }
      let found = try attached(
        edits, contents,
        after: EarlierAttachments(
          id: id, ancestors: Self.kept(history.dropFirst(), in: edits.tree),
          others: edits.tree.leaves.map(\.revision), edits: edits, view: view))
      let revision = try insert(history, found.body, into: &edits)
      if let revision, !found.contents.isEmpty { contents.add(found.contents, id, revision) }
      return revision
    case .proposed:
      return try resolved(in: edits.tree, view).apply(to: &edits, in: view, marks, &contents)
    }
  }

  /// Adds a revision that is not known, behind the tombstones of the leaves that it has merged.
  private func insert(
    _ history: [RevisionID], _ body: DocumentBody, into edits: inout DocumentEdits
  ) throws -> RevisionID? {
    let former = merged.isEmpty ? nil : edits
    for leaf in merged {
      guard let node = edits.tree[leaf], node.isLeaf, !node.isDeleted else { continue }
      // One that can't be closed, because there are too many tombstones, stays a conflict.
      _ = try? edits.put(base: leaf, body: .empty, isDeleted: true)
    }
    do {
      return try edits.insert(history, body: body, isDeleted: isDeleted, known: nil)
    } catch {
      if let former { edits = former }
      throw error
    }
  }

  /// The ancestors of a peer's revision whose bodies may be kept here.
  private static func kept(
    _ history: ArraySlice<RevisionID>, in tree: RevisionTree
  ) -> [RevisionID] {
    let known = tree.indices(of: history)
    return Array(history.lazy.filter { known[$0] != nil }.prefix(StoreLimits.storedAncestors))
  }

  /// The body with its attachments, and their bytes.
  /// - Parameter earlier: made only when there are attachments.
  private func attached(
    _ edits: DocumentEdits, _ known: AttachedContents,
    after earlier: @autoclosure () -> EarlierAttachments
  ) throws -> (body: DocumentBody, contents: [AttachmentName: AttachmentContent]) {
    guard !attachments.isEmpty else { return (body, [:]) }
    let generation =
      switch kind {
      case .edit(let base): edits.generation(after: base)
      case .replicated(let history): history.first?.generation ?? 1
      case .proposed: 1
      }
    let (stubs, contents) = try known.stubs(
      of: attachments, from: earlier(), generation: generation, isReplicated: isReplicated)
    return (try body.with(stubs), contents)
  }

  /// The body of a revision that is known already; nil when the revision is unknown or has no body.
  private func stored(
    _ revision: RevisionID, _ edits: DocumentEdits, in view: any StoreView
  ) throws -> DocumentBody? {
    if let body = edits.body(of: revision) { return body }
    guard edits.tree[revision] != nil, let bytes = try view.body(id, revision) else { return nil }
    return try DocumentBody(parsing: bytes, limits: .stored)
  }
}

extension DocumentEdits {
  /// Adds a new revision to the document, by the rules for a client's write: a deleted document can only be written
  /// again without a base revision; its tombstone can be neither the base of a revision nor deleted again.
  /// - Throws: the errors of `put(base:body:isDeleted:)`; `conflict` for a write to a deleted document with a base
  ///   revision, or of another tombstone, as in CouchDB.
  mutating func write(base: RevisionID?, body: DocumentBody, isDeleted: Bool) throws -> RevisionID {
    if tree.winner?.isDeleted ?? false, base != nil || isDeleted { throw DocumentError.conflict }
    return try put(base: base, body: body, isDeleted: isDeleted)
  }

  /// Whether ``write(base:body:isDeleted:)`` would throw `conflict`.
  fileprivate func conflicts(base: RevisionID?, isDeleted: Bool) -> Bool {
    guard let winner = tree.winner else { return base != nil }
    guard !winner.isDeleted else { return base != nil || isDeleted }
    guard let base else { return true }
    return tree[base]?.isLeaf != true
  }

  /// Makes empty edits of a document in a store.
  /// - Parameter isReplicated: whether peers' revisions may be among them, which need the whole history.
  init(
    of id: DocumentID, in view: any StoreView, _ marks: PurgeMarks, limit: HistoryLimits,
    isReplicated: Bool
  ) throws {
    let tree = isReplicated ? try view.tree(id) : try view.newest(id)
    self.init(id, in: tree, after: try marks.former(id, tree), limit: limit)
  }
}

extension LocalID {
  /// The id of a local document, when the body's `_id` names one; nil for a replicated document.
  /// - Throws: 400 for a malformed id.
  init?(of node: JSONNode) throws {
    guard let text = node["_id"]?.string, text.utf8.starts(with: Self.clientPrefix.utf8) else {
      return nil
    }
    try self.init(client: text)
  }
}

extension LocalDocument {
  /// Writes the document as JSON, with its `_id` and `_rev`.
  func append(as id: LocalID, to writer: inout JSONWriter) {
    writer.beginObject()
    writer.member("_id", id.text)
    writer.member("_rev", LocalRevision.text(revision))
    writer.members(of: body)
    writer.endObject()
  }
}
