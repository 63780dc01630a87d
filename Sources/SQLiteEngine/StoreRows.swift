import Documents
import SQLite
import Stores

/// The SQL for the rows of one store's file, table by table. It contains no rules.
///
/// Only the ``StoreFile`` that owns the connection uses it.
final class StoreRows: StoreTables {
  /// The one connection to the file.
  let connection: Connection
  /// The blank database, with the definitions of what the file may lack.
  let blank: BlankDatabase
  /// What the file has, including what the open transaction has made; nil when it is not known.
  var tables: Set<DeferredTable>?
  /// The cached counts of changes, including writes of the open transaction.
  var counts = ChangeCounts()

  /// Creates the rows of a connection's file.
  init(_ connection: Connection, as blank: BlankDatabase) {
    self.connection = connection
    self.blank = blank
  }

  /// Updates the cached counts after a document's sequence number changed.
  /// - Parameter old: nil for a new document.
  /// - Parameter new: nil for a document that was removed.
  func noteMove(from old: Int64?, to new: Int64?) { counts.move(from: old, to: new) }

  /// Empties the caches, because the open transaction is rolled back.
  func forgetTransaction() {
    tables = nil
    counts = ChangeCounts()
  }

  // MARK: Walks over `documents` by id

  /// Visits the documents of a range, in its direction, until `visit` returns false.
  ///
  /// Swift code, not SQL, compares the far end of the range, so that one statement serves every range.
  /// - Throws: `integrity` for a row that fails its checksum.
  func walk(_ range: DocumentRange, _ visit: (StoredDocument, [UInt8]) throws -> Bool) throws {
    // SQLite sorts text before every blob, so an empty blob sorts after the last id.
    let last = range.end.map { Binding.text($0) } ?? .bytes([])
    let start = range.descending ? last : .text(range.start ?? "")
    try connection.statement(
      StoredDocument.selected,
      range.descending
        ? ", body FROM documents WHERE id <= ?1 AND is_deleted <= ?2 ORDER BY id DESC"
        : ", body FROM documents WHERE id >= ?1 AND is_deleted <= ?2 ORDER BY id"
    ).visit(start, .integer(range.includesDeleted ? 1 : 0)) { row in
      let (row, body) = try StoredDocument.reading(row).withContent()
      guard range.reaches(row.id) else { return false }
      return try !range.includes(row.id) || visit(row, body)
    }
  }
}

extension DocumentRange {
  /// Whether an id is not beyond the far end of the range, in its direction.
  fileprivate func reaches(_ id: DocumentID) -> Bool {
    if descending {
      guard let start else { return true }
      return !id.text.precedesBytes(of: start)
    }
    guard let end else { return true }
    return !end.precedesBytes(of: id.text)
  }

  /// Whether an id is not the excluded end.
  fileprivate func includes(_ id: DocumentID) -> Bool {
    guard !includesEnd, let end else { return true }
    return !id.text.equalsBytes(of: end)
  }
}
