import Documents
package import JSON
import Lanes
import Stores

/// Answers `_bulk_get` in slices, each from one state of a store: one entry of `results` for each element asked, in
/// order.
///
/// Elements of one document are answered one after the other, wherever they stand, so that it is read once.
struct BulkGetReader: AnswerReader {
  private let request: BulkGetRequest
  /// The elements in the order in which they are answered; nil for that of the request.
  private let order: [Int]?
  /// How many elements are answered.
  private var count = 0
  private var document: AskedDocument?
  /// What is left to be read of the element that is being answered; nil between two.
  private var targets: ArraySlice<WantedRevisions.Target>?
  /// The results by the places of their elements; empty where they stand in order.
  private var results: [[[UInt8]]]
  /// How many results were put in order; nil before the last is there.
  private var ordered: Int?
  private(set) var text = AnswerText()

  /// A reader of what a request asks for.
  init(_ request: BulkGetRequest) {
    self.request = request
    order = request.orderByDocument
    results = order == nil ? [] : Array(repeating: [], count: request.entries.count)
    if order == nil { begin() }
  }

  private mutating func begin() {
    text.writer.beginObject()
    text.writer.name("results")
    text.writer.beginArray()
  }

  mutating func read(_ view: any StoreView) throws -> Bool {
    if ordered != nil { return finish() }
    try document?.renew(in: view)
    while count < request.entries.count {
      let place = order?[count] ?? count
      let entry = request.entries[place]
      if targets == nil { try begin(entry, view) }
      while let target = targets?.popFirst() {
        try append(target, of: entry, view)
        text.settle()
        if text.isTooLong { return true }
        if Slice.isOver, targets?.isEmpty == false { return false }
      }
      end(at: place)
      if text.isTooLong { return true }
      if Slice.isOver { break }
    }
    return count == request.entries.count && finish()
  }

  /// Puts the results in order until the slice is over, and ends the answer.
  private mutating func finish() -> Bool {
    if ordered == nil, !results.isEmpty { begin() }
    var next = ordered ?? 0
    defer { ordered = next }
    while next < results.count {
      text.putBack(results[next])
      text.settle()
      results[next] = []
      next += 1
      if Slice.isOver { return false }
    }
    text.writer.endArray()
    text.writer.endObject()
    return true
  }

  private mutating func begin(
    _ entry: BulkGetRequest.Entry, _ view: any StoreView
  ) throws {
    targets = []
    if let id = entry.id, document?.isOf(id) != true {
      let asked = request.entries(of: id, from: count, in: order)
      document = try AskedDocument(id, asked, request, in: view)
    }
    text.writer.beginObject()
    text.writer.name("id")
    Self.append(entry.id, to: &text.writer)
    text.writer.name("docs")
    text.writer.beginArray()
    guard entry.id != nil else {
      return appendError(.badRequest("document id missed"), entry)
    }
    do {
      if entry.revision == nil, let text = entry.sentRevision { _ = try RevisionID(text) }
      let found = document?.targets(of: entry.revision) ?? []
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
    guard let bytes = try document?.json(of: target, in: view) else {
      // A leaf of before that is gone was superseded between two slices.
      if entry.sentRevision != nil { appendError(.missing, entry) }
      return
    }
    text.writer.beginObject()
    text.writer.name("ok")
    text.value(bytes)
    text.writer.endObject()
  }

  private mutating func end(at place: Int) {
    text.writer.endArray()
    text.writer.endObject()
    if results.isEmpty { text.settle() } else { results[place] = text.takeOut() }
    targets = nil
    count += 1
  }

  /// Writes `{"error":{"id","rev","error","reason"}}`; CouchDB's word for a revision that was not given is
  /// `undefined`.
  private mutating func appendError(_ error: ServiceError, _ entry: BulkGetRequest.Entry) {
    text.writer.beginObject()
    text.writer.name("error")
    text.writer.beginObject()
    text.writer.name("id")
    Self.append(entry.id, to: &text.writer)
    text.writer.member("rev", entry.sentRevision ?? "undefined")
    error.appendMembers(to: &text.writer)
    text.writer.endObject()
    text.writer.endObject()
  }

  private static func append(_ text: String?, to writer: inout JSONWriter) {
    if let text { writer.string(text) } else { writer.null() }
  }
}

/// The revisions that one `_bulk_get` asks for.
///
/// Source: CouchDB, "POST /{db}/_bulk_get".
package struct BulkGetRequest: Sendable {
  /// One element of `docs`, whose `id` and `rev` are checked when it is answered.
  struct Entry: Sendable {
    /// The document; nil where the element has none that is text.
    let id: String?
    /// The revision as it was sent; nil for every leaf.
    let sentRevision: String?
    /// The revision; nil where none was sent, or none that is one.
    let revision: RevisionID?

    init(id: String?, revision: String?) {
      self.id = id
      sentRevision = revision
      self.revision = revision.flatMap { try? RevisionID($0) }
    }
  }

  /// The elements, in order.
  let entries: [Entry]
  /// What comes with each document.
  let extras: DocumentExtras
  /// Whether a revision that is no leaf stands for the leaves that it led to.
  let latest: Bool

  /// Reads a body and the query's `revs` and `latest`. CouchDB's replicator repeats them in the body,
  /// where they count as well.
  /// - Throws: 400 for a body without `docs`; 413 for too many.
  package init(_ body: JSONNode, _ parameters: CouchParameters) throws {
    entries = try CouchBody.documents(in: body).map { node in
      Entry(id: node["id"]?.string, revision: node["rev"]?.string)
    }
    var extras = DocumentExtras()
    extras.revisions = try parameters.flag("revs", default: body["revs"]?.bool ?? false)
    self.extras = extras
    latest = try parameters.flag("latest", default: body["latest"]?.bool ?? false)
  }
}
