import Documents
import SQLite
import StoreRecords

/// The table `histories`: the old revisions of long histories, in pieces.
extension StoreRows {
  func pieces(of first: Int64) throws -> [StoredPiece] {
    guard try has(.histories) else { return [] }
    return try connection.statement(
      """
      SELECT generation, checksum, revisions FROM histories WHERE first = ?1 ORDER BY generation
      """
    ).all(.integer(first)) { row in
      StoredPiece(
        piece: HistoryPiece(generation: Int(row.int64(0)), bytes: row.bytes(2)),
        checksum: row.int64(1))
    }
  }

  func insert(_ stored: StoredPiece, of first: Int64) throws {
    try make(.histories)
    try connection.run(
      """
      INSERT OR REPLACE INTO histories(first, generation, checksum, revisions)
      VALUES (?1, ?2, ?3, ?4)
      """,
      .integer(first), .integer(stored.piece.generation), .integer(stored.checksum),
      .bytes(stored.piece.bytes))
  }

  func removePiece(of first: Int64, at generation: Int) throws {
    guard try has(.histories) else { return }
    try connection.run(
      "DELETE FROM histories WHERE first = ?1 AND generation = ?2", .integer(first),
      .integer(generation))
  }

  func removePieces(of first: Int64, below generation: Int) throws {
    guard try has(.histories) else { return }
    try connection.run(
      "DELETE FROM histories WHERE first = ?1 AND generation < ?2", .integer(first),
      .integer(generation))
  }
}
