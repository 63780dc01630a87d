import Documents
import SQLite
import StoreRecords
import Stores

/// The table `histories`: old revisions of long histories, which edits neither read nor write.
extension StoreRows {
  /// The pieces of a document's history, the oldest first. Not verified.
  /// - Parameter first: the document's name among the pieces.
  func pieces(of first: Int64) throws -> [StoredPiece] {
    try connection.statement(
      """
      SELECT generation, checksum, revisions FROM histories WHERE first = ?1 ORDER BY generation
      """
    ).all(.integer(first)) { row in
      StoredPiece(
        piece: HistoryPiece(generation: Int(row.int64(0)), bytes: row.bytes(2)),
        checksum: row.int64(1))
    }
  }

  /// The whole history.
  /// - Parameter newest: what stands in the document's row.
  /// - Parameter stored: the pieces, where they have been read.
  /// - Throws: `integrity` for a piece that is missing, or not what was written.
  func whole(
    _ newest: RevisionTree, of row: StoredDocument, from stored: [StoredPiece]? = nil
  ) throws -> RevisionTree {
    guard newest.older > 0 else { return newest }
    let pieces = try (stored ?? pieces(of: row.first)).map { stored in
      guard Checksum.piece(row.id, stored.piece).matches(stored.checksum) else {
        throw ServiceError.integrity(
          "the history of change \(row.sequence) fails its checksum from generation "
            + "\(stored.piece.generation) on")
      }
      return stored.piece
    }
    do { return try newest.completed(by: pieces) } catch {
      throw ServiceError.integrity("a piece of the history of change \(row.sequence) is missing")
    }
  }

  /// Writes what is old of a history and not written yet, and removes what is forgotten.
  ///
  /// Of a tree without its old revisions, the pieces are as it says; those of a whole tree are compared.
  /// - Parameter old: the document as it was; nil for a new one.
  /// - Returns: what is to stand in the document's row.
  func writeHistory(
    _ tree: RevisionTree, of id: DocumentID, _ first: Int64, replacing old: LoadedDocuments.Found?
  ) throws -> RevisionTree {
    var newest = tree
    let pieces = newest.takePieces()
    let former = try old?.tree()
    guard let old, let former, former.older > 0 else {
      for piece in pieces { try insert(piece, of: id, first) }
      return newest
    }
    if tree.older == 0 {
      try replace(old.pieces(in: self), by: pieces, of: id, first)
      return newest
    }
    let start = HistoryPiece.start(of: newest.oldestGeneration)
    if start > former.oldestGeneration { try removePieces(of: first, below: start) }
    for piece in pieces { try insert(piece, of: id, first) }
    return newest
  }

  /// Leaves those pieces as they are that say the same; a first one may say more.
  private func replace(
    _ former: [StoredPiece], by pieces: [HistoryPiece], of id: DocumentID, _ first: Int64
  ) throws {
    let stored = Dictionary(
      former.map { ($0.piece.last, $0) }, uniquingKeysWith: { one, _ in one })
    var kept: Set<Int> = []
    var missing: [HistoryPiece] = []
    for piece in pieces {
      // Whoever has the whole tree has verified them.
      if let known = stored[piece.last]?.piece,
        known == piece || known.bytes.suffix(piece.bytes.count) == piece.bytes[...]
      {
        kept.insert(known.generation)
      } else {
        missing.append(piece)
      }
    }
    for known in former where !kept.contains(known.piece.generation) {
      try connection.statement("DELETE FROM histories WHERE first = ?1 AND generation = ?2")
        .run(.integer(first), .integer(known.piece.generation))
    }
    for piece in missing { try insert(piece, of: id, first) }
  }

  private func insert(_ piece: HistoryPiece, of id: DocumentID, _ first: Int64) throws {
    try insert(
      StoredPiece(piece: piece, checksum: Checksum.piece(id, piece).value), of: first)
  }

  /// Adds a piece, or puts it in the place of one that begins with the same generation.
  func insert(_ stored: StoredPiece, of first: Int64) throws {
    try connection.statement(
      """
      INSERT OR REPLACE INTO histories(first, generation, checksum, revisions)
      VALUES (?1, ?2, ?3, ?4)
      """
    ).run(
      .integer(first), .integer(stored.piece.generation), .integer(stored.checksum),
      .bytes(stored.piece.bytes))
  }

  func removeHistory(of first: Int64) throws { try removePieces(of: first, below: .max) }

  /// Removes pieces of a document that begin below a generation.
  func removePieces(of first: Int64, below generation: Int) throws {
    try connection.statement("DELETE FROM histories WHERE first = ?1 AND generation < ?2")
      .run(.integer(first), .integer(generation))
  }
}

extension LoadedDocuments.Found {
  /// The whole history.
  /// - Throws: `integrity` when some of it is not what was written.
  func whole(in rows: StoreRows) throws -> RevisionTree {
    if let wholeTree { return wholeTree }
    let newest = try tree()
    guard newest.older > 0 else { return newest }
    let whole = try rows.whole(newest, of: row, from: pieces(in: rows))
    wholeTree = whole
    return whole
  }

  /// The pieces of the history, not verified.
  func pieces(in rows: StoreRows) throws -> [StoredPiece] {
    if let knownPieces { return knownPieces }
    let pieces = try rows.pieces(of: row.first)
    knownPieces = pieces
    return pieces
  }
}
