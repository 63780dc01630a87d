import Documents
import Lanes
import Stores

/// Answers `_bulk_get` in slices, each from one state of a store: one entry of `results` for each element asked, in
/// order.
///
/// Elements of one document are answered one after the other, wherever they stand, so that it is read once.
struct BulkGetReader: Sendable {
  private let request: BulkGetRequest
  /// The elements in the order in which they are answered; nil for that of the request.
  private let order: [Int]?
  /// How many elements are answered.
  private var count = 0
  private var document: AskedDocument?
  /// What is left to be read of the element that is being answered; nil between two.
  private var targets: ArraySlice<WantedRevisions.Target>?
  /// Where the results stand in ``writer``, by the place of the element; empty where they stand in order.
  private var results: [Range<Int>]
  /// Where the result that is being written begins.
  private var start = 0
  private var writer = JSONWriter(reserving: 4_096)

  /// A reader of what a request asks for.
  init(_ request: BulkGetRequest) {
    self.request = request
    order = request.orderByDocument
    results = order == nil ? [] : Array(repeating: 0..<0, count: request.entries.count)
    Self.begin(&writer)
  }

  private static func begin(_ writer: inout JSONWriter) {
    writer.beginObject()
    writer.name("results")
    writer.beginArray()
  }

  /// The answer's JSON, once it is whole; nil when it is longer than ``CouchLimits/answerBytes``.
  var answer: [UInt8]? { isTooLong ? nil : writer.bytes }

  private var isTooLong: Bool { writer.bytes.count > CouchLimits.answerBytes }

  /// Goes on in a state of the store until the slice is over.
  /// - Returns: whether the answer is whole, or too long.
  mutating func read(_ view: any StoreView) throws(StoreError) -> Bool {
    try document?.renew(in: view)
    while count < request.entries.count {
      let place = order?[count] ?? count
      let entry = request.entries[place]
      if targets == nil { try begin(entry, at: place, view) }
      while let target = targets?.popFirst() {
        try append(target, of: entry, view)
        if isTooLong { return true }
        if Slice.isOver, targets?.isEmpty == false { return false }
      }
      end(entry, at: place)
      if isTooLong { return true }
      if Slice.isOver { break }
    }
    guard count == request.entries.count else { return false }
    finish()
    return true
  }

  /// Puts the results in order, and ends the answer.
  private mutating func finish() {
    if !results.isEmpty {
      var ordered = JSONWriter(reserving: writer.bytes.count + 4)
      Self.begin(&ordered)
      for result in results { ordered.raw(writer.bytes[result]) }
      writer = ordered
    }
    writer.endArray()
    writer.endObject()
  }

  private mutating func begin(
    _ entry: BulkGetRequest.Entry, at place: Int, _ view: any StoreView
  ) throws(StoreError) {
    targets = []
    if let id = entry.id, document?.isOf(id) != true {
      let asked = request.revisions(of: id, from: count, in: order)
      document = try AskedDocument(id, asked, request, in: view)
    }
    writer.beginObject()
    start = writer.bytes.count - 1
    writer.name("id")
    Self.append(entry.id, to: &writer)
    writer.name("docs")
    writer.beginArray()
    guard entry.id != nil else {
      return appendError(.badRequest("document id missed"), entry)
    }
    do throws(DocumentError) {
      if entry.revision == nil, let text = entry.sentRevision { _ = try RevisionID(text) }
      let found = document?.targets(of: entry.revision) ?? []
      if found.isEmpty { appendError(.missing, entry) }
      targets = found[...]
    } catch {
      appendError(CouchError(error), entry)
    }
  }

  private mutating func append(
    _ target: WantedRevisions.Target, of entry: BulkGetRequest.Entry, _ view: any StoreView
  ) throws(StoreError) {
    let isFound = try document?.append(target, to: &writer, in: view) ?? false
    // A leaf of before that is gone was superseded between two slices.
    if !isFound, entry.sentRevision != nil { appendError(.missing, entry) }
  }

  private mutating func end(_ entry: BulkGetRequest.Entry, at place: Int) {
    writer.endArray()
    writer.endObject()
    if !results.isEmpty { results[place] = start..<writer.bytes.count }
    targets = nil
    count += 1
  }

  /// Writes `{"error":{"id","rev","error","reason"}}`; CouchDB's word for a revision that was not given is
  /// `undefined`.
  private mutating func appendError(_ error: CouchError, _ entry: BulkGetRequest.Entry) {
    writer.beginObject()
    writer.name("error")
    writer.beginObject()
    writer.name("id")
    Self.append(entry.id, to: &writer)
    writer.member("rev", entry.sentRevision ?? "undefined")
    error.appendMembers(to: &writer)
    writer.endObject()
    writer.endObject()
  }

  private static func append(_ text: String?, to writer: inout JSONWriter) {
    if let text { writer.string(text) } else { writer.null() }
  }
}
