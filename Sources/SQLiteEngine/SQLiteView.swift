import Documents
import SQLite
import Scheduling
import Stores

/// One state of a store: the file's rows as its only connection sees them, and the counts in memory.
struct SQLiteView: RowView {
  /// The file's rows.
  let rows: StoreRows
  /// The counts of this state.
  let header: StoreHeader
  /// The time that decides which local documents have expired.
  let now: Timestamp
  let slice: Slice
  /// The documents that an update has read to change them; nil outside updates.
  var loaded: LoadedDocuments?

  func document(_ id: DocumentID) throws -> Document? {
    if let known = try loaded?.loaded(id) { return try known.map { try $0.row.document($0.body) } }
    return try rows.document(id).map { found in try found.row.document(found.content) }
  }

  func documents(_ range: DocumentRange, _ visit: (Document) throws -> Bool) throws {
    try rows.walk(range) { row, body in try visit(row.document(body)) }
  }

  func changes(after sequence: Int64, limit: Int) throws -> [Change] {
    try rows.connection.statement(
      StoredDocument.selected, "FROM documents WHERE sequence > ?1 ORDER BY sequence LIMIT ?2"
    ).all(.integer(sequence), .integer(max(limit, 0)), row: Self.change)
  }

  func changedDocuments(
    after sequence: Int64, limit: Int, _ visit: (Document) throws -> Bool
  ) throws {
    try rows.connection.statement(
      StoredDocument.selected,
      ", body FROM documents WHERE sequence > ?1 ORDER BY sequence LIMIT ?2"
    ).visit(.integer(sequence), .integer(max(limit, 0))) { row in
      let (row, body) = try StoredDocument.reading(row).withContent()
      return try visit(row.document(body))
    }
  }

  func changes(ofType type: String, after sequence: Int64, limit: Int) throws -> [Change] {
    try rows.connection.statement(
      StoredDocument.selected,
      "FROM documents WHERE type = ?1 AND is_deleted = 0 AND sequence > ?2 ORDER BY sequence LIMIT ?3"
    ).all(.text(type), .integer(sequence), .integer(max(limit, 0)), row: Self.change)
  }

  func changes(upTo sequence: Int64, limit: Int) throws -> [Change] {
    try rows.connection.statement(
      StoredDocument.selected, "FROM documents WHERE sequence <= ?1 ORDER BY sequence DESC LIMIT ?2"
    ).all(.integer(sequence), .integer(max(limit, 0)), row: Self.change)
  }

  private static func change(_ row: borrowing Row) throws -> Change {
    try StoredDocument.reading(row).verified().change
  }

  func changeCount(after sequence: Int64) throws -> Int64 {
    let all = header.live + header.deleted
    if sequence <= 0 { return all }
    if sequence >= header.newest { return 0 }
    return try rows.count(after: sequence, last: header.newest, documents: all)
  }

  func count(_ range: DocumentRange, among ids: Int) throws -> (count: Int, last: DocumentID?) {
    try rows.count(range, among: ids)
  }

  func allLocals(_ range: DocumentRange, _ visit: (LocalID, LocalDocument?) throws -> Bool) throws {
    try rows.walkLocals(range, at: now, visit)
  }

  func localUsage(of prefix: String) throws -> (count: Int64, bytes: Int64) {
    guard try rows.has(.locals) else { return (0, 0) }
    // "0" is the byte after "/", so the ids in this range are those with the prefix.
    return try rows.connection.statement(
      """
      SELECT count(*), coalesce(sum(length(body)), 0) FROM locals
      WHERE id >= ?1 AND id < ?2 AND (expires IS NULL OR expires > ?3)
      """
    ).first(
      .text(prefix), .text(prefix.dropLast() + "0"), .integer(now.milliseconds)
    ) { row in (count: row.int64(0), bytes: row.int64(1)) } ?? (0, 0)
  }

  func expiredLocals(at moment: Timestamp, limit: Int) throws -> [LocalID] {
    guard try rows.has(.locals) else { return [] }
    return try rows.connection.statement(
      "SELECT id FROM locals WHERE expires IS NOT NULL AND expires <= ?1 LIMIT ?2"
    ).all(.integer(moment.milliseconds), .integer(max(limit, 0))) { row in
      LocalID(stored: try row.string(0))
    }
  }

  func indexedSequence(_ index: IndexID) throws -> Int64? { try rows.indexedSequence(index) }

  func indexes() throws -> [IndexID] { try rows.indexNames() }

  func entries(_ index: IndexID, _ range: IndexRange, _ visit: (IndexEntry) throws -> Bool) throws {
    try rows.walk(index, range, visit)
  }

  func local(_ id: LocalID) throws -> LocalDocument? { try rows.local(id, at: now) }

  func fileBytes() throws -> Int64 { try rows.connection.pageCount() * rows.connection.pageSize() }

  func holds(moreThan limit: Int64) throws -> Bool {
    let bytes = try fileBytes()
    guard bytes > limit else { return false }
    // Free pages do not count.
    return try bytes - rows.connection.freePageCount() * rows.connection.pageSize() > limit
  }

  func info() throws -> StoreInfo { header.info }

  // MARK: The rows of documents

  func found(_ id: DocumentID) throws -> LoadedDocuments.Found? { try rows.whole(id) }

  func head(_ id: DocumentID) throws -> StoredDocument? { try rows.head(id) }

  func history(_ id: DocumentID) throws -> (row: StoredDocument, newest: RevisionTree)? {
    try rows.newestHistory(of: id)
  }

  func pieces(of first: Int64) throws -> [StoredPiece] { try rows.pieces(of: first) }

  func storedBody(of first: Int64, _ revision: RevisionID) throws -> StoredBody? {
    try rows.body(of: first, revision)
  }

  func arrival(of first: Int64, _ revision: RevisionID) throws -> StoredArrival? {
    try rows.arrival(of: first, revision)
  }

  func bodyDigests(of first: Int64, generation: Int) throws -> [String] {
    try rows.bodyDigests(of: first, generation: generation)
  }

  func bodyBytes(of first: Int64) throws -> Int64 { try rows.bodyBytes(of: first) }
}

extension LoadedDocuments {
  /// Creates the documents of an update without reading any of them.
  convenience init(_ ids: Set<DocumentID>, in rows: StoreRows) {
    self.init(ids) { id in try rows.whole(id) }
  }
}
