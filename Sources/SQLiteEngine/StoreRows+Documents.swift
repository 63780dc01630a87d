import Documents
import SQLite
import Stores

/// The table `documents`: one row for each document, with its last change.
extension StoreRows {
  /// A document's columns and its body; nil when no document has the id.
  /// - Throws: `integrity` for columns that fail their checksum.
  func document(_ id: DocumentID) throws -> (row: StoredDocument, content: [UInt8])? {
    try connection.statement(
      StoredDocument.selected, ", body FROM documents WHERE id = ?1"
    ).first(.text(id.text)) { row in try StoredDocument.reading(row).withContent() }
  }

  /// A document's columns; nil when no document has the id.
  /// - Throws: `integrity` for columns that fail their checksum.
  func head(_ id: DocumentID) throws -> StoredDocument? {
    try connection.statement(
      StoredDocument.selected, "FROM documents WHERE id = ?1"
    ).first(.text(id.text)) { row in try StoredDocument.reading(row).verified() }
  }

  /// A document with its body and its tree, as the writer needs it; nil when no document has the id.
  /// - Throws: `integrity` for columns that fail their checksum.
  func whole(_ id: DocumentID) throws -> LoadedDocuments.Found? {
    try connection.statement(
      StoredDocument.selected, ", body, tree, arrival FROM documents WHERE id = ?1"
    ).first(.text(id.text)) { row in
      let (document, body) = try StoredDocument.reading(row).withContent()
      return LoadedDocuments.Found(
        row: document,
        body: StoredBody(
          bytes: body, checksum: document.bodyChecksum,
          arrival: StoredArrival(bytes: row.bytes(14))),
        encodedTree: row.bytes(13))
    }
  }

  /// A document's columns and its encoded tree; nil when no document has the id.
  /// - Throws: `integrity` for columns that fail their checksum.
  func history(_ id: DocumentID) throws -> (row: StoredDocument, content: [UInt8])? {
    try connection.statement(
      StoredDocument.selected, ", tree FROM documents WHERE id = ?1"
    ).first(.text(id.text)) { row in try StoredDocument.reading(row).withContent() }
  }

  /// Replaces a document's row. The new row has a new sequence number, so it is the last of the table.
  func put(
    _ row: StoredDocument, body: StoredBody, tree: [UInt8]?, replacing old: StoredDocument?
  ) throws {
    if let old { try remove(old) }
    try insert(row, body: body, tree: tree)
  }

  /// Inserts a document's row. The caller has removed the old one.
  func insert(_ row: StoredDocument, body: StoredBody, tree: [UInt8]?) throws {
    if row.isDeleted { try make(.documentsDeleted) }
    if row.sequence >= Self.typedSequence { try make(.documentsByType) }
    try connection.run(
      """
      INSERT INTO documents(
        sequence, id, first, generation, digest, is_deleted, type, created, updated,
        body_checksum, tree_checksum, checksum, body, tree, arrival)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
      """,
      .integer(row.sequence), .text(row.id.text), .integer(row.first),
      .integer(row.revision.generation), .text(row.revision.digest.text),
      .integer(row.isDeleted ? 1 : 0), .text(row.type), .integer(row.created),
      .integer(row.updated), .integer(row.bodyChecksum),
      row.treeChecksum.map { .integer($0) } ?? .null, .integer(row.checksum.value),
      .bytes(body.bytes), .bytes(tree), body.arrival.binding)
  }

  /// Removes a document's row.
  func remove(_ row: StoredDocument) throws {
    try connection.run("DELETE FROM documents WHERE sequence = ?1", .integer(row.sequence))
  }
}
