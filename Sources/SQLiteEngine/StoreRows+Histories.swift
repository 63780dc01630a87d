import Documents
import SQLite
import Stores

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

  func newestHistory(of id: DocumentID) throws -> (row: StoredDocument, newest: RevisionTree)? {
    try history(id).map { found in (found.row, try found.row.tree(found.content)) }
  }

  func replaceHistory(of row: StoredDocument, with tree: [UInt8]) throws {
    try connection.run(
      "UPDATE documents SET tree = ?1, tree_checksum = ?2, checksum = ?3 WHERE sequence = ?4",
      .bytes(tree), .integer(row.treeChecksum ?? 0), .integer(row.checksum.value),
      .integer(row.sequence))
  }

  /// All pieces, unverified, in no particular order.
  func piecesAsFound() throws -> [(first: Int64, stored: StoredPiece)] {
    guard try has(.histories) else { return [] }
    return try connection.statement("SELECT first, generation, checksum, revisions FROM histories")
      .all {
        row in
        (
          row.int64(0),
          StoredPiece(
            piece: HistoryPiece(generation: Int(row.int64(1)), bytes: row.bytes(3)),
            checksum: row.int64(2))
        )
      }
  }

  /// Replaces all pieces, which also restores the order of the rows in their table.
  func replacePieces(with pieces: [(first: Int64, stored: StoredPiece)]) throws {
    if try has(.histories) { try connection.run("DELETE FROM histories") }
    for piece in pieces { try insert(piece.stored, of: piece.first) }
  }
}
