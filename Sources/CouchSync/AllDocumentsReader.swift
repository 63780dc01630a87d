import Documents
import Stores

/// Answers `_all_docs` from one state of a store.
struct AllDocumentsReader {
  private let view: any StoreView
  private let query: AllDocumentsQuery
  private var writer = JSONWriter(reserving: 4_096)
  /// Why the answer can't be given; the walk ends with it.
  private var isTooLong = false

  /// A reader over one state.
  init(_ view: any StoreView, _ query: AllDocumentsQuery) {
    self.view = view
    self.query = query
  }

  /// The answer's JSON; nil when it is longer than ``CouchLimits/answerBytes``.
  mutating func answer() throws(StoreError) -> [UInt8]? {
    let info = try view.info()
    writer.beginObject()
    writer.member("total_rows", Int(clamping: info.documentCount))
    writer.name("offset")
    if query.keys == nil { writer.int(try offset(in: info)) } else { writer.null() }
    if query.includesSequence {
      writer.member("update_seq", SinceToken.at(info.lastSequence, in: info).text)
    }
    writer.name("rows")
    writer.beginArray()
    if let keys = query.keys { try append(keys) } else { try appendRange() }
    writer.endArray()
    writer.endObject()
    return isTooLong ? nil : writer.bytes
  }

  // Rows by key.

  private mutating func append(_ keys: [JSONValue]) throws(StoreError) {
    let ordered = query.descending ? Array(keys.reversed()) : keys
    for key in ordered.dropFirst(query.skip).prefix(query.limit ?? .max) where !isTooLong {
      if let text = key.string, let document = try view.document(DocumentID(stored: text)) {
        try append(document)
      } else {
        writer.beginObject()
        writer.member("key", key)
        writer.member("error", "not_found")
        writer.endObject()
      }
      isTooLong = writer.bytes.count > CouchLimits.answerBytes
    }
  }

  // A walk over a range.

  private mutating func appendRange() throws(StoreError) {
    guard let range = range(from: query.start, to: query.end), query.limit != 0 else { return }
    let last = query.includesEnd ? nil : query.end
    var skipped = 0
    var rows = 0
    try view.documents(range) { document throws(StoreError) in
      // A range can leave out its upper end only; the walk down leaves out its lower end here.
      if case .at(let id) = last, document.id.text.equalsBytes(of: id) { return true }
      guard skipped >= query.skip else {
        skipped += 1
        return true
      }
      try append(document)
      rows += 1
      isTooLong = writer.bytes.count > CouchLimits.answerBytes
      return !isTooLong && rows < query.limit ?? .max
    }
  }

  /// The ids from a bound to another in the query's direction; nil for none.
  private func range(from start: KeyBound?, to end: KeyBound?) -> DocumentRange? {
    let low = query.descending ? end : start
    let high = query.descending ? start : end
    if low == .last || high == .first { return nil }
    var range = DocumentRange(descending: query.descending)
    if case .at(let id) = low { range.start = id }
    if case .at(let id) = high { range.end = id }
    return range
  }

  /// How many rows of the whole walk come before the first of the answer.
  private func offset(in info: StoreInfo) throws(StoreError) -> Int {
    let total = Int(clamping: info.documentCount)
    var before = 0
    if let start = query.start, let range = range(from: nil, to: start) {
      try view.documents(range) { document throws(StoreError) in
        if case .at(let id) = start, document.id.text.equalsBytes(of: id) { return false }
        before += 1
        return true
      }
    }
    return min(total, before.addingReportingOverflow(query.skip).partialValue)
  }

  private mutating func append(_ document: Document) throws(StoreError) {
    writer.beginObject()
    writer.member("id", document.id.text)
    writer.member("key", document.id.text)
    writer.name("value")
    writer.beginObject()
    writer.member("rev", document.revision.description)
    if document.isDeleted { writer.member("deleted", true) }
    writer.endObject()
    if query.includesDocuments {
      writer.name("doc")
      if document.isDeleted {
        writer.null()
      } else {
        writer.raw(try DocumentReader(document, in: view, extras: query.extras).winning())
      }
    }
    writer.endObject()
  }
}
