import Documents
import Scheduling

/// Reads an export into a store that no one else uses, while the bytes arrive.
///
/// ```swift
/// try await stores.fill(name) { store in
///   var reading = AccountImport(into: store, as: context, notes)
///   for try await bytes in body { try await reading.take(bytes) }
///   return try await reading.finish()
/// }
/// ```
/// Revisions keep their ids and histories; documents keep their times. The import commits some documents at a
/// time. It holds in memory one line and what is not committed; see ``heldBytes``.
package struct AccountImport {
  /// After how many bytes of bodies documents are committed: 1 MiB.
  private static let commitBytes = 1 << 20
  /// How many documents one commit takes at most.
  private static let commitDocuments = 200

  private let own: ImportTarget
  private let context: WriteContext
  private let openList: @Sendable (AccountID) async throws -> ImportTarget
  /// The store of the current section.
  private var target: ImportTarget
  private var section = ExportFormat.own
  private let notes: PortableNotes
  /// The part of the current line that has arrived.
  private var rest: [UInt8] = []
  private var line = 0
  private var sum = ExportSum()
  private var counts = ExportCounts()
  private var stage = Stage.header
  private var document: ImportedDocument?
  private var pending: [Mutation] = []
  private var pendingBytes = 0
  private var pendingNotes: [LocalEdit] = []
  /// Which bytes the attachments of pending revisions have.
  private var pendingAttached: [AttachedRevision: [AttachmentName: AttachmentContent]] = [:]
  /// The attachment that is arriving.
  private var arriving: (upload: AttachmentUpload, key: AttachmentKey, length: Int)?
  /// The attachments of the section that have arrived. Their bytes are in the store.
  private var arrived: [AttachmentKey: NewAttachment] = [:]
  private var noteCount: Int64 = 0
  private var noteBytes: Int64 = 0

  /// Which lines may come next.
  fileprivate enum Stage: Equatable {
    case header
    case section
    case documents
    /// The section of a list, or the manifest.
    case manifest
    case over
  }

  /// Creates an import that has read nothing.
  /// - Parameter store: an empty store that no one else uses.
  /// - Parameter openList: creates a store for a shared list from the list's id in the export.
  package init(
    into store: DocumentStore, as context: WriteContext, _ notes: PortableNotes,
    openList: @escaping @Sendable (AccountID) async throws -> ImportTarget = { _ in
      throw ServiceError(.invalidExport, "Lists can't be imported here")
    }
  ) {
    own = ImportTarget(store)
    target = own
    self.openList = openList
    self.context = context
    self.notes = notes
  }

  /// The bytes that the import holds in memory, including an incomplete line, but without a line that is
  /// being parsed.
  package var heldBytes: Int {
    rest.count + pendingBytes + (document?.waitingBytes ?? 0) + heldAttachment
  }

  private var heldAttachment: Int {
    arriving.map { min($0.upload.count, AttachmentLimits.heldBytes) } ?? 0
  }

  /// Reads the next bytes, which may end anywhere in a line.
  /// - Throws: `invalidExport` with the number of an invalid line; `quotaExceeded`; the store's errors.
  package mutating func take(_ bytes: [UInt8]) async throws {
    var start = bytes.startIndex
    while let end = bytes[start...].firstIndex(of: UInt8(ascii: "\n")) {
      rest += bytes[start...end]
      start = end + 1
      try await readLine()
      try await Slice.giveWay()
    }
    rest += bytes[start...]
    guard rest.count <= ExportFormat.lineBytes else {
      throw refusal("it must have at most \(ExportFormat.lineBytes) bytes", line: line + 1)
    }
  }

  /// Ends the import when all bytes have arrived.
  /// - Returns: the counts of what was read.
  /// - Throws: `invalidExport` when lines are missing.
  package mutating func finish() async throws -> ExportCounts {
    if stage == .over, rest.isEmpty { return counts }
    let isCut = stage != .over
    let reason = isCut ? "it is missing or cut off: an export ends with a manifest" : stage.message
    throw refusal(reason, line: line + 1)
  }

  private mutating func readLine() async throws {
    let bytes = rest
    rest = []
    line += 1
    guard bytes.count <= ExportFormat.lineBytes else {
      throw refusal("it must have at most \(ExportFormat.lineBytes) bytes")
    }
    guard line <= ExportFormat.lines else {
      throw refusal("an export must have at most \(ExportFormat.lines) lines")
    }
    do {
      let read = try await ImportedLine.read(bytes, limits: target.quota)
      try await take(read)
      if stage != .over { sum.add(bytes) }
    } catch let fault as ImportedLine.Fault {
      throw refusal(fault.reason)
    } catch let error as ServiceError {
      guard error.code == .quotaExceeded else { throw error }
      throw ServiceError(.quotaExceeded, "Line \(line): " + error.reason)
    } catch {
      guard let known = ServiceError(error), known.code != .ended else { throw error }
      throw refusal(known.reason)
    }
  }

  private mutating func take(_ read: ImportedLine) async throws {
    if case .data(let bytes) = read { return try await take(bytes: bytes) }
    guard arriving == nil else {
      throw ImportedLine.Fault(reason: "before it, the rest of the attachment must come as data")
    }
    switch (read, stage) {
    case (.header, .header): stage = .section
    case (.section(let name), .section):
      guard name.equalsBytes(of: ExportFormat.own) else {
        throw ImportedLine.Fault(reason: "section must be \(ExportFormat.own)")
      }
      stage = .documents
    case (.section(let name), .manifest):
      guard let list = ExportFormat.list(named: name) else {
        throw ImportedLine.Fault(reason: "section must be list/ and the list's id")
      }
      target = try await openList(list)
      (section, noteCount, noteBytes, arrived) = (name, 0, 0, [:])
      stage = .documents
    case (.document(let sent), .documents):
      try await endDocument()
      let next = sent.called(try target.id(sent.id))
      document = next
      if next.tree.winner?.isDeleted ?? true {
        counts.tombstones += 1
      } else {
        counts.documents += 1
      }
    case (.attachment(let key, let length), .documents):
      try await endDocument()
      arriving = (AttachmentUpload(limit: length), key, length)
      try await take(bytes: [])
    case (.body(let revision, let body, let keys), .documents):
      guard let document else {
        throw ImportedLine.Fault(reason: "a rev must follow the line of its document")
      }
      let owner = AttachedRevision(id: document.id, revision: revision)
      for (name, key) in keys {
        guard let bytes = arrived[key] else {
          throw ImportedLine.Fault(reason: "before it, the attachment \(key) must have come")
        }
        pendingAttached[owner, default: [:]][name] = .new(bytes)
      }
      try await take(body, of: revision)
    case (.note(let name, let note), .documents):
      try await endDocument()
      try take(note, of: name)
    case (.end(let name), .documents):
      guard name.equalsBytes(of: section) else {
        throw ImportedLine.Fault(reason: "end must be \(section)")
      }
      try await endDocument()
      try await commit()
      stage = .manifest
    case (.manifest(let manifest), .manifest):
      try check(manifest)
      try await commit()
      stage = .over
    default: throw ImportedLine.Fault(reason: "it is not allowed here; " + stage.message)
    }
  }

  private mutating func take(_ body: DocumentBody, of revision: RevisionID) async throws {
    try document?.take(revision, try target.body(body))
    counts.bodies += 1
    // A document's bodies may be larger than the memory for them.
    if document?.waitingBytes ?? 0 >= Self.commitBytes { try await passOn() }
  }

  /// Adds bytes to the attachment that is arriving, and ends it with its last byte.
  private mutating func take(bytes: [UInt8]) async throws {
    guard var next = arriving else {
      throw ImportedLine.Fault(reason: "data must follow the line of an attachment")
    }
    try next.upload.append(bytes)
    let isLast = next.upload.count == next.length
    if isLast || next.upload.isFull {
      next.upload = try await target.write(next.upload, isLast: isLast, as: context)
    }
    arriving = isLast ? nil : next
    guard isLast else { return }
    let attachment = next.upload.finish()
    guard attachment.facts.key == next.key else {
      throw ImportedLine.Fault(reason: "the attachment's bytes have another SHA-256")
    }
    arrived[next.key] = attachment
  }

  private mutating func take(_ note: LocalDocument, of name: String) throws {
    func matches(_ prefix: String) -> Bool { name.utf8.starts(with: prefix.utf8) }
    counts.notes += 1
    guard !notes.told.contains(where: matches) else { return }
    guard notes.kept.contains(where: matches) else {
      throw ImportedLine.Fault(reason: "there is no such kind of note")
    }
    (noteCount, noteBytes) = (noteCount + 1, noteBytes + Int64(note.body.count))
    guard noteCount <= target.quota.documents, noteBytes <= target.quota.bytes else {
      throw ImportedLine.Fault(reason: "there are more notes than a store may have documents")
    }
    pendingNotes.append(LocalEdit(LocalID(receipt: name), note))
    pendingBytes += note.body.count
  }

  /// - Throws: ``ImportedLine/Fault`` when the manifest's sums differ from those of the lines before it.
  private func check(_ manifest: ImportedLine.Manifest) throws(ImportedLine.Fault) {
    guard manifest.counts == counts, manifest.lines == sum.lines, manifest.bytes == sum.bytes,
      manifest.digest.equalsBytes(of: sum.digest)
    else {
      throw ImportedLine.Fault(
        reason: "the manifest's sums are not those of the lines before it: send what was exported, "
          + "unchanged and whole")
    }
  }

  /// Ends the current document, whose lines have all arrived.
  private mutating func endDocument() async throws {
    guard let last = document else { return }
    guard last.isWhole else {
      throw ImportedLine.Fault(
        reason: "before it, the bodies of all leaves of \(last.id.text) must have come")
    }
    try await passOn()
    document = nil
    if pending.count + pendingNotes.count >= Self.commitDocuments
      || pendingBytes >= Self.commitBytes
    {
      try await commit()
    }
  }

  /// Moves what has arrived of the document to the pending changes.
  private mutating func passOn() async throws {
    guard let isBegun = document?.isBegun, let id = document?.id else { return }
    // An update may record a document only once.
    if isBegun { try await commit() }
    guard let mutation = document?.takeMutation() else { return }
    if !isBegun {
      guard !pending.contains(where: { $0.id == id }),
        try await !target.has(id)
      else { throw ImportedLine.Fault(reason: "\(id.text) came before") }
    }
    pending.append(mutation)
    pendingBytes += mutation.further.reduce(mutation.body?.bytes.count ?? 0) {
      $0 + $1.body.bytes.count
    }
  }

  /// Commits the pending changes. Each commit takes milliseconds.
  private mutating func commit() async throws {
    let (mutations, edits) = (pending, pendingNotes)
    guard !mutations.isEmpty || !edits.isEmpty else { return }
    let attached = pendingAttached.filter { owner, _ in
      mutations.contains { $0.id == owner.id && $0.body(of: owner.revision) != nil }
    }
    for owner in attached.keys { pendingAttached[owner] = nil }
    (pending, pendingNotes, pendingBytes) = ([], [], 0)
    try await target.write(mutations, edits, attached, as: context)
  }

  private func refusal(_ reason: String, line number: Int? = nil) -> ServiceError {
    ServiceError(.invalidExport, "Line \(number ?? line): \(reason)")
  }
}

extension AccountImport.Stage {
  /// The lines that may come, for an error message.
  fileprivate var message: String {
    switch self {
    case .header: "the first line must be that of the export"
    case .section: "a section must begin"
    case .documents: "documents, their bodies, notes and the section's end may come"
    case .manifest: "the section of a list or the manifest must come"
    case .over: "nothing may follow the manifest"
    }
  }
}
