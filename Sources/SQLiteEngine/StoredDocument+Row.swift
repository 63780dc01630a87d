import Documents
import SQLite
import Stores

extension StoredDocument {
  /// A row's columns, and whether they match their checksum.
  struct Unverified {
    fileprivate let row: StoredDocument
    fileprivate let isSound: Bool
    /// The column after the common ones: body or tree; empty when the statement selected none.
    let content: [UInt8]

    /// Returns the columns.
    /// - Throws: `integrity` when they do not match their checksum.
    func verified() throws -> StoredDocument {
      guard isSound else {
        throw ServiceError.integrity("the row of change \(row.sequence) fails its checksum")
      }
      return row
    }

    /// Returns the columns and ``content``.
    /// - Throws: `integrity` when the columns do not match their checksum.
    func withContent() throws -> (row: StoredDocument, content: [UInt8]) {
      (try verified(), content)
    }
  }

  /// The beginning of a statement that selects rows for ``reading(_:)``. The columns `body`, `tree` or both may follow.
  static var selected: StaticString {
    """
    SELECT sequence, id, first, generation, digest, is_deleted, type, created, updated,
      body_checksum, tree_checksum, checksum
    """
  }

  /// Reads a row with the columns of ``selected`` and, if selected, the one after them.
  static func reading(_ row: borrowing Row) -> Unverified {
    let flag = row.int64(5)
    // Text that is not valid UTF-8 is damage of this row.
    let id = try? row.string(1)
    let digest = row.withBytes(4) { RevisionDigest(text: $0) }
    let type = row.isNull(6) ? nil : try? row.string(6)
    let document = StoredDocument(
      sequence: row.int64(0), id: DocumentID(stored: id ?? ""), first: row.int64(2),
      revision: RevisionID(generation: Int(row.int64(3)), digest: digest ?? .word("")),
      isDeleted: flag != 0, type: type, created: row.int64(7),
      updated: row.int64(8), bodyChecksum: row.int64(9),
      treeChecksum: row.isNull(10) ? nil : row.int64(10))
    let isSound =
      document.checksum.matches(row.int64(11)) && (flag == 0 || flag == 1) && id != nil
      && digest != nil && (type != nil || row.isNull(6))
    return Unverified(row: document, isSound: isSound, content: row.bytes(12))
  }
}
