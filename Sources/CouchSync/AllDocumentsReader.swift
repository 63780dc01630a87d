import Documents
import Lanes
import Stores

/// Answers `_all_docs` in slices, each from one state of a store.
struct AllDocumentsReader: Sendable {
  private let query: AllDocumentsQuery
  private let tag: StoreTag
  private var writer = JSONWriter(reserving: 4_096)
  /// Whether what stands before the rows is written.
  private var isBegun = false
  /// The ids that are still to be walked over; nil for none.
  private var range: DocumentRange?
  /// The keys that are still to be looked up.
  private var keys: ArraySlice<JSONValue>
  /// Where in the answer the rows of keys stand, which may be named again.
  private var known: [DocumentID: Range<Int>] = [:]
  private var skipped = 0
  private var rows = 0

  /// A reader of a store with a tag.
  init(_ query: AllDocumentsQuery, of tag: StoreTag) {
    self.query = query
    self.tag = tag
    range = query.limit == 0 || query.keys != nil ? nil : query.range
    if query.scope == .designs { range = range?.amongDesigns }
    keys = query.askedKeys
  }

  /// The answer's JSON, once it is whole; nil when it is longer than ``CouchLimits/answerBytes``.
  var answer: [UInt8]? { isTooLong ? nil : writer.bytes }

  private var isTooLong: Bool { writer.bytes.count > CouchLimits.answerBytes }

  /// Goes on in a state of the store until the slice is over.
  /// - Returns: whether the answer is whole, or too long.
  mutating func read(_ view: any StoreView) throws(StoreError) -> Bool {
    if !isBegun { try begin(view) }
    isBegun = true
    if query.keys == nil { try walk(view) } else { try look(view) }
    if isTooLong { return true }
    guard range == nil, keys.isEmpty else { return false }
    writer.endArray()
    writer.endObject()
    return true
  }

  private mutating func begin(_ view: any StoreView) throws(StoreError) {
    let info = try view.info()
    let total = Int(clamping: try total(in: info, view))
    writer.beginObject()
    writer.member("total_rows", total)
    writer.name("offset")
    if query.keys == nil { writer.int(try offset(of: total, view)) } else { writer.null() }
    // Whoever leaves out more than there are has no row, without a walk.
    if query.skip >= total { range = nil }
    if query.includesSequence {
      writer.member("update_seq", SinceToken.at(info.lastSequence, in: info, of: tag).text)
    }
    writer.name("rows")
    writer.beginArray()
  }

  // Rows by key.

  private mutating func look(_ view: any StoreView) throws(StoreError) {
    while let key = keys.popFirst() {
      let id = key.string.map(DocumentID.init(stored:))
      if let id, let row = known[id] {
        // A copy: what is appended to its own bytes would copy the whole answer.
        writer.raw(Array(writer.bytes[row]))
      } else {
        writer.beginObject()
        let start = writer.bytes.count - 1
        if let id, isInScope(id), let document = try view.document(id) {
          try append(document, view)
        } else {
          writer.member("key", key)
          writer.member("error", "not_found")
          writer.endObject()
        }
        if let id { known[id] = start..<writer.bytes.count }
      }
      if isTooLong || Slice.isOver { return }
    }
  }

  // A walk over a range.

  private mutating func walk(_ view: any StoreView) throws(StoreError) {
    guard let walked = range else { return }
    var rest: DocumentRange?
    try view.documents(walked) { document throws(StoreError) in
      if skipped < query.skip {
        skipped += 1
      } else {
        writer.beginObject()
        try append(document, view)
        rows += 1
        if isTooLong || rows == query.limit { return false }
      }
      guard Slice.isOver else { return true }
      rest = walked.behind(document.id.text)
      return false
    }
    range = rest
  }

  private func isInScope(_ id: DocumentID) -> Bool {
    query.scope == .everything || id.isDesign
  }

  private func total(in info: StoreInfo, _ view: any StoreView) throws(StoreError) -> Int64 {
    switch query.scope {
    case .everything: info.documentCount
    case .designs: try view.count(DocumentRange().amongDesigns)
    }
  }

  /// How many rows of the whole walk come before the first of the answer.
  private func offset(of total: Int, _ view: any StoreView) throws(StoreError) -> Int {
    var before: Int64 = 0
    if let range = query.rangeBefore {
      before = try view.count(query.scope == .designs ? range.amongDesigns : range)
    }
    return min(total, Int(clamping: before).addingReportingOverflow(query.skip).partialValue)
  }

  /// Writes a row, whose object is begun.
  private mutating func append(_ document: Document, _ view: any StoreView) throws(StoreError) {
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

/// Answers several queries of `_all_docs` one after the other, in slices.
struct AllDocumentsListReader: Sendable {
  private let tag: StoreTag
  private var queries: ArraySlice<AllDocumentsQuery>
  private var current: AllDocumentsReader?
  private var writer = JSONWriter(reserving: 4_096)
  /// The answer's JSON, once it is whole; nil when it is longer than ``CouchLimits/answerBytes``.
  private(set) var answer: [UInt8]?

  /// A reader of a store with a tag.
  init(_ queries: [AllDocumentsQuery], of tag: StoreTag) {
    self.tag = tag
    self.queries = queries[...]
    writer.beginObject()
    writer.name("results")
    writer.beginArray()
  }

  /// Goes on in a state of the store until the slice is over.
  /// - Returns: whether the answer is whole, or too long.
  mutating func read(_ view: any StoreView) throws(StoreError) -> Bool {
    while true {
      if current == nil {
        guard let query = queries.popFirst() else { break }
        current = AllDocumentsReader(query, of: tag)
      }
      guard try current?.read(view) ?? true else { return false }
      guard let part = current?.answer else { return true }
      current = nil
      writer.raw(part)
      guard writer.bytes.count <= CouchLimits.answerBytes else { return true }
      if Slice.isOver, !queries.isEmpty { return false }
    }
    writer.endArray()
    writer.endObject()
    answer = writer.bytes
    return true
  }
}
