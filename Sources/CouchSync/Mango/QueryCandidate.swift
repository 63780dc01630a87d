import Documents
import Lanes
import Stores

/// A document that may match a query, and where it stands on the query's way.
struct QueryCandidate: Sendable {
  /// Its place: its id, and its key where the way is an index.
  let place: IndexEntry
  /// The document as it would be answered, or as far as its index tells of it.
  let json: [UInt8]
  /// Whether the index told of it, and the document was not read.
  var isCovered = false

  /// The document, read.
  /// - Throws: 500 `integrity_error` for bytes that are no document.
  func parsed() throws(CouchError) -> JSONNode {
    do { return try ParsedJSON(json, limits: .stored).root } catch {
      throw CouchError(
        500, "integrity_error", "A stored document can't be read", detail: error.debugDescription)
    }
  }
}

/// A stretch of a walk, read from one state of a store until it is long enough.
struct QueryPage: Sendable {
  /// The documents that are there and live.
  private(set) var candidates: [QueryCandidate] = []
  /// Places that were looked at, those of documents that are gone included.
  private(set) var examined = 0
  /// The place that was looked at last.
  private(set) var last: IndexEntry?

  private let count: Int
  private let bytes: Int
  private let extras: DocumentExtras
  private let endsWithSlice: Bool
  private var size = 0

  /// An empty page that takes so many places and, roughly, bytes.
  init(
    count: Int, bytes: Int = QueryLimits.pageBytes, extras: DocumentExtras = DocumentExtras(),
    endsWithSlice: Bool = true
  ) {
    self.count = count
    self.bytes = bytes
    self.extras = extras
    self.endsWithSlice = endsWithSlice
  }

  /// Whether the page takes no more. A page that is read in one piece ends with its slice, but not empty.
  var isFull: Bool {
    examined >= count || size >= bytes || (endsWithSlice && examined > 0 && Slice.isOver)
  }

  /// Looks at a place.
  /// - Parameter document: what stands there; nil, a tombstone or a design document leave the place empty.
  mutating func add(
    _ place: IndexEntry, _ document: Document?, in view: any StoreView
  ) throws(StoreError) {
    examined += 1
    last = place
    guard let document, !document.isDeleted, !document.id.isDesign else { return }
    let json = try DocumentReader(document, in: view, extras: extras).winning()
    size += json.count
    candidates.append(QueryCandidate(place: place, json: json))
  }

  /// Takes what an index tells of a document.
  mutating func add(_ place: IndexEntry, covered json: [UInt8]) {
    examined += 1
    last = place
    size += json.count
    candidates.append(QueryCandidate(place: place, json: json, isCovered: true))
  }
}
