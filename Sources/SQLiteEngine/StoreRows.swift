import Documents
import SQLite
import StoreRecords
import Stores

/// The rows of one store's file, table by table: the SQL, and nothing of the rules.
///
/// Confined, as its connection is, to the actor that owns it.
final class StoreRows: StoreTables {
  /// The one connection to the file.
  let connection: Connection
  /// Counts of changes, as of what was written last, also in an open transaction.
  var counts = ChangeCounts()
  /// Documents as they were written last, also in an open transaction.
  var recent = RecentDocuments()
  /// What is known of the file's size.
  var fileSize = FileSize()

  /// Rows over a connection.
  init(_ connection: Connection) {
    self.connection = connection
  }

  /// A document has got another number; its first one, or none any more.
  func noteMove(from old: Int64?, to new: Int64?) { counts.move(from: old, to: new) }

  /// A document is now this one.
  func note(_ document: LoadedDocuments.Found, revisions: Int) {
    recent.replace(document, revisions: revisions)
  }

  /// A document is gone, or another.
  func forget(_ id: DocumentID) { recent.forget(id) }

  /// What was known of an open transaction holds no more.
  func forgetTransaction() {
    counts = ChangeCounts()
    recent = RecentDocuments()
  }
}

/// Walks over `documents` by id.
extension StoreRows {
  /// Walks the documents of a range, in its direction, until `visit` answers false.
  ///
  /// The far end is compared here rather than in SQL, so that one statement serves every range.
  func walk(
    _ range: DocumentRange, _ visit: (StoredDocument, [UInt8]) throws -> Bool
  ) throws {
    let statement = try range.descending ? descending : ascending
    // Text sorts before every blob, so an empty blob stands behind the last id.
    let last = range.end.map { Binding.text($0) } ?? .bytes([])
    let start = range.descending ? last : .text(range.start ?? "")
    try statement.bind(start, at: 1)
    try statement.bind(range.includesDeleted ? 1 : 0, at: 2)
    defer { statement.reset() }
    while try statement.step() {
      let found = StoredDocument.reading(statement.row)
      let row = try found.verified()
      guard range.reaches(row.id) else { return }
      guard range.includes(row.id) else { continue }
      guard try visit(row, found.content) else { return }
    }
  }

  /// Visits documents that changed after a number, with their bodies, in order, until `visit` answers false.
  /// - Throws: `integrity` for columns that were not written so.
  func walk(
    after sequence: Int64, limit: Int, _ visit: (StoredDocument, [UInt8]) throws -> Bool
  ) throws {
    let statement = try connection.statement(
      StoredDocument.selected,
      ", body FROM documents WHERE sequence > ?1 ORDER BY sequence LIMIT ?2")
    try statement.bind(sequence, at: 1)
    try statement.bind(Int64(limit), at: 2)
    defer { statement.reset() }
    while try statement.step() {
      let found = StoredDocument.reading(statement.row)
      guard try visit(try found.verified(), found.content) else { return }
    }
  }

  private var ascending: Statement {
    get throws {
      try connection.statement(
        StoredDocument.selected,
        ", body FROM documents WHERE id >= ?1 AND is_deleted <= ?2 ORDER BY id")
    }
  }

  private var descending: Statement {
    get throws {
      try connection.statement(
        StoredDocument.selected,
        ", body FROM documents WHERE id <= ?1 AND is_deleted <= ?2 ORDER BY id DESC")
    }
  }
}

extension DocumentRange {
  /// Whether the walk, in its direction, has not passed its far end at this id.
  fileprivate func reaches(_ id: DocumentID) -> Bool {
    if descending {
      guard let start else { return true }
      return !id.text.precedesBytes(of: start)
    }
    guard let end else { return true }
    return !end.precedesBytes(of: id.text)
  }

  /// Whether an id within the two ends is wanted.
  fileprivate func includes(_ id: DocumentID) -> Bool {
    guard !includesEnd, let end else { return true }
    return !id.text.equalsBytes(of: end)
  }
}
