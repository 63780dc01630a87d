import CSQLite

/// One prepared statement, kept and used again by its ``Connection``.
///
/// The scoped methods (``run(_:)``, ``first(_:row:)``, ``all(_:row:)``, ``query(_:row:)``) bind, step and always reset.
/// A caller of ``step()`` calls ``reset()`` in a `defer`: until an unfinished read is reset, checkpoints can't empty
/// the log. <https://sqlite.org/c3ref/stmt.html>
package final class Statement {
  /// SQLite's handle; nil once its connection is closed.
  ///
  /// Each column that is read would check for overlapping accesses at run time. There are none: a statement is confined
  /// to its connection's thread, and only ``finalize()`` and `init` write the handle.
  @exclusivity(unchecked)
  private(set) var handle: OpaquePointer?

  /// Prepares the one statement in `sql`, which ends with a NUL after `byteCount` bytes.
  init(
    preparing sql: UnsafePointer<CChar>, byteCount: Int, on database: OpaquePointer
  ) throws(SQLiteError) {
    guard let length = Int32(exactly: byteCount + 1) else {
      throw SQLiteError(.tooBig, message: "the SQL is too long")
    }
    var tail: UnsafePointer<CChar>?
    let result = sqlite3_prepare_v3(
      database, sql, length, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, &tail)
    guard result == SQLITE_OK else { throw SQLiteError(resultCode: result, database: database) }
    let rest = tail.map { UnsafeBufferPointer(start: $0, count: max(sql + byteCount - $0, 0)) }
    // SQLite would ignore everything after the first statement and never run it.
    guard handle != nil, rest?.allSatisfy({ Self.isBlank($0) }) ?? true else {
      finalize()
      throw SQLiteError(.misuse, message: "the SQL is not exactly one statement")
    }
  }

  deinit {
    // A statement that failed to prepare is finalised here; the connection finalises all others.
    sqlite3_finalize(handle)
  }

  /// Takes one step.
  /// - Returns: true for a row, false at the end.
  /// - Throws: any error of reading, writing or committing. Reset the statement afterwards.
  package func step() throws(SQLiteError) -> Bool {
    let result = sqlite3_step(handle)
    switch result {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default: throw error(result)
    }
  }

  /// The row of the latest step.
  package var row: Row { Row(self) }

  /// Makes the statement ready to run again, with all parameters `NULL`.
  package func reset() {
    guard let handle else { return }
    // The result repeats the error of the latest step, which `step()` has thrown.
    sqlite3_reset(handle)
    sqlite3_clear_bindings(handle)
  }

  /// Finalises the statement; its connection calls this before it closes.
  func finalize() {
    sqlite3_finalize(handle)
    handle = nil
  }

  /// The error of a failed call on this statement.
  func error(_ result: Int32) -> SQLiteError {
    guard let handle else {
      return SQLiteError(
        .misuse, extendedCode: result, message: "the statement's connection is closed")
    }
    return SQLiteError(resultCode: result, database: sqlite3_db_handle(handle))
  }

  private static func isBlank(_ character: CChar) -> Bool {
    switch UInt8(bitPattern: character) {
    case UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\t"), UInt8(ascii: "\r"),
      UInt8(ascii: ";"):
      true
    default: false
    }
  }

  // The scoped methods: each binds its values to parameters 1, 2, …, runs the statement, and resets it, also after an
  // error. Inside `row` the same statement can't be used again (`misuse`).
  //
  // They are inlinable so that the compiler specialises them for the caller's closure, which runs for each row.

  /// Runs the statement to its end and discards any rows.
  package func run(_ bindings: Binding...) throws(SQLiteError) {
    try start(bindings)
    defer { reset() }
    while try step() {}
  }

  /// Calls `row` for every row, in order.
  @inlinable
  package func query(_ bindings: Binding..., row: (Row) throws -> Void) throws {
    try start(bindings)
    defer { reset() }
    while try step() { try row(self.row) }
  }

  /// Calls `row` for the rows, in order, until it returns false.
  @inlinable
  package func visit(_ bindings: Binding..., row: (Row) throws -> Bool) throws {
    try start(bindings)
    defer { reset() }
    while try step(), try row(self.row) {}
  }

  /// The result of `row` for the first row; nil when there is none. Further rows are not computed.
  @inlinable
  package func first<R>(_ bindings: Binding..., row: (Row) throws -> R) throws -> R? {
    try start(bindings)
    defer { reset() }
    guard try step() else { return nil }
    return try row(self.row)
  }

  /// The results of `row` for all rows, in order.
  @inlinable
  package func all<R>(_ bindings: Binding..., row: (Row) throws -> R) throws -> [R] {
    try start(bindings)
    defer { reset() }
    var rows: [R] = []
    while try step() { rows.append(try row(self.row)) }
    return rows
  }

  /// Binds `bindings`. After an error the statement is reset.
  @usableFromInline
  func start(_ bindings: [Binding]) throws(SQLiteError) {
    try requireIdle()
    do {
      var index: Int32 = 0
      for binding in bindings {
        index &+= 1
        try bind(binding, at: index)
      }
    } catch {
      reset()
      throw error
    }
  }

  /// Throws `misuse` while the statement is between its first row and its reset: starting it again would invalidate the
  /// rows that another caller reads.
  func requireIdle() throws(SQLiteError) {
    guard sqlite3_stmt_busy(handle) == 0 else {
      throw SQLiteError(.misuse, message: "the statement is running already")
    }
  }

  // Binding of parameters, which are counted from 1. <https://sqlite.org/c3ref/bind_blob.html>
  //
  // All methods throw `misuse` for a parameter that does not exist and for a statement that is running, and `tooBig` for
  // a value beyond SQLite's limit of 1,000,000,000 bytes.

  /// Binds a 64-bit integer.
  package func bind(_ value: Int64, at index: Int32) throws(SQLiteError) {
    try check(sqlite3_bind_int64(handle, index, value))
  }

  /// Binds a copy of the text's UTF-8 bytes, NULs included.
  package func bind(_ value: String, at index: Int32) throws(SQLiteError) {
    var text = value
    let result = text.withUTF8 { bytes in
      // For a null pointer SQLite would bind NULL; the pointer of an empty text is never read.
      let start = bytes.baseAddress.map { UnsafeRawPointer($0) } ?? UnsafeRawPointer(bitPattern: 1)
      return sqlite3_bind_text64(
        handle, index, start?.assumingMemoryBound(to: CChar.self), UInt64(bytes.count),
        csqlite_transient(), UInt8(SQLITE_UTF8))
    }
    try check(result)
  }

  /// Binds a copy of the bytes.
  package func bind(_ value: [UInt8], at index: Int32) throws(SQLiteError) {
    let result = value.withUnsafeBytes { bytes in
      // SQLite would bind NULL for a null pointer, not an empty blob.
      bytes.isEmpty
        ? sqlite3_bind_zeroblob(handle, index, 0)
        : sqlite3_bind_blob64(
          handle, index, bytes.baseAddress, UInt64(bytes.count), csqlite_transient())
    }
    try check(result)
  }

  package func bindNull(at index: Int32) throws(SQLiteError) {
    try check(sqlite3_bind_null(handle, index))
  }

  /// Binds a value of any kind.
  package func bind(_ value: Binding, at index: Int32) throws(SQLiteError) {
    switch value {
    case .integer(let integer): try bind(integer, at: index)
    case .real(let real): try check(sqlite3_bind_double(handle, index, real))
    case .text(let text): try bind(text, at: index)
    case .bytes(let bytes): try bind(bytes, at: index)
    case .null: try bindNull(at: index)
    }
  }

  private func check(_ result: Int32) throws(SQLiteError) {
    guard result == SQLITE_OK else { throw error(result) }
  }
}

/// A value for a parameter of a statement, in the order of the parameters. SQLite copies it.
package enum Binding: Sendable {
  /// A 64-bit integer.
  case integer(Int64)
  /// A floating-point number of 64 bits.
  case real(Double)
  /// Text, stored as its UTF-8 bytes; NUL is a byte like any other.
  case text(String)
  /// Bytes; an empty array is an empty blob, not `NULL`.
  case bytes([UInt8])
  /// `NULL`.
  case null

  /// An `Int` as a 64-bit integer.
  package static func integer(_ value: Int) -> Binding { .integer(Int64(value)) }

  /// Text, or `NULL` for nil.
  package static func text(_ value: String?) -> Binding {
    guard let value else { return .null }
    return .text(value)
  }

  /// Bytes, or `NULL` for nil.
  package static func bytes(_ value: [UInt8]?) -> Binding {
    guard let value else { return .null }
    return .bytes(value)
  }
}
