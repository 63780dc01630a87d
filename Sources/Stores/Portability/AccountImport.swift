import Documents
import JSON
import Lanes

/// Reads an export into a store that nobody else has, as the bytes come.
///
/// ```swift
/// try await stores.fill(name) { store in
///   var reading = AccountImport(into: store, notes)
///   for try await bytes in body { try await reading.take(bytes) }
///   return try await reading.finish()
/// }
/// ```
/// Revisions keep their ids and histories, documents their times. It commits some documents at a time and holds one line
/// and what is not committed; see ``heldBytes``.
package struct AccountImport {
  /// Bytes of bodies after which documents are committed: 1 MiB.
  private static let commitBytes = 1 << 20
  /// Documents that one commit takes at most.
  private static let commitDocuments = 200

  private let own: ImportTarget
  private let openList: @Sendable (AccountID) async throws -> ImportTarget
  /// Where the section goes that is being read.
  private var target: ImportTarget
  private var section = ExportFormat.own
  private let notes: PortableNotes
  /// What has come of a line.
  private var rest: [UInt8] = []
  private var line = 0
  private var sum = ExportSum()
  private var counts = ExportCounts()
  private var stage = Stage.header
  private var document: ImportedDocument?
  private var pending: [Mutation] = []
  private var pendingBytes = 0
  private var pendingNotes: [LocalEdit] = []
  private var noteCount: Int64 = 0
  private var noteBytes: Int64 = 0

  /// What may come next.
  fileprivate enum Stage: Equatable {
    case header
    case section
    case documents
    /// The section of a list, or the manifest.
    case manifest
    case over
  }

  /// An import of which nothing has come.
  /// - Parameter store: an empty store that nobody else uses.
  /// - Parameter openList: makes a store for a shared list, by its id in the export.
  package init(
    into store: DocumentStore, _ notes: PortableNotes,
    openList: @escaping @Sendable (AccountID) async throws -> ImportTarget = { _ in
      throw ServiceError(.invalidExport, "No lists are taken here")
    }
  ) {
    own = ImportTarget(store)
    target = own
    self.openList = openList
    self.notes = notes
  }

  /// Bytes in memory now, but for those of the line that is being read.
  package var heldBytes: Int { rest.count + pendingBytes + (document?.waitingBytes ?? 0) }

  /// Takes the next bytes, which may end anywhere.
  /// - Throws: `invalidExport` with the number of a line that is not as it must be; `quotaExceeded`; the store's errors.
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

  /// Ends the import once all has come.
  /// - Returns: what was read.
  /// - Throws: `invalidExport` for lines that are missing.
  package mutating func finish() async throws -> ExportCounts {
    guard stage == .over, rest.isEmpty else {
      throw refusal("it is the last one, but an export ends with a manifest: send all of it")
    }
    return counts
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
      (section, noteCount, noteBytes) = (name, 0, 0)
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
    case (.body(let revision, let body), .documents):
      guard document != nil else {
        throw ImportedLine.Fault(reason: "a rev must follow the line of its document")
      }
      try document?.take(revision, try target.body(body))
      counts.bodies += 1
      // A document may have more than fits in memory.
      if document?.waitingBytes ?? 0 >= Self.commitBytes { try await passOn() }
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
    default: throw ImportedLine.Fault(reason: "it must not stand here; " + stage.words)
    }
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

  /// - Throws: ``ImportedLine/Fault`` where the sums are not those of the lines before.
  private func check(_ manifest: ImportedLine.Manifest) throws(ImportedLine.Fault) {
    guard manifest.counts == counts, manifest.lines == sum.lines, manifest.bytes == sum.bytes,
      manifest.digest.equalsBytes(of: sum.digest)
    else {
      throw ImportedLine.Fault(
        reason: "the manifest's sums are not those of the lines before it: send what was exported, "
          + "unchanged and whole")
    }
  }

  /// The document that came last has come whole.
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

  /// Takes what has come of the document to what is to be committed.
  private mutating func passOn() async throws {
    guard let isBegun = document?.isBegun, let id = document?.id else { return }
    // One document's next state is recorded once in an update.
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

  /// Commits what is pending; each such commit takes milliseconds.
  private mutating func commit() async throws {
    let (mutations, edits) = (pending, pendingNotes)
    guard !mutations.isEmpty || !edits.isEmpty else { return }
    (pending, pendingNotes, pendingBytes) = ([], [], 0)
    try await target.write(mutations, edits)
  }

  private func refusal(_ reason: String, line number: Int? = nil) -> ServiceError {
    ServiceError(.invalidExport, "Line \(number ?? line): \(reason)")
  }
}

extension AccountImport.Stage {
  /// What may come, in words.
  fileprivate var words: String {
    switch self {
    case .header: "the first line must be that of the export"
    case .section: "a section must begin"
    case .documents: "documents, their bodies, notes and the section's end may come"
    case .manifest: "the section of a list or the manifest must come"
    case .over: "nothing may follow the manifest"
    }
  }
}
