import CSQLite

/// Parameters, counted from 1. <https://sqlite.org/c3ref/bind_blob.html>
///
/// All throw `misuse` for a parameter that is not there and for a statement that is running, and
/// `tooBig` for a value beyond SQLite's limit of 1,000,000,000 bytes.
extension Statement {
  /// Binds a 64-bit integer.
  package func bind(_ value: Int64, at index: Int32) throws(SQLiteError) {
    try check(sqlite3_bind_int64(handle, index, value))
  }

  /// Binds an integer.
  package func bind(_ value: Int, at index: Int32) throws(SQLiteError) {
    try bind(Int64(value), at: index)
  }

  /// Binds a copy of the text's UTF-8 bytes, NULs included.
  package func bind(_ value: String, at index: Int32) throws(SQLiteError) {
    var text = value
    let result = text.withUTF8 { bytes in
      // Without a start SQLite would bind NULL; an empty text has a start that is never read.
      let start = bytes.baseAddress.map { UnsafeRawPointer($0) } ?? UnsafeRawPointer(bitPattern: 1)
      return sqlite3_bind_text64(
        handle, index, start?.assumingMemoryBound(to: CChar.self), UInt64(bytes.count),
        csqlite_transient(), UInt8(SQLITE_UTF8))
    }
    try check(result)
  }

  /// Binds a copy of the bytes.
  package func bind(_ value: [UInt8], at index: Int32) throws(SQLiteError) {
    let result = value.withUnsafeBytes { bindBytes($0, at: index, lifetime: csqlite_transient()) }
    try check(result)
  }

  /// Binds a copy of the bytes.
  package func bind(_ value: UnsafeRawBufferPointer, at index: Int32) throws(SQLiteError) {
    try check(bindBytes(value, at: index, lifetime: csqlite_transient()))
  }

  /// Binds `NULL`.
  package func bindNull(at index: Int32) throws(SQLiteError) {
    try check(sqlite3_bind_null(handle, index))
  }

  /// Binds a value of any kind.
  package func bind(_ value: Binding, at index: Int32) throws(SQLiteError) {
    switch value {
    case .integer(let integer): try bind(integer, at: index)
    case .text(let text): try bind(text, at: index)
    case .bytes(let bytes): try bind(bytes, at: index)
    case .null: try bindNull(at: index)
    }
  }

  /// Binds `bytes` without a copy while `body` runs, then resets the statement, so that SQLite
  /// keeps no pointer to them. Other parameters are bound inside `body` or before.
  package func withBound<R>(
    _ bytes: UnsafeRawBufferPointer, at index: Int32, _ body: () throws(SQLiteError) -> R
  ) throws(SQLiteError) -> R {
    try requireIdle()
    defer { reset() }
    // No destructor is SQLITE_STATIC: the bytes stay where they are until they are unbound.
    try check(bindBytes(bytes, at: index, lifetime: nil))
    return try body()
  }

  private func bindBytes(
    _ bytes: UnsafeRawBufferPointer, at index: Int32, lifetime: sqlite3_destructor_type?
  ) -> Int32 {
    guard let start = bytes.baseAddress, !bytes.isEmpty else {
      // A null pointer would bind NULL instead of no bytes.
      return sqlite3_bind_zeroblob(handle, index, 0)
    }
    return sqlite3_bind_blob64(handle, index, start, UInt64(bytes.count), lifetime)
  }

  private func check(_ result: Int32) throws(SQLiteError) {
    guard result == SQLITE_OK else { throw error(result) }
  }
}
