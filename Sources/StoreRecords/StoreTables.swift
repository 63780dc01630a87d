package import Documents
package import Stores

/// The tables of one store inside an open transaction, as the ``StoreWriter`` uses them. An engine fills it with its SQL.
///
/// What is written is seen by whoever reads afterwards in the same transaction.
package protocol StoreTables {
  /// What a revision says that is not the winner; nil when it is not stored. Not verified.
  /// - Parameter first: the document's name among the bodies.
  func body(of first: Int64, _ revision: RevisionID) throws -> StoredBody?
  /// The stored bodies of a document below a generation, but for the winner's; none is read.
  func bodies(of first: Int64, below generation: Int) throws -> [BodyPlace]
  /// Stores what a revision says.
  /// - Parameter place: the row of a body that goes; nil for a row of its own.
  /// - Returns: by how many bytes the table has grown.
  func insert(
    _ body: StoredBody, of first: Int64, _ revision: RevisionID, insteadOf place: BodyPlace?
  ) throws -> Int64
  /// Removes what a revision says.
  /// - Returns: how many bytes that was; 0 where nothing was stored.
  func removeBody(of first: Int64, _ revision: RevisionID) throws -> Int64
  /// Removes a body.
  /// - Parameter first: the document's name among the bodies.
  /// - Returns: how many bytes that was.
  func removeBody(at place: BodyPlace, of first: Int64) throws -> Int64

  /// Puts a document's row in the place of its old one; nil for a document that is new.
  func put(
    _ row: StoredDocument, body: StoredBody, tree: [UInt8]?, replacing old: StoredDocument?
  ) throws
  /// Writes the old revisions of a history apart from the document's row, and removes those that are forgotten. An
  /// engine that stores histories as a whole does nothing.
  /// - Parameter first: the document's name among the bodies.
  /// - Parameter old: the document as it was; nil for a new one.
  /// - Returns: the history that the document's row has to hold.
  func writeHistory(
    _ tree: RevisionTree, of id: DocumentID, _ first: Int64, replacing old: LoadedDocuments.Found?
  ) throws -> RevisionTree
  /// Removes the revisions of a document that are stored apart.
  func removeHistory(of first: Int64) throws
  /// Removes a document's row.
  func remove(_ row: StoredDocument) throws
  /// The number of the last document, 0 for none.
  func newestSequence() throws -> Int64

  /// Removes some of the local documents that have expired at a moment.
  func removeExpiredLocals(at now: Timestamp) throws
  /// Writes or removes a local document.
  func apply(_ edit: LocalEdit) throws
  /// Writes into an index, or removes it.
  func apply(_ edit: IndexEdit) throws
  /// Forgets a document in every index.
  func removeEntries(of id: DocumentID) throws

  /// A document has got another number; its first one, or none any more.
  func noteMove(from old: Int64?, to new: Int64?)
  /// A document is now this one, of so many revisions.
  func note(_ document: LoadedDocuments.Found, revisions: Int)
  /// A document is gone, or another.
  func forget(_ id: DocumentID)
}

extension StoreTables {
  package func writeHistory(
    _ tree: RevisionTree, of id: DocumentID, _ first: Int64, replacing old: LoadedDocuments.Found?
  ) throws -> RevisionTree { tree }
  package func removeHistory(of first: Int64) throws {}
}
