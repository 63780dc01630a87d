package import Documents

/// The tables of one store inside an open transaction, as the ``StoreWriter`` uses them. Each engine
/// implements it with its own SQL.
///
/// A read sees what was written before in the same transaction.
package protocol StoreTables {
  /// The body of a revision that is not the winner; nil when it is not stored. Not verified.
  /// - Parameter first: the document's key in the table of bodies.
  func body(of first: Int64, _ revision: RevisionID) throws -> StoredBody?
  /// The keys of a document's stored bodies below a generation, without the winner's. The bodies are not
  /// read.
  func bodies(of first: Int64, below generation: Int) throws -> [StoredBodyKey]
  /// Stores a body. The table must not have one of this revision.
  /// - Parameter former: the body whose row is reused; nil for a new row.
  /// - Returns: by how many bytes the table has grown.
  func insert(
    _ body: StoredBody, of first: Int64, _ revision: RevisionID, replacing former: StoredBodyKey?
  ) throws -> Int64
  /// Removes the body of a revision.
  /// - Returns: its number of bytes; 0 when it was not stored.
  func removeBody(of first: Int64, _ revision: RevisionID) throws -> Int64
  /// Removes a body by its key.
  /// - Parameter first: the document's key in the table of bodies.
  /// - Returns: its number of bytes.
  func removeBody(with key: StoredBodyKey, of first: Int64) throws -> Int64

  /// Replaces a document's row; `old` is nil for a new document.
  func put(
    _ row: StoredDocument, body: StoredBody, tree: [UInt8]?, replacing old: StoredDocument?
  ) throws
  /// The pieces of a document's history, the oldest first. Not verified.
  /// - Parameter first: the document's key in the table of bodies, as in the next functions.
  func pieces(of first: Int64) throws -> [StoredPiece]
  /// Stores a piece, or replaces the one that begins with the same generation.
  func insert(_ stored: StoredPiece, of first: Int64) throws
  /// Removes the piece of a document that begins with a generation.
  func removePiece(of first: Int64, at generation: Int) throws
  /// Removes the pieces of a document that begin below a generation.
  func removePieces(of first: Int64, below generation: Int) throws
  func remove(_ row: StoredDocument) throws
  /// The highest sequence number of a document, 0 when there is none.
  func newestSequence() throws -> Int64

  /// Removes some of the local documents that have expired at a moment.
  func removeExpiredLocals(at now: Timestamp) throws
  /// Writes or removes a local document.
  func apply(_ edit: LocalEdit) throws
  /// Changes an index, or removes it.
  func apply(_ edit: IndexEdit) throws
  func removeEntries(of id: DocumentID) throws

  /// Records that a document's sequence number has changed: nil `old` for a new document, nil `new` for a
  /// removed one.
  func noteMove(from old: Int64?, to new: Int64?)
  /// Records a document's new state, for the further rules of the same transaction.
  func note(_ document: LoadedDocuments.Found)
  /// Records that the known state of a document is no longer valid.
  func forget(_ id: DocumentID)
}

/// Tables that are read for each rule record nothing.
extension StoreTables {
  package func note(_ document: LoadedDocuments.Found) {}
  package func forget(_ id: DocumentID) {}
}
