import Documents
import HashTreeCollections
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
  /// Which attachments the present element asks for; nil for those of the request.
  private var attachments: WantedAttachments?
  /// Whether the object of the present revision is not ended yet.
  private var isOpen = false
  var text = AnswerText()

  /// - Parameter word: gives the word of an error's code.
  init(_ request: BulkGetRequest, _ word: @escaping @Sendable (ServiceError.Code) -> String) {
    self.request = request
    self.word = word
    guard isJSON else { return }
    text.writer.beginObject()
    text.writer.name("results")
    text.writer.beginArray()
  }

  private var isJSON: Bool { request.form == .json }

  mutating func release() { documents = [] }

  mutating func read(_ view: any StoreView) throws -> Bool {
    for index in documents.indices { try documents[index].renew(in: view) }
    while count < request.entries.count {
      let entry = request.entries[count]
      if case .success(let entry) = entry { try open(entry.id, view) }
      if targets == nil { begin(entry) }
      guard try finish(view) else { return false }
      while let target = targets?.first, case .success(let entry) = entry {
        if let last = documents.indices.last {
          guard try documents[last].prepare(target, in: view) else { return false }
        }
        targets?.removeFirst()
        try append(target, of: entry, view)
        guard try finish(view) else { return false }
        if pauses(view), targets?.isEmpty == false { return false }
      }
      end()
      if pauses(view) { break }
    }
    guard count == request.entries.count else { return false }
    switch request.form {
    case .json:
      text.writer.endArray()
      text.writer.endObject()
    case .multipart(let boundary, _): text.append(Array("\r\n--\(boundary)--\r\n".utf8))
    }
    return true
  }

  /// Ends the present revision, as far as the slice allows.
  private mutating func finish(_ view: any StoreView) throws -> Bool {
    guard try text.finishValue(in: view) else { return false }
    if isOpen { text.writer.endObject() }
    isOpen = false
    text.flush()
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

  private mutating func begin(_ entry: Result<BulkGetRequest.Entry, BulkGetRequest.Fault>) {
    targets = []
    if isJSON {
      text.writer.beginObject()
      switch entry {
      case .success(let entry): text.writer.member("id", entry.id)
      case .failure(let fault): text.writer.member("id", raw: fault.id)
      }
      text.writer.name("docs")
      text.writer.beginArray()
    }
    do throws(BulkGetRequest.Fault) {
      let entry = try entry.get()
      attachments = try entry.attachments()
      let found = documents.indices.last.map { documents[$0].targets(of: entry.revision) } ?? []
      if found.isEmpty { appendMissing(entry) }
      targets = found[...]
    } catch {
      append(error.error) { writer in
        writer.member("id", raw: error.id)
        writer.member("rev", raw: error.revision)
      }
    }
  }

  /// Begins `{"ok":{…}}`, or a part.
  private mutating func append(
    _ target: WantedRevisions.Target, of entry: BulkGetRequest.Entry, _ view: any StoreView
  ) throws {
    guard let last = documents.indices.last,
      let found = try documents[last].text(of: target, attachments, in: view)
    else {
      // The revision is no longer a leaf: a newer one replaced it between two slices.
      if entry.revision != nil { appendMissing(entry) }
      return
    }
    switch request.form {
    case .json:
      text.writer.beginObject()
      text.writer.name("ok")
      text.begin(found)
      isOpen = true
    case .multipart(let boundary, _):
      appendFields(boundary, type: found.type, id: entry.id, target.revision)
      text.append(found)
    }
  }

  /// Begins a part. A document with attachments has its id and revision in fields, as in CouchDB, without line ends.
  private mutating func appendFields(
    _ boundary: String, type: String, id: String = "", _ revision: RevisionID? = nil
  ) {
    text.append(Array("\r\n--\(boundary)\r\n".utf8))
    if type.hasPrefix("multipart/"), let revision {
      let id = String(decoding: id.utf8.map { $0 < 0x20 ? 0x20 : $0 }, as: UTF8.self)
      text.append(Array("X-Doc-Id: \(id)\r\nX-Rev-Id: \(revision)\r\n".utf8))
    }
    text.append(Array("Content-Type: \(type)\r\n\r\n".utf8))
  }

  private mutating func end() {
    if isJSON {
      text.writer.endArray()
      text.writer.endObject()
    }
    text.flush()
    targets = nil
    count += 1
  }

  /// Writes that a revision is missing. When none was sent, `rev` is `undefined`, as in CouchDB.
  private mutating func appendMissing(_ entry: BulkGetRequest.Entry) {
    append(.missing) { writer in
      writer.member("id", entry.id)
      writer.member("rev", entry.revision?.text ?? "undefined")
    }
  }

  /// Writes `{"error":{"id","rev","error","reason"}}`.
  private mutating func append(_ error: ServiceError, of names: (inout JSONWriter) -> Void) {
    let bytes = JSONWriter.object { writer in
      names(&writer)
      error.appendMembers(to: &writer, word)
    }
    switch request.form {
    case .json:
      text.writer.beginObject()
      text.writer.name("error")
      text.value(bytes)
      text.writer.endObject()
    case .multipart(let boundary, _):
      appendFields(boundary, type: "application/json; error=\"true\"")
      text.append(bytes)
    }
  }
}

/// One document that `_bulk_get` requests, read once for all elements that name it.
struct AskedDocument: Sendable {
  private let id: String
  private var reader: DocumentReader?
  private var wanted: WantedRevisions
  private struct Known: Hashable {
    let revision: RevisionID
    let attachments: WantedAttachments?
  }

  /// The revisions that were read; the value is nil for one that is missing.
  private var known = TreeDictionary<Known, RevisionText?>()
  private let form: DocumentReader.Form
  private let isNamedAgain: Bool

  init(_ id: String, _ request: BulkGetRequest, in view: any StoreView) throws {
    self.id = id
    let document = DocumentID(stored: id)
    let entries = request.entries(of: document)
    reader = try DocumentReader(document, in: view, extras: request.extras, needsTree: true)
    wanted = WantedRevisions(
      entries.compactMap(\.revision?.revision), by: reader, latest: request.latest)
    isNamedAgain = entries.count > 1
    form = request.form.ofRevision
  }

  func isOf(_ id: String) -> Bool { self.id.equalsBytes(of: id) }

  /// Reads the document again when it has changed in a later snapshot of the store.
  mutating func renew(in view: any StoreView) throws { reader = try reader?.renewed(in: view) }

  /// The revisions to answer for a requested revision, or all leaves when none is requested.
  mutating func targets(of revision: NamedRevision?) -> [WantedRevisions.Target] {
    revision.map { wanted.targets(of: $0) } ?? wanted.leaves
  }

  /// Prepares ``text(of:_:in:)``, until the slice is over.
  /// - Returns: whether it is prepared.
  mutating func prepare(_ target: WantedRevisions.Target, in view: any StoreView) throws -> Bool {
    guard let revision = target.revision else { return true }
    return try reader?.prepare(revision, in: view) ?? true
  }

  /// A revision; nil when it is missing.
  /// - Parameter attachments: those that its element asks for; nil for those of the request.
  mutating func text(
    of target: WantedRevisions.Target, _ attachments: WantedAttachments?, in view: any StoreView
  ) throws -> RevisionText? {
    guard let revision = target.revision else { return nil }
    let key = Known(revision: revision, attachments: attachments)
    if isNamedAgain, let known = known[key] { return known }
    let text = try reader?.text(of: revision, at: target.index, as: form, attachments, in: view)
    if isNamedAgain { known.updateValue(text, forKey: key) }
    return text
  }
}
