import Documents
import SQLite
import StoreRecords
import Stores

/// The table `histories`: the old revisions of long histories, in pieces. Edits neither read nor write them.
extension StoreRows {
  /// The pieces of a document's history, the oldest first. Their checksums are not verified.
  /// - Parameter first: the sequence number of the document's first change, which identifies the document in this
  ///   table.
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

  /// Returns a document's whole history.
  /// - Parameter newest: the newest revisions, from the document's row.
  /// - Parameter stored: the pieces, if they have been read already.
  /// - Throws: `integrity` for a piece that is missing or fails its checksum.
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

  /// Writes the old revisions of a history in pieces, and removes the pieces that the history no longer contains.
  ///
  /// If the tree comes without its stored old revisions, only new pieces are written and pruned ones are removed. A
  /// whole tree is compared with the stored pieces.
  /// - Parameter old: the document before the change; nil for a new one.
  /// - Returns: the newest revisions, which the document's row must hold.
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

  /// Writes the pieces that differ from the stored ones and removes stored ones that the history no longer contains.
  ///
  /// A stored piece remains when it is equal, or when it ends with the bytes of the new piece: it then holds older
  /// revisions too.
  private func replace(
    _ former: [StoredPiece], by pieces: [HistoryPiece], of id: DocumentID, _ first: Int64
  ) throws {
    let stored = Dictionary(
      former.map { ($0.piece.last, $0) }, uniquingKeysWith: { one, _ in one })
    var kept: Set<Int> = []
    var missing: [HistoryPiece] = []
    for piece in pieces {
      // The pieces were verified when the whole tree was read.
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

  /// Inserts a piece, or replaces the one that begins with the same generation.
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

  /// Removes the pieces of a document that begin below a generation.
  func removePieces(of first: Int64, below generation: Int) throws {
    try connection.statement("DELETE FROM histories WHERE first = ?1 AND generation < ?2")
      .run(.integer(first), .integer(generation))
  }
}

extension LoadedDocuments.Found {
  /// Returns the document's whole history, and keeps it for the next call.
  /// - Throws: `integrity` for a piece that is missing or fails its checksum.
  func whole(in rows: StoreRows) throws -> RevisionTree {
    if let wholeTree { return wholeTree }
    let newest = try tree()
    guard newest.older > 0 else { return newest }
    let whole = try rows.whole(newest, of: row, from: pieces(in: rows))
    wholeTree = whole
    return whole
  }

  /// Returns the pieces of the history without verifying them, and keeps them for the next call.
  func pieces(in rows: StoreRows) throws -> [StoredPiece] {
    if let knownPieces { return knownPieces }
    let pieces = try rows.pieces(of: row.first)
    knownPieces = pieces
    return pieces
  }
}
