import Documents
import Lanes
import Stores

/// Answers `_local_docs` in slices, each from one state of a store: clients' local documents, without the service's
/// own notes.
struct LocalDocumentsReader: Sendable {
  private let query: AllDocumentsQuery
  private let tag: StoreTag
  private var writer = JSONWriter(reserving: 4_096)
  /// Whether what stands before the rows is written.
  private var isBegun = false
  /// The ids that are still to be walked over; nil for none.
  private var range: DocumentRange?
  /// The keys that are still to be looked up.
  private var keys: ArraySlice<JSONValue>
  private var skipped = 0
  private var rows = 0

  /// A reader of a store with a tag.
  init(_ query: AllDocumentsQuery, of tag: StoreTag) {
    self.query = query
    self.tag = tag
    range = query.limit == 0 || query.keys != nil ? nil : query.range?.amongLocals
    keys = query.askedKeys
  }

  /// The answer's JSON, once it is whole; nil when it is longer than ``CouchLimits/answerBytes``.
  var answer: [UInt8]? { isTooLong ? nil : writer.bytes }

  private var isTooLong: Bool { writer.bytes.count > CouchLimits.answerBytes }

  /// Goes on in a state of the store until the slice is over. Local documents are not counted, as in CouchDB.
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
    writer.beginObject()
    for name in ["total_rows", "offset"] {
      writer.name(name)
      writer.null()
    }
    if query.includesSequence {
      let info = try view.info()
      writer.member("update_seq", SinceToken.at(info.lastSequence, in: info, of: tag).text)
    }
    writer.name("rows")
    writer.beginArray()
  }

  private mutating func look(_ view: any StoreView) throws(StoreError) {
    while let key = keys.popFirst() {
      if let text = key.string, let id = try? LocalID(client: text),
        let document = try view.local(id)
      {
        append(id, document)
      } else {
        writer.beginObject()
        writer.member("key", key)
        writer.member("error", "not_found")
        writer.endObject()
      }
      if isTooLong || Slice.isOver { return }
    }
  }

  private mutating func walk(_ view: any StoreView) throws(StoreError) {
    guard let walked = range else { return }
    var rest: DocumentRange?
    try view.locals(walked) { id, document throws(StoreError) in
      if skipped < query.skip {
        skipped += 1
      } else {
        append(id, document)
        rows += 1
        if isTooLong || rows == query.limit { return false }
      }
      guard Slice.isOver else { return true }
      rest = walked.behind(id.text)
      return false
    }
    range = rest
  }

  private mutating func append(_ id: LocalID, _ document: LocalDocument) {
    writer.beginObject()
    writer.member("id", id.text)
    writer.member("key", id.text)
    writer.name("value")
    writer.beginObject()
    writer.member("rev", LocalRevision.text(document.revision))
    writer.endObject()
    if query.includesDocuments {
      writer.name("doc")
      document.append(as: id, to: &writer)
    }
    writer.endObject()
  }
}
