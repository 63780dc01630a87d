import Documents
import Scheduling

/// A store that is exported piece by piece: documents by id in byte order, then notes.
///
/// Each document is exported in its state at the moment when it is read. A change that is made meanwhile may
/// be in the export or not, for each document separately. If the section's two sequence numbers are equal,
/// there was no change.
struct StoreExport: Sendable {
  let section: String
  let notes: PortableNotes
  /// Counts of what was written so far.
  private(set) var counts = ExportCounts()
  private(set) var isComplete = false

  private var piece: [UInt8] = []
  /// The newest state that was read; nil before the first.
  private var seen: StoreInfo?
  private var step = Step.documents(DocumentRange(includesDeleted: true))
  /// The attachments that were written.
  private var attachments: Set<AttachmentKey> = []

  /// What is written next.
  private enum Step: Sendable {
    case documents(DocumentRange)
    /// The bytes of attachments that a document names, from an offset of the first one; the next one is last.
    case attachments([AttachmentFacts], from: Int64, then: DocumentRange)
    /// The remaining bodies of a document, by the indices of their revisions; the next one is last.
    case bodies(DocumentID, RevisionTree, [Int], then: DocumentRange)
    case notes(Int, after: String?)
  }

  init(section: String, notes: PortableNotes) {
    self.section = section
    self.notes = notes
  }

  /// Returns what was written since the last call.
  mutating func takePiece() -> [UInt8] {
    defer { piece = [] }
    return piece
  }

  /// Continues, in this state of the store, until the piece is long enough, the slice is over or the section
  /// is complete.
  /// - Returns: whether the piece is ready.
  /// - Throws: the view's errors; `unavailable` when the state does not continue from the states before, because the
  ///   store was replaced or has lost changes, or when a document was changed before all its bodies were written. The
  ///   export must then start again.
  mutating func read(_ view: any StoreView) throws -> Bool {
    let info = try view.info()
    if let seen {
      let continues = info.hasReached(seen.lastSequence) { $0.equalsBytes(of: seen.epoch) }
      guard continues else { throw Self.changed }
    } else {
      write { [section] writer in
        writer.member("section", section)
        writer.member("sequence", Int(info.lastSequence))
      }
    }
    seen = info
    while !isComplete {
      switch step {
      case .documents(let range): try nextDocument(range, view)
      case .attachments(let rest, let offset, let range):
        try nextAttachment(rest, from: offset, then: range, view)
      case .bodies(let id, let tree, let rest, let range):
        try nextBody(of: id, tree, rest, then: range, view)
      case .notes(let index, let last): try nextNotes(index, after: last, info, view)
      }
      if piece.count >= ExportFormat.pieceBytes { return true }
      if view.slice.isOver { return isComplete }
    }
    return true
  }

  private mutating func nextDocument(_ range: DocumentRange, _ view: any StoreView) throws {
    var found: Document?
    try view.documents(range) { document in
      found = document
      return false
    }
    guard let document = found else {
      step = .notes(0, after: nil)
      return
    }
    let missing = try view.attachments(of: document.id, except: attachments)
    guard missing.isEmpty else {
      step = .attachments(missing, from: 0, then: range)
      return
    }
    guard let tree = try view.tree(document.id) else { throw Self.changed }
    write { writer in
      writer.member("id", document.id.text)
      writer.member("created", document.created.rfc3339)
      writer.member("updated", document.updated.rfc3339)
      writer.history(tree)
      let closed = tree.closedBytes
      if !closed.isEmpty { writer.member("closed", Hex.string(closed)) }
    }
    if document.isDeleted { counts.tombstones += 1 } else { counts.documents += 1 }
    try write(document.body, of: document.id, document.revision, view)
    // Only these revisions have stored bodies.
    let kept = tree.revisions(withinSteps: StoreLimits.storedAncestors)
    let rest = tree.nodes.indices.filter { index in
      let revision = tree.nodes[index].revision
      return revision != document.revision && kept.contains(revision)
    }
    // Leaves are written first (they are last in the array), because their bodies must not disappear while
    // others write.
    let ordered =
      rest.filter { !tree.nodes[$0].isLeaf }.reversed() + rest.filter { tree.nodes[$0].isLeaf }
    step = .bodies(document.id, tree, ordered, then: range.behind(document.id.text))
  }

  private mutating func nextBody(
    of id: DocumentID, _ tree: RevisionTree, _ indices: [Int], then range: DocumentRange,
    _ view: any StoreView
  ) throws {
    var rest = indices
    while let index = rest.popLast() {
      let node = tree.nodes[index]
      if let body = try view.body(id, node.revision) {
        try write(body, of: id, node.revision, view)
      } else if node.isLeaf {
        throw Self.changed
      }
      if piece.count >= ExportFormat.pieceBytes || view.slice.isOver { break }
    }
    step = rest.isEmpty ? .documents(range) : .bodies(id, tree, rest, then: range)
  }

  private mutating func nextNotes(
    _ index: Int, after last: String?, _ info: StoreInfo, _ view: any StoreView
  ) throws {
    let prefixes = notes.kept + notes.told
    guard prefixes.indices.contains(index) else {
      write { [section] writer in
        writer.member("end", section)
        writer.member("sequence", Int(info.lastSequence))
      }
      isComplete = true
      return
    }
    let range = DocumentRange.below(LocalID.receiptPrefix + prefixes[index])
    var reached: String?
    try view.locals(last.map { range.behind($0) } ?? range) { id, local in
      writeNote(id, local)
      guard piece.count >= ExportFormat.pieceBytes || view.slice.isOver else { return true }
      reached = id.text
      return false
    }
    step = reached.map { .notes(index, after: $0) } ?? .notes(index + 1, after: nil)
  }

  private mutating func writeNote(_ id: LocalID, _ local: LocalDocument) {
    let name = id.text.utf8.dropFirst(LocalID.receiptPrefix.utf8.count)
    write { writer in
      writer.member("note", String(decoding: Array(name), as: UTF8.self))
      writer.member("revision", Int(local.revision))
      writer.member("body", raw: local.body)
    }
    counts.notes += 1
  }

  private mutating func write(
    _ body: [UInt8], of id: DocumentID, _ revision: RevisionID, _ view: any StoreView
  ) throws {
    let keys = DocumentBody.hasAttachments(body) ? try view.attachmentKeys(of: id, revision) : [:]
    write { writer in
      writer.member("rev", revision.description)
      writer.member("body", raw: body)
      guard !keys.isEmpty else { return }
      writer.object("attachments") { writer in
        for (name, key) in keys.sorted(by: { $0.key < $1.key }) {
          writer.member(name.text, key.text)
        }
      }
    }
    counts.bodies += 1
  }

  /// Writes a part of an attachment, or the next one's length.
  private mutating func nextAttachment(
    _ facts: [AttachmentFacts], from offset: Int64, then range: DocumentRange,
    _ view: any StoreView
  ) throws {
    guard let last = facts.last else {
      step = .documents(range)
      return
    }
    if offset == 0 {
      write { writer in
        writer.member("attachment", last.key.text)
        writer.member("length", Int(clamping: last.length))
      }
    }
    guard offset < last.length else {
      attachments.insert(last.key)
      step = .attachments(facts.dropLast(), from: 0, then: range)
      return
    }
    guard try view.attachment(last.key)?.pieces == last.pieces else { throw Self.changed }
    let bytes = try view.bytes(offset..<last.length, of: last)
    write { writer in writer.member("data", Base64.string(bytes)) }
    step = .attachments(facts, from: offset + Int64(bytes.count), then: range)
  }

  private mutating func write(_ members: (inout JSONWriter) -> Void) {
    piece += JSONWriter.line(members)
  }

  private static let changed = ServiceError(
    .unavailable, "The store was changed while it was exported; ask again")
}

extension JSONWriter {
  /// Writes the member `history`; see ``ExportFormat``.
  fileprivate mutating func history(_ tree: RevisionTree) {
    name("history")
    beginArray()
    for (index, listed) in tree.listed.enumerated() {
      guard listed.isDeleted || listed.parent != (index == 0 ? nil : index - 1) else {
        string(listed.revision.description)
        continue
      }
      beginObject()
      member("rev", listed.revision.description)
      if let parent = listed.parent { member("parent", parent) }
      if listed.isDeleted { member("deleted", true) }
      endObject()
    }
    endArray()
  }
}
