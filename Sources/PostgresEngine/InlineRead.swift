import Documents
import Stores

/// A read of one document, or one local document, with one statement, whose round trip other reads share
/// (``SharedReads``). A single statement sees one state of the store, so that no transaction is needed: that saves a third
/// of a read with one connection (<doc:MeasuredChanges>).
///
/// The query runs twice: first to find out the statement, and again with the row that was found. A query that needs more
/// than this row, or a long one, runs once more on a ``Snapshot``. A ``PostgresView`` gets documents from it by
/// ``document(_:)``.
final class InlineRead: RowSource {
  /// Thrown to a query that needs more than it can have now.
  struct NeedsMore: Error {}

  /// What the statement is about.
  private enum Subject: Equatable {
    case document(DocumentID)
    case local(LocalID)
    case nothing
  }

  let store: Int64
  private let epoch: String
  private var row: StoreRow?
  private var local: (id: LocalID, found: StoredLocal?)?
  private var hasFound = false
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

  /// A document with body, tree and arrival; nil if there is none. It can be read once.
  func document(_ id: DocumentID) throws -> LoadedDocuments.Found? {
    let row = try first(
      .document(id), Call(Self.documentWithStore, .integer(store), .text(id.text)))
    let start = StoreRow.columnCount
    if !row.isNull(start), row.isNull(start + StoredDocument.columnCount) { throw more() }
    hasFound = true
    return row.isNull(start) ? nil : try LoadedDocuments.Found(row, at: start, in: store)
  }

  func local(_ id: LocalID) throws -> StoredLocal? {
    if let local, local.id == id { return local.found }
    let row = try first(.local(id), Call(Self.localWithStore, .integer(store), .text(id.text)))
    let start = StoreRow.columnCount
    if !row.isNull(start), row.isNull(start + 3) { throw more() }
    hasFound = true
    let found = row.isNull(start) ? nil : try StoredLocal(row, at: start, id, in: store)
    local = (id, found)
    return found
  }

  func storeRow() throws -> StoreRow {
    if let row { return row }
    let row = try first(.nothing, Call(StoreRow.find, .integer(store)))
    hasFound = true
    return try StoreRow(row)
  }

  var waited: Int64 { 0 }
  func rows(_ call: Call) throws -> Rows { throw more() }

  /// Records that the query must run again on a snapshot.
  /// - Returns: the error to throw.
  private func more() -> NeedsMore {
    needsMore = true
    return NeedsMore()
  }

  private func first(_ subject: Subject, _ call: Call) throws -> Row {
    guard let asked else {
      asked = (subject, call, nil)
      throw NeedsMore()
    }
    guard !hasFound, asked.subject == subject else { throw more() }
    row = try StoreRow.requireThere(asked.row, epoch: epoch)
    guard let row = asked.row else { throw ServiceError.absent }
    return row
  }

  /// Long values are NULL.
  private static let documentWithStore = Statement(
    """
    SELECT \(StoreRow.columns), \(StoredDocument.columns),
      CASE WHEN octet_length(d.body) + coalesce(octet_length(d.tree), 0)
        <= \(SharedReads.longestRow) THEN d.body END,
      CASE WHEN octet_length(d.tree) <= \(SharedReads.longestRow) THEN d.tree END, d.arrival
    FROM stores s LEFT JOIN documents d ON d.store = s.number AND d.id = $2 WHERE s.number = $1
    """)
  private static let localWithStore = Statement(
    """
    SELECT \(StoreRow.columns), l.revision, l.expires, l.checksum,
      CASE WHEN octet_length(l.body) <= \(SharedReads.longestRow) THEN l.body END
    FROM stores s LEFT JOIN locals l ON l.store = s.number AND l.id = $2 WHERE s.number = $1
    """)
}
