import Documents
import HashTreeCollections
import JSON
import Stores

/// Answers `_bulk_get` in slices, each from one snapshot of the store: one entry of `results` for each requested
/// element, in order.
struct BulkGetReader: AnswerReader {
  /// How many documents are kept for elements that name them again.
  private static let keptDocuments = 4

  private let request: BulkGetRequest
  private let word: @Sendable (ServiceError.Code) -> String
  /// The number of elements that are answered.
  private var count = 0
  /// The documents that were read, the last one at the end. Only this many are kept, and none while the client takes a part
  /// of the answer.
  private var documents: [AskedDocument] = []
  /// The revisions that are still to be read for the present element; nil between two elements.
  private var targets: ArraySlice<WantedRevisions.Target>?
  var text = AnswerText()

  /// - Parameter word: gives the word of an error's code.
  init(_ request: BulkGetRequest, _ word: @escaping @Sendable (ServiceError.Code) -> String) {
    self.request = request
    self.word = word
    text.writer.beginObject()
    text.writer.name("results")
    text.writer.beginArray()
  }

  mutating func release() { documents = [] }

  mutating func read(_ view: any StoreView) throws -> Bool {
    for index in documents.indices { try documents[index].renew(in: view) }
    while count < request.entries.count {
      let entry = request.entries[count]
      if let id = entry.id { try open(id, view) }
      if targets == nil { begin(entry) }
      while let target = targets?.first {
        if let last = documents.indices.last {
          guard try documents[last].prepare(target, in: view) else { return false }
        }
        targets?.removeFirst()
        try append(target, of: entry, view)
        text.flush()
        if pauses(view), targets?.isEmpty == false { return false }
      }
      end()
      if pauses(view) { break }
    }
    guard count == request.entries.count else { return false }
    text.writer.endArray()
    text.writer.endObject()
    return true
  }

  /// Makes a document the last of ``documents``; reads it if it is not among them.
  private mutating func open(_ id: String, _ view: any StoreView) throws {
    if let index = documents.lastIndex(where: { $0.isOf(id) }) {
      guard index < documents.count - 1 else { return }
      documents.append(documents.remove(at: index))
    } else {
      if documents.count == Self.keptDocuments { documents.removeFirst() }
      documents.append(try AskedDocument(id, request, in: view))
    }
  }

  private mutating func begin(_ entry: BulkGetRequest.Entry) {
    targets = []
    text.writer.beginObject()
    text.writer.name("id")
    Self.append(entry.id, to: &text.writer)
    text.writer.name("docs")
    text.writer.beginArray()
    guard entry.id != nil else {
      let reason = entry.isObject ? "document id missed" : "document must be a JSON object"
      return appendError(.badRequest(reason), entry)
    }
    do {
      if entry.revision == nil, let text = entry.sentRevision { _ = try NamedRevision(text) }
      let last = documents.indices.last
      let found = last.map { documents[$0].targets(of: entry.revision) } ?? []
      if found.isEmpty { appendError(.missing, entry) }
      targets = found[...]
    } catch {
      appendError(ServiceError(error), entry)
    }
  }

  /// Writes `{"ok":{…}}`.
  private mutating func append(
    _ target: WantedRevisions.Target, of entry: BulkGetRequest.Entry, _ view: any StoreView
  ) throws {
    guard let last = documents.indices.last,
      let bytes = try documents[last].json(of: target, in: view)
    else {
      // The revision is no longer a leaf: a newer one replaced it between two slices.
      if entry.sentRevision != nil { appendError(.missing, entry) }
      return
    }
    text.writer.beginObject()
    text.writer.name("ok")
    text.value(bytes)
    text.writer.endObject()
  }

  private mutating func end() {
    text.writer.endArray()
    text.writer.endObject()
    text.flush()
    targets = nil
    count += 1
  }

  /// Writes `{"error":{"id","rev","error","reason"}}`. When no revision was sent, `rev` is `undefined`, as in CouchDB.
  private mutating func appendError(_ error: ServiceError, _ entry: BulkGetRequest.Entry) {
    text.writer.beginObject()
    text.writer.name("error")
    text.writer.beginObject()
    text.writer.name("id")
    Self.append(entry.id, to: &text.writer)
    text.writer.member("rev", entry.sentRevision ?? "undefined")
    error.appendMembers(to: &text.writer, word)
    text.writer.endObject()
    text.writer.endObject()
  }

  private static func append(_ text: String?, to writer: inout JSONWriter) {
    if let text { writer.string(text) } else { writer.null() }
  }
}

/// One document that `_bulk_get` requests, read once for all elements that name it.
struct AskedDocument: Sendable {
  private let id: String
  private var reader: DocumentReader?
  private var wanted: WantedRevisions
  /// The revisions that were read; the value is nil for one that is missing.
  private var known = TreeDictionary<RevisionID, [UInt8]?>()
  private let isNamedAgain: Bool

  init(_ id: String, _ request: BulkGetRequest, in view: any StoreView) throws {
    self.id = id
    let document = DocumentID(stored: id)
    let entries = request.entries(of: document)
    reader = try DocumentReader(document, in: view, extras: request.extras, needsTree: true)
    wanted = WantedRevisions(
      entries.compactMap(\.revision?.revision), by: reader, latest: request.latest)
    isNamedAgain = entries.count > 1
  }

  func isOf(_ id: String) -> Bool { self.id.equalsBytes(of: id) }

  /// Reads the document again when it has changed in a later snapshot of the store.
  mutating func renew(in view: any StoreView) throws {
    reader = try reader?.renewed(in: view)
  }

  /// The revisions to answer for a requested revision, or all leaves when none is requested.
  mutating func targets(of revision: NamedRevision?) -> [WantedRevisions.Target] {
    revision.map { wanted.targets(of: $0) } ?? wanted.leaves
  }

  /// Prepares ``json(of:in:)``, until the slice is over.
  /// - Returns: whether it is prepared.
  mutating func prepare(
    _ target: WantedRevisions.Target, in view: any StoreView
  ) throws -> Bool {
    guard let revision = target.revision, !isNamedAgain || known[revision] == nil else {
      return true
    }
    return try reader?.prepare(revision, in: view) ?? true
  }

  /// A revision as JSON; nil when it is missing.
  mutating func json(
    of target: WantedRevisions.Target, in view: any StoreView
  ) throws -> [UInt8]? {
    guard let revision = target.revision else { return nil }
    if isNamedAgain, let known = known[revision] { return known }
    let bytes = try reader?.revision(revision, at: target.index, in: view)
    if isNamedAgain { known.updateValue(bytes, forKey: revision) }
    return bytes
  }
}
