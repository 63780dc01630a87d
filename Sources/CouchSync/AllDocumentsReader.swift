import Documents
import Stores

/// Answers `_all_docs` from one state of a store.
struct AllDocumentsReader {
  private let view: any StoreView
  private let query: AllDocumentsQuery
  private let tag: StoreTag
  private var writer = JSONWriter(reserving: 4_096)
  /// Why the answer can't be given; the walk ends with it.
  private var isTooLong = false

  /// A reader over one state of the store with a tag.
  init(_ view: any StoreView, _ query: AllDocumentsQuery, of tag: StoreTag) {
    self.view = view
    self.query = query
    self.tag = tag
  }

  /// The answer's JSON; nil when it is longer than ``CouchLimits/answerBytes``.
  mutating func answer() throws(StoreError) -> [UInt8]? {
    let info = try view.info()
    let total = Int(clamping: try total(in: info))
    writer.beginObject()
    writer.member("total_rows", total)
    writer.name("offset")
    if query.keys == nil { writer.int(try offset(of: total)) } else { writer.null() }
    if query.includesSequence {
      writer.member("update_seq", SinceToken.at(info.lastSequence, in: info, of: tag).text)
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
      if let id = key.string.map(DocumentID.init(stored:)), isInScope(id),
        let document = try view.document(id)
      {
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
    guard let range = query.range.map(scoped), query.limit != 0 else { return }
    var skipped = 0
    var rows = 0
    try view.documents(range) { document throws(StoreError) in
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

  private func scoped(_ range: DocumentRange) -> DocumentRange {
    query.scope == .designs ? range.amongDesigns : range
  }

  private func isInScope(_ id: DocumentID) -> Bool {
    query.scope == .everything || id.isDesign
  }

  private func total(in info: StoreInfo) throws(StoreError) -> Int64 {
    switch query.scope {
    case .everything: info.documentCount
    case .designs: try view.count(DocumentRange().amongDesigns)
    }
  }

  /// How many rows of the whole walk come before the first of the answer.
  private func offset(of total: Int) throws(StoreError) -> Int {
    var before: Int64 = 0
    if let range = query.rangeBefore { before = try view.count(scoped(range)) }
    return min(total, Int(clamping: before).addingReportingOverflow(query.skip).partialValue)
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
