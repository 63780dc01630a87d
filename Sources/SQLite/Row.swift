import CSQLite

/// The present row of a statement. It is valid only until the statement's next step, so don't keep it.
///
/// Columns are counted from 0. As in SQLite, `NULL` and a column that does not exist are read as 0, as an empty text
/// and as no bytes; ``isNull(_:)`` distinguishes them.
/// <https://sqlite.org/c3ref/column_blob.html>
package struct Row {
  /// The statement and not its handle, so that columns read as `NULL` after the connection is closed.
  private let statement: Statement

  init(_ statement: Statement) { self.statement = statement }

  /// Whether the column is `NULL`.
  package func isNull(_ column: Int32) -> Bool {
    sqlite3_column_type(statement.handle, column) == SQLITE_NULL
  }

  /// The column as a 64-bit integer.
  package func int64(_ column: Int32) -> Int64 { sqlite3_column_int64(statement.handle, column) }

  /// The column as text, NULs included.
  /// - Throws: `corrupt` when the bytes are not UTF-8. Only UTF-8 is ever bound, and a repaired string would be a
  ///   different key.
  package func string(_ column: Int32) throws(SQLiteError) -> String {
    // The text must be requested before its length, which depends on the encoding.
    guard let start = sqlite3_column_text(statement.handle, column) else { return "" }
    let count = Int(sqlite3_column_bytes(statement.handle, column))
    let bytes = UnsafeBufferPointer(start: start, count: count)
    // Most text is ASCII, which is always valid.
    if bytes.allSatisfy({ $0 < 0x80 }) { return String(decoding: bytes, as: UTF8.self) }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw SQLiteError(.corrupt, message: "text in column \(column) is not UTF-8")
    }
    return text
  }

  /// A copy of the column's bytes; for text, its UTF-8 bytes.
  package func bytes(_ column: Int32) -> [UInt8] { withBytes(column) { [UInt8]($0) } }

  /// Calls `body` with the column's bytes in SQLite's memory, without a copy. They are valid only during the call;
  /// `body` must not read the column as another type.
  @inlinable
  package func withBytes<R, E: Error>(
    _ column: Int32, _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R { try body(borrowedBytes(column)) }

  /// The column's bytes in SQLite's memory.
  @usableFromInline
  func borrowedBytes(_ column: Int32) -> UnsafeRawBufferPointer {
    // The bytes must be requested before their length, which depends on the requested type.
    let start = sqlite3_column_blob(statement.handle, column)
    let count = Int(sqlite3_column_bytes(statement.handle, column))
    return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count)
  }
}
