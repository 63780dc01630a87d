import CouchQuery
import Documents
import Scheduling
import Stores

/// A page of a walk, read from one snapshot of the store until it is full.
struct QueryPage: Sendable {
  /// The documents that exist and are not deleted.
  private(set) var candidates: [QueryCandidate] = []
  /// How many positions were examined, those of removed documents included.
  private(set) var examined = 0
  /// The position that was examined last.
  private(set) var last: IndexEntry?

  private let count: Int
  private let bytes: Int
  private let extras: DocumentExtras
  private var size = 0

  /// Makes an empty page for this many positions and, roughly, bytes.
  init(count: Int, bytes: Int = QueryLimits.pageBytes, extras: DocumentExtras = DocumentExtras()) {
    self.count = count
    self.bytes = bytes
    self.extras = extras
  }

  /// Whether the page has enough.
  var isFull: Bool { examined >= count || size >= bytes }

  /// Whether the page takes no more: it is full, or the slice is over and the page has a position.
  func isOver(within slice: Slice) -> Bool { isFull || examined > 0 && slice.isOver }

  /// Examines a position.
  /// - Parameter document: the document at the position; nil, a tombstone or a design document adds no candidate.
  mutating func add(_ position: IndexEntry, _ document: Document?, in view: any StoreView) throws {
    examined += 1
    last = position
    guard let document, !document.isDeleted, !document.id.isDesign else { return }
    let json = try DocumentReader(document, in: view, extras: extras).winning(in: view)
    size += json.count
    candidates.append(QueryCandidate(position: position, json: json))
  }

  /// Adds the content of a document that an index contains.
  mutating func add(_ position: IndexEntry, covered json: [UInt8]) {
    examined += 1
    last = position
    size += json.count
    candidates.append(QueryCandidate(position: position, json: json, isCovered: true))
  }
}
