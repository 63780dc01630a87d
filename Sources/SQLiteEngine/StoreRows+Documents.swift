import Documents
import SQLite
import StoreRecords

/// The table `documents`: one row for each document, with its last change.
extension StoreRows {
  /// A document's columns and its body; nil when no document has the id.
  /// - Throws: `integrity` for columns that fail their checksum.
  func document(_ id: DocumentID) throws -> (row: StoredDocument, body: [UInt8])? {
    let found = try connection.statement(
      StoredDocument.selected, ", body FROM documents WHERE id = ?1"
    ).first(.text(id.text)) { row in StoredDocument.reading(row) }
    guard let found else { return nil }
    return (try found.verified(), found.content)
  }

  /// A document's columns; nil when no document has the id.
  /// - Throws: `integrity` for columns that fail their checksum.
  func head(_ id: DocumentID) throws -> StoredDocument? {
    let found = try connection.statement(
      StoredDocument.selected, "FROM documents WHERE id = ?1"
    ).first(.text(id.text)) { row in StoredDocument.reading(row) }
    return try found?.verified()
  }

  /// A document with its body and its tree, as the writer needs it; nil when no document has the id.
  /// - Throws: `integrity` for columns that fail their checksum.
  func whole(_ id: DocumentID) throws -> LoadedDocuments.Found? {
    let found = try connection.statement(
      StoredDocument.selected, ", body, tree, arrival FROM documents WHERE id = ?1"
    ).first(.text(id.text)) { row in
      (document: StoredDocument.reading(row), tree: row.bytes(13), arrival: row.bytes(14))
    }
    guard let found else { return nil }
    let row = try found.document.verified()
    return LoadedDocuments.Found(
      row: row,
      body: StoredBody(
        bytes: found.document.content, checksum: row.bodyChecksum,
        arrival: StoredArrival(bytes: found.arrival)),
      encodedTree: found.tree)
  }

  /// A document's columns and its encoded tree; nil when no document has the id.
  /// - Throws: `integrity` for columns that fail their checksum.
  func history(_ id: DocumentID) throws -> (row: StoredDocument, tree: [UInt8])? {
    let found = try connection.statement(
      StoredDocument.selected, ", tree FROM documents WHERE id = ?1"
    ).first(.text(id.text)) { row in StoredDocument.reading(row) }
    guard let found else { return nil }
    return (try found.verified(), found.content)
  }

  /// The documents that changed after a sequence number, in order.
  func changes(after sequence: Int64, limit: Int) throws -> [StoredDocument] {
    try connection.statement(
      StoredDocument.selected, "FROM documents WHERE sequence > ?1 ORDER BY sequence LIMIT ?2"
    ).all(.integer(sequence), .integer(limit)) { row in StoredDocument.reading(row) }
      .map { row in try row.verified() }
  }

  /// The documents whose last change is at or before a sequence number, newest first.
  func changes(upTo sequence: Int64, limit: Int) throws -> [StoredDocument] {
    try connection.statement(
      StoredDocument.selected, "FROM documents WHERE sequence <= ?1 ORDER BY sequence DESC LIMIT ?2"
    ).all(.integer(sequence), .integer(limit)) { row in StoredDocument.reading(row) }
      .map { row in try row.verified() }
  }

  /// The live documents of one type that changed after a sequence number, in order.
  func changes(
    ofType type: String, after sequence: Int64, limit: Int
  ) throws -> [StoredDocument] {
    try connection.statement(
      StoredDocument.selected,
      "FROM documents WHERE type = ?1 AND is_deleted = 0 AND sequence > ?2 ORDER BY sequence LIMIT ?3"
    ).all(.text(type), .integer(sequence), .integer(limit)) { row in StoredDocument.reading(row) }
      .map { row in try row.verified() }
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
    try connection.statement(
      """
      INSERT INTO documents(
        sequence, id, first, generation, digest, is_deleted, type, created, updated,
        body_checksum, tree_checksum, checksum, body, tree, arrival)
      VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
      """
    ).run(
      .integer(row.sequence), .text(row.id.text), .integer(row.first),
      .integer(row.revision.generation), .text(row.revision.digest.text),
      .integer(row.isDeleted ? 1 : 0), .text(row.type), .integer(row.created),
      .integer(row.updated), .integer(row.bodyChecksum),
      row.treeChecksum.map { .integer($0) } ?? .null, .integer(row.checksum.value),
      .bytes(body.bytes), .bytes(tree), body.arrival.binding)
  }

  /// Removes a document's row.
  func remove(_ row: StoredDocument) throws {
    try connection.statement("DELETE FROM documents WHERE sequence = ?1")
      .run(.integer(row.sequence))
  }
}
