import SQLite
import Stores

/// Repairing rows that do not belong to documents.
extension DocumentRepair where Rows == StoreRows {
  /// Checks some local documents after an id.
  /// - Returns: whether one of them is damaged, and the id of the last one that was checked; nil at the end.
  func damagedLocals(after id: [UInt8]) throws -> (isDamaged: Bool, last: [UInt8]?) {
    let piece = try rows.localsAsFound(after: id, limit: Self.localsAtOnce)
    let isDamaged = piece.contains { !$0.isSound }
    return (isDamaged, piece.count == Self.localsAtOnce ? piece.last?.bytes(0) : nil)
  }

  /// Repairs local documents and removes those that can't be repaired. Without its checkpoint, a client compares all
  /// documents once more; without its receipt, a batch runs again; an attachment without one of its pieces is forgotten then
  /// (`DocumentStore.repair`).
  mutating func repairLocals() throws {
    var sum = outcome
    let mayDrop = extent == .everything
    try rows.replaceLocals { local in
      if local.isSound { return local }
      if let repaired = local.repaired() {
        sum.repaired += 1
        return repaired
      }
      if mayDrop { sum.dropped += 1 } else { sum.left += 1 }
      return mayDrop ? nil : local
    }
    outcome = sum
    if mayDrop { try notePurges() }
  }

  /// Counts one more purge; see ``notePurges(after:)``.
  func notePurges() throws { try notePurges(after: try rows.local(.purgeCount, at: now)?.revision) }

  /// Removes all query indexes if one of them is damaged. Queries build them again.
  /// - Parameter all: whether to check the entries of the indexes, too, which takes about 50 ms for each 10,000
  ///   entries.
  mutating func repairIndexes(all: Bool) throws {
    do {
      for index in try rows.indexNames() { _ = try rows.indexedSequence(index) }
      if all, try rows.hasStrayEntries() {
        throw ServiceError.integrity("an entry of an index leads to no document")
      }
      if all, try rows.damagedEntries() > 0 {
        throw ServiceError.integrity("an entry of an index fails its checksum")
      }
    } catch {
      guard ServiceError(engine: error).code == .integrity else { throw error }
      try rows.dropIndexes()
      outcome.dropped += 1
    }
  }
}

extension DocumentRepair where Rows == StoreRows {
  /// Writes the header's row again when it is damaged. It was repaired in memory when the file was opened.
  mutating func repairHeader() throws {
    do { _ = try StoreHeader(readingFrom: rows.connection) } catch {
      guard ServiceError(engine: error).code == .damaged else { throw error }
      outcome.repaired += 1
    }
  }
}

extension StoreRows {
  /// Some local documents, unverified: those after an id, in the order of their ids.
  func localsAsFound(after id: [UInt8], limit: Int) throws -> [RowValues] {
    guard try has(.locals) else { return [] }
    return try connection.statement(
      """
      SELECT id, revision, expires, checksum, body FROM locals
      WHERE id > CAST(?1 AS TEXT) ORDER BY id LIMIT ?2
      """
    ).all(.bytes(id), .integer(limit)) { row in Self.localAsFound(row) }
  }

  private static func localAsFound(_ row: borrowing Row) -> RowValues {
    RowValues(
      kind: .local,
      values: [
        .text(row.bytes(0)), .integer(row.int64(1)),
        .optionalInteger(row.isNull(2) ? nil : row.int64(2)),
      ], content: row.bytes(4), checksum: row.int64(3))
  }

  /// Replaces all local documents, which also restores the order of the rows in their table. They are more than fit in
  /// memory, because attachments are among them, so they are copied to another table and back.
  /// - Parameter change: returns what takes a row's place; nil for nothing.
  func replaceLocals(by change: (RowValues) throws -> RowValues?) throws {
    guard try has(.locals) else { return }
    try connection.execute(
      """
      CREATE TABLE kept(
        id BLOB NOT NULL, revision INTEGER NOT NULL, expires INTEGER, checksum INTEGER NOT NULL,
        body BLOB NOT NULL)
      """)
    try connection.statement("SELECT id, revision, expires, checksum, body FROM locals").query {
      row in
      guard let local = try change(Self.localAsFound(row)) else { return }
      var expires = Binding.null
      if case .optionalInteger(.some(let end)) = local.values[2] { expires = .integer(end) }
      try connection.run(
        "INSERT INTO kept(id, revision, expires, checksum, body) VALUES (?1, ?2, ?3, ?4, ?5)",
        .bytes(local.bytes(0)), .integer(local.integer(1)), expires, .integer(local.checksum),
        .bytes(local.content))
    }
    try connection.execute(
      """
      DELETE FROM locals;
      INSERT OR REPLACE INTO locals(id, revision, expires, checksum, body)
        SELECT CAST(id AS TEXT), revision, expires, checksum, body FROM kept;
      DROP TABLE kept;
      """)
  }

  /// Whether an entry of a query index refers to a document that does not exist.
  func hasStrayEntries() throws -> Bool {
    guard try has(.entries) else { return false }
    return try connection.statement(
      "SELECT 1 FROM entries WHERE id NOT IN (SELECT id FROM documents) LIMIT 1"
    ).first { _ in true } ?? false
  }

  /// Removes all query indexes.
  func dropIndexes() throws {
    guard try has(.indexes) else { return }
    try connection.run("DELETE FROM entries")
    try connection.run("DELETE FROM indexes")
  }
}
