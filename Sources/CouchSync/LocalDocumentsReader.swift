import Documents
import Stores

/// Answers `_local_docs` from one state of a store: clients' local documents, without the service's own notes.
struct LocalDocumentsReader {
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

  /// The answer's JSON; nil when it is longer than ``CouchLimits/answerBytes``. Local documents are not
  /// counted, as in CouchDB.
  mutating func answer() throws(StoreError) -> [UInt8]? {
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
    if let keys = query.keys { try append(keys) } else { try appendRange() }
    writer.endArray()
    writer.endObject()
    return isTooLong ? nil : writer.bytes
  }

  private mutating func append(_ keys: [JSONValue]) throws(StoreError) {
    let ordered = query.descending ? Array(keys.reversed()) : keys
    for key in ordered.dropFirst(query.skip).prefix(query.limit ?? .max) where !isTooLong {
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
      isTooLong = writer.bytes.count > CouchLimits.answerBytes
    }
  }

  private mutating func appendRange() throws(StoreError) {
    guard let range = query.range?.amongLocals, query.limit != 0 else { return }
    var skipped = 0
    var rows = 0
    try view.locals(range) { id, document throws(StoreError) in
      guard skipped >= query.skip else {
        skipped += 1
        return true
      }
      append(id, document)
      rows += 1
      isTooLong = writer.bytes.count > CouchLimits.answerBytes
      return !isTooLong && rows < query.limit ?? .max
    }
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
