import Documents
import Stores

extension StoredDocument {
  /// The columns before body and tree, for ``init(_:at:in:)``.
  static let columns = """
    d.sequence, d.id, d.first, d.generation, d.digest, d.is_deleted, d.type, d.created, d.updated,
    d.body_checksum, d.tree_checksum, d.checksum
    """
  /// The number of these columns.
  static let columnCount = 12

  /// Reads a row.
  /// - Parameter start: the index of its first column.
  /// - Throws: `integrity` when columns differ from what was written.
  init(_ row: Row, at start: Int = 0, in store: Int64) throws {
    let (id, digest, type) = (row.text(start + 1), row.text(start + 4), row.text(start + 6))
    self.init(
      sequence: row.integer(start), id: DocumentID(stored: id ?? ""),
      first: row.integer(start + 2),
      revision: RevisionID(
        generation: Int(row.integer(start + 3)), digest: digest ?? ""),
      isDeleted: row.flag(start + 5), type: type, created: row.integer(start + 7),
      updated: row.integer(start + 8), bodyChecksum: row.integer(start + 9),
      treeChecksum: row.optionalInteger(start + 10))
    guard checksum(in: store).matches(row.integer(start + 11)), id != nil, digest != nil,
      type != nil || row.isNull(start + 6)
    else { throw ServiceError.integrity("the row of change \(sequence) fails its checksum") }
  }

  /// The checksum of the columns and of the store's number, so that a row of another store is detected.
  func checksum(in store: Int64) -> Checksum {
    var checksum = checksum
    checksum.append(store)
    return checksum
  }
}

extension LoadedDocuments.Found {
  /// Reads a row, in which body, tree and arrival follow the columns.
  /// - Throws: `integrity`.
  convenience init(_ row: Row, at start: Int = 0, in store: Int64) throws {
    let document = try StoredDocument(row, at: start, in: store)
    let next = start + StoredDocument.columnCount
    self.init(
      row: document,
      body: StoredBody(
        bytes: row.bytes(next), checksum: document.bodyChecksum,
        arrival: StoredArrival(bytes: row.bytes(next + 2))),
      encodedTree: row.bytes(next + 1))
  }
}
