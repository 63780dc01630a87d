import Documents
import SQLite
import Stores

/// What stands beside the documents.
extension StoreScrub {
  /// Bodies that no document can have, and documents that share a name among the bodies.
  mutating func bodiesOfNobody() throws(StoreError) {
    let (orphans, shared) = try storing { () throws(SQLiteError) in
      (
        try number(
          "SELECT count(*) FROM bodies WHERE first NOT IN (SELECT first FROM documents)"),
        try number("SELECT count(*) - count(DISTINCT first) FROM documents")
      )
    }
    if orphans > 0 { find("\(orphans) stored bodies belong to no document") }
    if shared > 0 { find("\(shared) documents share the number of a first change with another") }
  }

  /// Local documents.
  mutating func locals() throws(StoreError) {
    let ids = try storing { () throws(SQLiteError) in
      try rows.connection.statement("SELECT id FROM locals ORDER BY id").all {
        row throws(SQLiteError) in LocalID(stored: try row.string(0))
      }
    }
    for id in ids {
      do throws(StoreError) {
        // At the beginning of time none has expired.
        _ = try rows.local(id, at: Timestamp(milliseconds: .min))
      } catch { find(error.words) }
    }
  }

  /// What is known of indexes, entries of no index or no document, and those that fail their checksums, which files
  /// before version 4 don't have. A key in which a bit has turned is another in the one of the two trees that hold it,
  /// which SQLite's own check finds, too.
  mutating func indexes() throws(StoreError) {
    let last = try storing { () throws(SQLiteError) in
      try number("SELECT last_sequence FROM header")
    }
    for index in try rows.indexNames() {
      do throws(StoreError) {
        guard let sequence = try rows.indexedSequence(index), sequence <= last else {
          throw .integrity("an index has seen changes that there are not")
        }
      } catch { find(error.words) }
    }
    let (lost, stray) = try storing { () throws(SQLiteError) in
      (
        try number(
          "SELECT count(*) FROM entries WHERE number NOT IN (SELECT number FROM indexes)"),
        try number("SELECT count(*) FROM entries WHERE id NOT IN (SELECT id FROM documents)")
      )
    }
    if lost > 0 { find("\(lost) entries belong to no index") }
    if stray > 0 { find("\(stray) entries lead to no document") }
    let damaged = version > 3 ? try storing(rows.damagedEntries) : 0
    if damaged > 0 { find("\(damaged) entries of indexes fail their checksums") }
  }

  private func number(_ sql: StaticString) throws(SQLiteError) -> Int64 {
    try rows.connection.statement(sql).first { row throws(SQLiteError) in row.int64(0) } ?? 0
  }
}
