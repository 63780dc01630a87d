import Documents
import Scheduling
import StoreRecords
import Stores

/// A read of one document, or one local document, with one statement, whose round trip other reads share
/// (``SharedReads``). A single statement sees one state of the store, so that no transaction is needed: that saves a third
/// of a read with one connection (<doc:MeasuredChanges>).
///
/// The query runs twice: first to find out the statement, and again with the row that was found. A query that needs more
/// than this row, or a long one, runs once more on a ``Snapshot``.
final class InlineRead {
  /// Thrown to a query that needs more than it can have now.
  struct NeedsMore: Error {}

  /// What the statement is about.
  private enum Subject: Equatable {
    case document(DocumentID)
    case local(LocalID)
    case nothing
  }

  /// The result of the statement.
  private enum Found {
    case document(DocumentID, LoadedDocuments.Found?)
    case local(LocalID, Row?)
    case nothing
  }

  let store: Int64
  private let epoch: String
  private var row: StoreRow?
  private var found: Found?
  /// What the query asked, and then the row for it.
  private var asked: (subject: Subject, call: Call, row: Row?)?
  /// Whether the query needs more than the one statement.
  private(set) var needsMore = false

  /// Creates a read that has not asked for its statement yet.
  init(of store: Int64, epoch: String) {
    self.store = store
    self.epoch = epoch
  }

  /// The statement that the query has asked for; nil when it has not asked, or needs more.
  var call: Call? { needsMore ? nil : asked?.call }

  /// Takes what ``call`` has found. The query can then run again.
  func take(_ rows: Rows) { asked?.row = rows.first }

  /// A document with body, tree and arrival; nil if there is none.
  func document(_ id: DocumentID) throws -> LoadedDocuments.Found? {
    if case .document(let known, let document)? = found, known == id { return document }
    let row = try first(
      .document(id), Call(Self.documentWithStore, .integer(store), .text(id.text)))
    let start = StoreRow.columnCount
    if !row.isNull(start), row.isNull(start + StoredDocument.columnCount) { throw more() }
    let document =
      row.isNull(start) ? nil : try LoadedDocuments.Found(row, at: start, in: store)
    found = .document(id, document)
    return document
  }

  /// The row of a local document; nil if there is none. The store's columns come first, then revision, expiry, checksum
  /// and body.
  func local(_ id: LocalID) throws -> Row? {
    if case .local(let known, let row)? = found, known == id { return row }
    let row = try first(.local(id), Call(Self.localWithStore, .integer(store), .text(id.text)))
    let start = StoreRow.columnCount
    if !row.isNull(start), row.isNull(start + 3) { throw more() }
    found = .local(id, row.isNull(start) ? nil : row)
    return row.isNull(start) ? nil : row
  }

  /// The store's counts.
  func info() throws -> StoreInfo {
    if let row { return row.info }
    let row = try first(.nothing, Call(StoreRow.find, .integer(store)))
    found = .nothing
    return try StoreRow(row).info
  }

  /// Records that the query must run again on a snapshot.
  /// - Returns: the error to throw.
  func more() -> NeedsMore {
    needsMore = true
    return NeedsMore()
  }

  private func first(_ subject: Subject, _ call: Call) throws -> Row {
    guard let asked else {
      asked = (subject, call, nil)
      throw NeedsMore()
    }
    guard found == nil, asked.subject == subject else { throw more() }
    row = try StoreRow.requireThere(asked.row, epoch: epoch)
    guard let row = asked.row else { throw ServiceError.absent }
    return row
  }

  /// Long values are NULL.
  private static let documentWithStore = Statement(
    "document_with_store",
    """
    SELECT \(StoreRow.columns), \(StoredDocument.columns),
      CASE WHEN octet_length(d.body) + coalesce(octet_length(d.tree), 0)
        <= \(SharedReads.longestRow) THEN d.body END,
      CASE WHEN octet_length(d.tree) <= \(SharedReads.longestRow) THEN d.tree END, d.arrival
    FROM stores s LEFT JOIN documents d ON d.store = s.number AND d.id = $2 WHERE s.number = $1
    """)
  private static let localWithStore = Statement(
    "local_with_store",
    """
    SELECT \(StoreRow.columns), l.revision, l.expires, l.checksum,
      CASE WHEN octet_length(l.body) <= \(SharedReads.longestRow) THEN l.body END
    FROM stores s LEFT JOIN locals l ON l.store = s.number AND l.id = $2 WHERE s.number = $1
    """)
}

/// A view of a store for a query, on an ``InlineRead``.
struct InlineView: StoreView {
  /// The read that answers the query.
  let read: InlineRead
  /// The present time, which decides whether a local document has expired.
  let now: Timestamp
  /// There is only one row to read.
  let slice = Slice.endless

  func document(_ id: DocumentID) throws -> Document? {
    guard let found = try read.document(id) else { return nil }
    return try found.row.document(found.body)
  }
  func tree(_ id: DocumentID) throws -> RevisionTree? {
    guard let newest = try newest(id) else { return nil }
    guard newest.older == 0 else { throw read.more() }
    return newest
  }
  func newest(_ id: DocumentID) throws -> RevisionTree? { try read.document(id)?.tree() }
  func body(_ id: DocumentID, _ revision: RevisionID) throws -> [UInt8]? {
    guard let found = try read.document(id) else { return nil }
    guard found.row.revision == revision else { throw read.more() }
    return try found.row.document(found.body).body
  }
  func kept(_ id: DocumentID, _ revision: RevisionID) throws -> KeptRevision? {
    guard let found = try read.document(id) else { return nil }
    guard found.row.revision == revision else { throw read.more() }
    return KeptRevision(arrival: try found.content.arrival.arrival(of: revision, in: found.row))
  }
  func local(_ id: LocalID) throws -> LocalDocument? {
    guard let row = try read.local(id) else { return nil }
    return try StoredLocal(row, at: StoreRow.columnCount, id, in: read.store).document(at: now)
  }
  func info() throws -> StoreInfo { try read.info() }
  func fileBytes() throws -> Int64 { 0 }

  func documents(_ range: DocumentRange, _ visit: (Document) throws -> Bool) throws {
    throw read.more()
  }
  func changes(after sequence: Int64, limit: Int) throws -> [Change] { throw read.more() }
  func changes(
    ofType type: String, after sequence: Int64, limit: Int
  ) throws -> [Change] { throw read.more() }
  func changes(upTo sequence: Int64, limit: Int) throws -> [Change] { throw read.more() }
  func changeCount(after sequence: Int64) throws -> Int64 { throw read.more() }
  func count(
    _ range: DocumentRange, among ids: Int
  ) throws -> (count: Int, last: DocumentID?) { throw read.more() }
  func allLocals(
    _ range: DocumentRange, _ visit: (LocalID, LocalDocument?) throws -> Bool
  ) throws { throw read.more() }
  func localUsage(of prefix: String) throws -> (count: Int64, bytes: Int64) { throw read.more() }
  func expiredLocals(at moment: Timestamp, limit: Int) throws -> [LocalID] { throw read.more() }
  func indexedSequence(_ index: IndexID) throws -> Int64? { throw read.more() }
  func indexes() throws -> [IndexID] { throw read.more() }
  func entries(
    _ index: IndexID, _ range: IndexRange, _ visit: (IndexEntry) throws -> Bool
  ) throws { throw read.more() }
  func holds(moreThan bytes: Int64) throws -> Bool { throw read.more() }
  func storedBytes(of id: DocumentID) throws -> Int64 { throw read.more() }
}
