import CSQLite

/// One prepared statement, kept and used again by its ``Connection``.
///
/// The scoped forms (``run(_:)``, ``first(_:row:)``, ``all(_:row:)``, ``query(_:row:)``) bind, step
/// and always reset. Whoever steps by hand calls ``reset()`` in a `defer`: an unfinished read holds
/// the log back from being checkpointed. <https://sqlite.org/c3ref/stmt.html>
package final class Statement {
  /// SQLite's handle; nil once its connection is closed.
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
    // SQLite would leave whatever follows the first statement unread, and so never run it.
    guard handle != nil, rest?.allSatisfy({ Self.isBlank($0) }) ?? true else {
      finalize()
      throw SQLiteError(.misuse, message: "the SQL is not exactly one statement")
    }
  }

  deinit {
    // Only a failed preparation leaves a statement to its deinit; its connection ends the others.
    sqlite3_finalize(handle)
  }

  /// Takes one step: true on a row, false at the end.
  /// - Throws: whatever reading, writing or committing can fail with. Reset afterwards.
  package func step() throws(SQLiteError) -> Bool {
    let result = sqlite3_step(handle)
    switch result {
    case SQLITE_ROW: return true
    case SQLITE_DONE: return false
    default: throw error(result)
    }
  }

  /// The row the latest step reached.
  package var row: Row { Row(self) }

  /// Makes the statement ready to run again, with all parameters `NULL`.
  package func reset() {
    guard let handle else { return }
    // The result repeats the error of the step before, which that step has thrown.
    sqlite3_reset(handle)
    sqlite3_clear_bindings(handle)
  }

  /// Ends the statement for good; its connection calls this before it closes.
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
}
