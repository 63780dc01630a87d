import Documents
import Stores

/// Answers `_bulk_get` from one state of a store: one entry of `results` for each element asked, in order.
struct BulkGetReader {
  private let view: any StoreView
  private let request: BulkGetRequest
  private var last: (id: DocumentID, reader: DocumentReader?)?
  private var writer = JSONWriter(reserving: 4_096)
  private var isTooLong = false

  /// A reader over one state.
  init(_ view: any StoreView, _ request: BulkGetRequest) {
    self.view = view
    self.request = request
  }

  /// The answer's JSON; nil when it is longer than ``CouchLimits/answerBytes``.
  mutating func answer() throws(StoreError) -> [UInt8]? {
    writer.beginObject()
    writer.name("results")
    writer.beginArray()
    for entry in request.entries {
      writer.beginObject()
      writer.name("id")
      Self.append(entry.id, to: &writer)
      writer.name("docs")
      writer.beginArray()
      try append(entry)
      writer.endArray()
      writer.endObject()
      guard !isTooLong, writer.bytes.count <= CouchLimits.answerBytes else { return nil }
    }
    writer.endArray()
    writer.endObject()
    return writer.bytes
  }

  private mutating func append(_ entry: BulkGetRequest.Entry) throws(StoreError) {
    guard let text = entry.id else {
      appendError(.badRequest("document id missed"), entry)
      return
    }
    let wanted: OpenRevisions
    do {
      wanted =
        try entry.revision.map { text throws(DocumentError) in
          .these([try RevisionID(text)])
        } ?? .all
    } catch {
      appendError(CouchError(error), entry)
      return
    }
    guard let found = try wanted.found(by: reader(of: text), latest: request.latest) else {
      isTooLong = true
      return
    }
    if found.isEmpty { appendError(.missing, entry) }
    for revision in found {
      switch revision {
      case .found: revision.append(to: &writer)
      case .missing: appendError(.missing, entry)
      }
    }
  }

  /// The reader of a document, kept for the next element: a document's revisions are asked for in a row.
  private mutating func reader(of id: String) throws(StoreError) -> DocumentReader? {
    if let last, last.id.text.equalsBytes(of: id) { return last.reader }
    let id = DocumentID(stored: id)
    let reader = try DocumentReader(id, in: view, extras: request.extras, needsTree: true)
    last = (id, reader)
    return reader
  }

  /// Writes `{"error":{"id","rev","error","reason"}}`; CouchDB's word for a revision that was not given is
  /// `undefined`.
  private mutating func appendError(_ error: CouchError, _ entry: BulkGetRequest.Entry) {
    writer.beginObject()
    writer.name("error")
    writer.beginObject()
    writer.name("id")
    Self.append(entry.id, to: &writer)
    writer.member("rev", entry.revision ?? "undefined")
    error.appendMembers(to: &writer)
    writer.endObject()
    writer.endObject()
  }

  private static func append(_ text: String?, to writer: inout JSONWriter) {
    if let text { writer.string(text) } else { writer.null() }
  }
}
