package import Documents

/// The old revisions of long histories, in pieces. Edits neither read nor write them.
extension StoreTables {
  /// Writes the old revisions of a history in pieces, and removes the pieces that the history no longer contains.
  ///
  /// If the tree comes without its stored old revisions, only new pieces are written and pruned ones are removed. A
  /// whole tree is compared with the stored pieces.
  /// - Parameter first: the sequence number of the document's first change, which identifies the document in the
  ///   table of pieces.
  /// - Parameter old: the document before the change; nil for a new one.
  /// - Returns: the newest revisions, which the document's row must hold.
  package func writeHistory(
    _ tree: RevisionTree, of id: DocumentID, _ first: Int64, replacing old: LoadedDocuments.Found?
  ) throws -> RevisionTree {
    var newest = tree
    let pieces = newest.takePieces()
    let former = try old?.tree()
    guard let old, let former, former.older > 0 else {
      for piece in pieces { try insert(StoredPiece(piece, of: id), of: first) }
      return newest
    }
    if tree.older == 0 {
      try replace(old.pieces(from: self.pieces), by: pieces, of: id, first)
      return newest
    }
    let start = HistoryPiece.start(of: newest.oldestGeneration)
    if start > former.oldestGeneration { try removePieces(of: first, below: start) }
    for piece in pieces { try insert(StoredPiece(piece, of: id), of: first) }
    return newest
  }

  /// Removes a document's revisions that are stored in pieces.
  package func removeHistory(of first: Int64) throws { try removePieces(of: first, below: .max) }

  /// Writes the pieces that differ from the stored ones and removes stored ones that the history no longer contains.
  ///
  /// A stored piece remains when it is equal, or when it ends with the bytes of the new piece: it then holds older
  /// revisions too.
  private func replace(
    _ former: [StoredPiece], by pieces: [HistoryPiece], of id: DocumentID, _ first: Int64
  ) throws {
    let stored = Dictionary(former.map { ($0.piece.last, $0) }, uniquingKeysWith: { one, _ in one })
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
      try removePiece(of: first, at: known.piece.generation)
    }
    for piece in missing { try insert(StoredPiece(piece, of: id), of: first) }
  }
}

extension StoredPiece {
  package init(_ piece: HistoryPiece, of id: DocumentID) {
    self.init(piece: piece, checksum: Checksum.piece(id, piece).value)
  }

  package func isSound(of id: DocumentID) -> Bool { Checksum.piece(id, piece).matches(checksum) }
}

extension StoredDocument {
  /// Returns a document's whole history.
  /// - Parameter newest: the newest revisions, from the document's row.
  /// - Parameter pieces: reads the stored pieces, the oldest first. It is called if there are any.
  /// - Throws: `integrity` for a piece that is missing or fails its checksum.
  package func whole(
    _ newest: RevisionTree, from pieces: () throws -> [StoredPiece]
  ) throws -> RevisionTree {
    guard newest.older > 0 else { return newest }
    let pieces = try pieces().map { stored in
      guard stored.isSound(of: id) else {
        throw ServiceError.integrity(
          "the history of change \(sequence) fails its checksum from generation "
            + "\(stored.piece.generation) on")
      }
      return stored.piece
    }
    do { return try newest.completed(by: pieces) } catch {
      throw ServiceError.integrity("a piece of the history of change \(sequence) is missing")
    }
  }
}

extension LoadedDocuments.Found {
  /// Returns the document's whole history, and keeps it for the next call.
  /// - Throws: `integrity` for a piece that is missing or fails its checksum.
  /// - Parameter read: reads the pieces of the document with this first change; see ``StoreTables/pieces(of:)``.
  package func whole(from read: (Int64) throws -> [StoredPiece]) throws -> RevisionTree {
    if let wholeTree { return wholeTree }
    let whole = try row.whole(tree()) { try pieces(from: read) }
    wholeTree = whole
    return whole
  }

  /// Returns the pieces of the history without verifying them, and keeps them for the next call.
  fileprivate func pieces(from read: (Int64) throws -> [StoredPiece]) throws -> [StoredPiece] {
    if let knownPieces { return knownPieces }
    let pieces = try read(row.first)
    knownPieces = pieces
    return pieces
  }
}

/// Old revisions of a document's history that are stored separately from its row.
package struct StoredPiece {
  package let piece: HistoryPiece
  /// The checksum of the piece; see ``Checksum/piece(_:_:)``.
  package let checksum: Int64

  package init(piece: HistoryPiece, checksum: Int64) {
    self.piece = piece
    self.checksum = checksum
  }
}
