import Documents
import SQLite
import Stores

/// What stands beside the documents.
extension StoreMending {
  /// Looks at the local documents behind an id.
  /// - Returns: whether one of them is damaged, and how far it came; nil at the end.
  func damagedLocals(after id: [UInt8]) throws(StoreError) -> (isDamaged: Bool, last: [UInt8]?) {
    let piece = try storing { () throws(SQLiteError) in
      try rows.localsAsFound(after: id, limit: Self.localsAtOnce)
    }
    let isDamaged = piece.contains { !$0.isSound }
    return (isDamaged, piece.count == Self.localsAtOnce ? piece.last?.bytes(0) : nil)
  }

  /// Mends local documents, and drops those that can't be. A checkpoint that is gone makes a client compare all
  /// once more, a receipt that is gone makes a batch run again.
  mutating func mendLocals() throws(StoreError) {
    let found = try storing(rows.localsAsFound)
    guard found.contains(where: { !$0.isSound }) else { return }
    var kept: [RowValues] = []
    for local in found {
      if local.isSound {
        kept.append(local)
      } else if let mended = local.mended() {
        kept.append(mended)
        outcome.mended += 1
      } else if extent == .everything {
        outcome.dropped += 1
      } else {
        kept.append(local)
        outcome.left += 1
      }
    }
    try storing { () throws(SQLiteError) in try rows.replaceLocals(with: kept) }
    if extent == .everything { try notePurges() }
  }

  /// Counts one more purge, so that whoever keeps a copy of the store begins anew. Where the count is lost, it goes on
  /// from a number that it can't have reached: each purge has taken a sequence number.
  mutating func notePurges() throws(StoreError) {
    let known = try rows.local(.purgeCount, at: now)?.revision
    let count = LocalDocument(
      revision: known.map { $0 &+ 1 } ?? header.lastSequence &+ 1, body: Array("{}".utf8))
    try storing { () throws(SQLiteError) in
      try rows.apply(LocalEdit(.purgeCount, count))
    }
  }

  /// Drops all query indexes where what is known of one is damaged: they are made anew when they are asked.
  /// - Parameter all: whether to look at their entries, too, which takes some 50 milliseconds for each ten thousand.
  mutating func mendIndexes(all: Bool) throws(StoreError) {
    do throws(StoreError) {
      for index in try rows.indexNames() { _ = try rows.indexedSequence(index) }
      if all, try storing(rows.hasStrayEntries) {
        throw .integrity("an entry of an index leads to no document")
      }
      if all, try storing(rows.damagedEntries) > 0 {
        throw .integrity("an entry of an index fails its checksum")
      }
    } catch {
      guard error.code == .integrity else { throw error }
      try storing(rows.dropIndexes)
      outcome.dropped += 1
    }
  }
}

extension StoreRows {
  /// The local documents, whatever they say, in whatever order.
  func localsAsFound() throws(SQLiteError) -> [RowValues] {
    try connection.statement("SELECT id, revision, expires, checksum, body FROM locals").all {
      row throws(SQLiteError) in Self.localAsFound(row)
    }
  }

  /// Some of them, by id.
  func localsAsFound(after id: [UInt8], limit: Int) throws(SQLiteError) -> [RowValues] {
    try connection.statement(
      """
      SELECT id, revision, expires, checksum, body FROM locals
      WHERE id > CAST(?1 AS TEXT) ORDER BY id LIMIT ?2
      """
    ).all(.bytes(id), .integer(limit)) { row throws(SQLiteError) in Self.localAsFound(row) }
  }

  private static func localAsFound(_ row: borrowing Row) -> RowValues {
    RowValues(
      kind: .local,
      values: [
        .text(row.bytes(0)), .integer(row.int64(1)),
        .optionalInteger(row.isNull(2) ? nil : row.int64(2)),
      ], content: row.bytes(4), checksum: row.int64(3))
  }

  /// Writes all local documents anew, in the right order.
  func replaceLocals(with locals: [RowValues]) throws(SQLiteError) {
    try connection.statement("DELETE FROM locals").run()
    for local in locals {
      var expires = Binding.null
      if case .optionalInteger(.some(let end)) = local.values[2] { expires = .integer(end) }
      try connection.statement(
        """
        INSERT OR REPLACE INTO locals(id, revision, expires, checksum, body)
        VALUES (CAST(?1 AS TEXT), ?2, ?3, ?4, ?5)
        """
      ).run(
        .bytes(local.bytes(0)), .integer(local.integer(1)), expires, .integer(local.checksum),
        .bytes(local.content))
    }
  }

  /// Whether an entry of a query index leads to no document.
  func hasStrayEntries() throws(SQLiteError) -> Bool {
    try connection.statement(
      "SELECT 1 FROM entries WHERE id NOT IN (SELECT id FROM documents) LIMIT 1"
    ).first { _ in true } ?? false
  }

  /// Removes all query indexes.
  func dropIndexes() throws(SQLiteError) {
    try connection.statement("DELETE FROM entries").run()
    try connection.statement("DELETE FROM indexes").run()
  }
}
