import CSQLite

/// The row a statement stands on: valid until the statement takes another step, so not to be kept.
///
/// Columns count from 0. As in SQLite, `NULL` and a column that is not there read as 0, as no text
/// and as no bytes: ask ``isNull(_:)`` where that matters.
/// <https://sqlite.org/c3ref/column_blob.html>
package struct Row {
  /// Kept, not its bare handle, so that a closed connection can only make columns `NULL`.
  private let statement: Statement

  init(_ statement: Statement) {
    self.statement = statement
  }

  /// Whether the column is `NULL`.
  package func isNull(_ column: Int32) -> Bool {
    sqlite3_column_type(statement.handle, column) == SQLITE_NULL
  }

  /// The column as a 64-bit integer.
  package func int64(_ column: Int32) -> Int64 {
    sqlite3_column_int64(statement.handle, column)
  }

  /// The column as text, NULs included.
  /// - Throws: `corrupt` if the bytes are not UTF-8, since only UTF-8 is ever bound: a repaired
  ///   string would be another key.
  package func string(_ column: Int32) throws(SQLiteError) -> String {
    // The text is asked for before its length, which depends on the encoding.
    guard let start = sqlite3_column_text(statement.handle, column) else { return "" }
    let count = Int(sqlite3_column_bytes(statement.handle, column))
    let bytes = UnsafeBufferPointer(start: start, count: count)
    // Nearly all text is ASCII, where nothing can be wrong.
    if bytes.allSatisfy({ $0 < 0x80 }) { return String(decoding: bytes, as: UTF8.self) }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw SQLiteError(.corrupt, message: "text in column \(column) is not UTF-8")
    }
    return text
  }

  /// The column's bytes, copied once; of text, its UTF-8 bytes.
  package func bytes(_ column: Int32) -> [UInt8] {
    withBytes(column) { [UInt8]($0) }
  }

  /// Calls `body` with the column's bytes where SQLite holds them, without a copy. They are valid
  /// only during the call, in which the column may not be read as another type.
  @inlinable
  package func withBytes<R, E: Error>(
    _ column: Int32, _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    try body(borrowedBytes(column))
  }

  /// The column's bytes in SQLite's memory.
  @usableFromInline
  func borrowedBytes(_ column: Int32) -> UnsafeRawBufferPointer {
    // The bytes are asked for before their length, which depends on the type asked for.
    let start = sqlite3_column_blob(statement.handle, column)
    let count = Int(sqlite3_column_bytes(statement.handle, column))
    return UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count)
  }
}
