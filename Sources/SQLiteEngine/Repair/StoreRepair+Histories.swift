import Documents
import SQLite
import StoreRecords

/// Histories, as ``StoreRecords/DocumentRepair`` needs them.
extension StoreRows {
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
