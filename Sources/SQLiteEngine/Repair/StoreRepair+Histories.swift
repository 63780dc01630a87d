import Documents
import SQLite
import StoreRecords
import Stores

/// Repairing pieces of histories, which contain only ids of old revisions. Losing such ids is like forgetting them
/// because of their age.
extension StoreRepair {
  /// Repairs the pieces of a document's history. Everything older than a piece that can't be repaired is removed.
  mutating func repairHistory(of id: DocumentID) throws {
    guard let found = try? rows.history(id), let newest = try? found.row.tree(found.tree),
      newest.older > 0
    else { return }
    var sound: [HistoryPiece] = []
    var hasRemoved = false
    for stored in try rows.pieces(of: found.row.first) {
      if stored.isSound(of: id) {
        sound.append(stored.piece)
      } else if let repaired = stored.repaired(of: id) {
        try rows.removePiece(of: found.row.first, at: stored.piece.generation)
        try rows.insert(repaired, of: found.row.first)
        sound.append(repaired.piece)
        outcome.repaired += 1
      } else if extent == .everything {
        try rows.removePiece(of: found.row.first, at: stored.piece.generation)
        hasRemoved = true
      }
    }
    sound.sort { $0.generation < $1.generation }
    guard (try? newest.completed(by: sound)) == nil else {
      // The removed piece was older than the history that is kept.
      if hasRemoved { outcome.repaired += 1 }
      return
    }
    guard extent == .everything else {
      outcome.left += 1
      return
    }
    try shorten(newest, of: found.row, to: sound)
    outcome.dropped += 1
  }

  /// Shortens a history to its newest generations without a gap.
  private func shorten(
    _ newest: RevisionTree, of row: StoredDocument, to pieces: [HistoryPiece]
  ) throws {
    var newest = newest
    let first = newest.oldestGeneration + newest.older
    var oldest = first
    for piece in pieces.reversed() where piece.last + 1 == oldest { oldest = piece.generation }
    newest.forgetOlder(to: first - oldest)
    try rows.removePieces(
      of: row.first, below: newest.older == 0 ? .max : newest.oldestGeneration)
    let tree = newest.encoded
    var row = row
    row.treeChecksum = Checksum.tree(row.id, row.revision, tree).value
    try rows.connection.statement(
      "UPDATE documents SET tree = ?1, tree_checksum = ?2, checksum = ?3 WHERE sequence = ?4"
    ).run(
      .bytes(tree), .integer(row.treeChecksum ?? 0), .integer(row.checksum.value),
      .integer(row.sequence))
  }
}

extension StoredPiece {
  /// The piece as it was written, if one byte of it is wrong; otherwise nil.
  func repaired(of id: DocumentID) -> StoredPiece? {
    let name = RowValues.Value.text(Array(id.text.utf8))
    let row = RowValues(
      kind: .history, values: [name, .integer(Int64(piece.generation))], content: piece.bytes,
      checksum: checksum)
    guard let repaired = row.repaired(), repaired.values[0] == name else { return nil }
    return StoredPiece(
      piece: HistoryPiece(generation: Int(repaired.integer(1)), bytes: repaired.content),
      checksum: repaired.checksum)
  }
}

extension StoreRows {
  /// All pieces, unverified, in no particular order.
  func piecesAsFound() throws -> [(first: Int64, stored: StoredPiece)] {
    try connection.statement("SELECT first, generation, checksum, revisions FROM histories").all {
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
    try connection.statement("DELETE FROM histories").run()
    for piece in pieces { try insert(piece.stored, of: piece.first) }
  }
}
