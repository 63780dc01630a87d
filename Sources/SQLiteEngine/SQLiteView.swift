import Documents
import SQLite
import Stores

/// One state of a store: the file's rows as the one connection sees them, and the counts in memory.
struct SQLiteView: StoreView {
  /// The file's rows.
  let rows: StoreRows
  /// The counts of this state.
  let header: StoreHeader
  /// The moment at which local documents expire.
  let now: Timestamp

  func document(_ id: DocumentID) throws(StoreError) -> Document? {
    guard let found = try rows.document(id) else { return nil }
    return try found.row.document(found.body)
  }

  func tree(_ id: DocumentID) throws(StoreError) -> RevisionTree? {
    guard let found = try rows.history(id) else { return nil }
    return try found.row.tree(found.tree)
  }

  /// A leaf always has a body: without one its row is lost, which is damage and no compaction.
  func body(_ id: DocumentID, _ revision: RevisionID) throws(StoreError) -> [UInt8]? {
    guard let found = try rows.document(id) else { return nil }
    guard found.row.revision != revision else { return try found.row.document(found.body).body }
    guard let node = try tree(id)?[revision] else { return nil }
    let body = try storing { () throws(SQLiteError) in
      try rows.body(of: found.row.first, revision)
    }
    guard let body else {
      guard !node.isLeaf else { throw .integrity("the body of a leaf is missing") }
      return nil
    }
    guard Checksum.body(id, revision, body.bytes) == body.checksum else {
      throw .integrity("a stored body fails its checksum")
    }
    return body.bytes
  }

  func documents(
    _ range: DocumentRange, _ visit: (Document) throws(StoreError) -> Bool
  ) throws(StoreError) {
    try rows.walk(range) { row, body throws(StoreError) in try visit(row.document(body)) }
  }

  func ids(ofType type: String) throws(StoreError) -> [DocumentID] {
    try rows.documents(ofType: type).map(\.id)
  }

  func changes(after sequence: Int64, limit: Int) throws(StoreError) -> [Change] {
    try rows.changes(after: sequence, limit: max(limit, 0)).map { row in
      Change(
        sequence: row.sequence, id: row.id, revision: row.revision, isDeleted: row.isDeleted)
    }
  }

  func local(_ id: LocalID) throws(StoreError) -> LocalDocument? {
    try rows.local(id, at: now)
  }

  func info() throws(StoreError) -> StoreInfo { header.info }
}
