import Documents
import SQLite
import Scheduling
import StoreRecords
import Stores

/// One state of a store: the file's rows as its only connection sees them, and the counts in memory.
struct SQLiteView: StoreView {
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
    guard let found = try winner(id) else { return nil }
    return try found.row.document(found.body)
  }

  func tree(_ id: DocumentID) throws -> RevisionTree? {
    if let known = try loaded?.loaded(id) { return try known?.whole(from: rows.pieces) }
    guard let found = try rows.history(id) else { return nil }
    return try found.row.whole(found.row.tree(found.tree)) { try rows.pieces(of: found.row.first) }
  }

  func newest(_ id: DocumentID) throws -> RevisionTree? {
    if let known = try loaded?.loaded(id) { return try known?.tree() }
    return try rows.history(id).map { found in try found.row.tree(found.tree) }
  }

  func body(_ id: DocumentID, _ revision: RevisionID) throws -> [UInt8]? {
    guard let found = try winner(id) else { return nil }
    guard found.row.revision != revision else { return try found.row.document(found.body).body }
    // A revision that is stored in a history piece is too old to have a body.
    guard let tree = try newest(id), let node = tree[revision] else { return nil }
    return try body(of: node, in: found.row, tree)
  }

  func body(
    _ id: DocumentID, of node: RevisionTree.Node, in tree: RevisionTree
  ) throws -> [UInt8]? {
    guard loaded == nil, let row = try rows.head(id), row.revision != node.revision else {
      return try body(id, node.revision)
    }
    return try body(of: node, in: row, tree)
  }

  func kept(_ id: DocumentID, _ revision: RevisionID) throws -> KeptRevision? {
    guard let row = try rows.head(id) else { return nil }
    let found =
      row.revision == revision
      ? try rows.arrival(of: id) : try rows.arrival(of: row.first, revision)
    guard let found else {
      if let tree = try newest(id), let node = tree[revision] {
        try row.requireCompacted(node, tree, rows.bodyDigests)
      }
      return nil
    }
    return KeptRevision(arrival: try found.arrival(of: revision, in: row))
  }

  private func body(
    of node: RevisionTree.Node, in row: StoredDocument, _ tree: RevisionTree
  ) throws -> [UInt8]? {
    let revision = node.revision
    let body = try rows.body(of: row.first, revision)
    guard let body else {
      try row.requireCompacted(node, tree, rows.bodyDigests)
      return nil
    }
    try row.verify(body.bytes, of: revision, body.checksum)
    return body.bytes
  }

  func documents(
    _ range: DocumentRange, _ visit: (Document) throws -> Bool
  ) throws {
    try rows.walk(range) { row, body in try visit(row.document(body)) }
  }

  func changes(after sequence: Int64, limit: Int) throws -> [Change] {
    try rows.changes(after: sequence, limit: max(limit, 0)).map(\.change)
  }

  func changedDocuments(
    after sequence: Int64, limit: Int, _ visit: (Document) throws -> Bool
  ) throws {
    try rows.walk(after: sequence, limit: max(limit, 0)) { row, body in
      try visit(row.document(body))
    }
  }

  func changes(
    ofType type: String, after sequence: Int64, limit: Int
  ) throws -> [Change] {
    try rows.changes(ofType: type, after: sequence, limit: max(limit, 0)).map(\.change)
  }

  func changes(upTo sequence: Int64, limit: Int) throws -> [Change] {
    try rows.changes(upTo: sequence, limit: max(limit, 0)).map(\.change)
  }

  func changeCount(after sequence: Int64) throws -> Int64 {
    let all = header.live + header.deleted
    if sequence <= 0 { return all }
    if sequence >= header.newest { return 0 }
    return try rows.count(after: sequence, last: header.newest, documents: all)
  }

  func count(
    _ range: DocumentRange, among ids: Int
  ) throws -> (count: Int, last: DocumentID?) {
    try rows.count(range, among: ids)
  }

  func allLocals(
    _ range: DocumentRange, _ visit: (LocalID, LocalDocument?) throws -> Bool
  ) throws {
    try rows.walkLocals(range, at: now, visit)
  }

  func localUsage(of prefix: String) throws -> (count: Int64, bytes: Int64) {
    try rows.localUsage(of: prefix, at: now)
  }

  func expiredLocals(at moment: Timestamp, limit: Int) throws -> [LocalID] {
    try rows.expiredLocals(at: moment, limit: max(limit, 0))
  }

  func indexedSequence(_ index: IndexID) throws -> Int64? {
    try rows.indexedSequence(index)
  }

  func indexes() throws -> [IndexID] { try rows.indexNames() }

  func entries(
    _ index: IndexID, _ range: IndexRange, _ visit: (IndexEntry) throws -> Bool
  ) throws {
    try rows.walk(index, range, visit)
  }

  func local(_ id: LocalID) throws -> LocalDocument? {
    try rows.local(id, at: now)
  }

  func fileBytes() throws -> Int64 {
    try rows.connection.pageCount() * rows.connection.pageSize()
  }

  func holds(moreThan limit: Int64) throws -> Bool {
    let bytes = try fileBytes()
    guard bytes > limit else { return false }
    // Free pages do not count.
    return try bytes - rows.connection.freePageCount() * rows.connection.pageSize() > limit
  }

  func storedBytes(of id: DocumentID) throws -> Int64 {
    guard let found = try winner(id) else { return 0 }
    return Int64(found.body.count) + (try rows.bodyBytes(of: found.row.first))
  }

  func info() throws -> StoreInfo { header.info }

  private func winner(_ id: DocumentID) throws -> (row: StoredDocument, body: [UInt8])? {
    if let known = try loaded?.loaded(id) { return known.map { ($0.row, $0.body) } }
    return try rows.document(id)
  }
}

extension StoredDocument {
  fileprivate var change: Change {
    Change(sequence: sequence, id: id, revision: revision, isDeleted: isDeleted)
  }
}

extension LoadedDocuments {
  /// Creates the documents of an update without reading any of them.
  convenience init(_ ids: Set<DocumentID>, in rows: StoreRows) {
    self.init(ids) { id in try rows.whole(id) }
  }
}
