import CSQLite

/// Why SQLite refused, or could not do, what it was asked.
///
/// Callers decide on ``code`` and on the questions in `SQLiteError+Classification.swift`, never on
/// text. Result codes: <https://sqlite.org/rescode.html>.
package struct SQLiteError: Error, Sendable {
  /// What went wrong: one case per kind of answer that a caller treats differently.
  package let code: Code
  /// SQLite's extended result code, for logs. <https://sqlite.org/rescode.html#extrc>
  package let extendedCode: Int32
  /// The operating system's `errno` behind ``Code/ioError`` and ``Code/cantOpen``; 0 if unknown.
  ///
  /// It tells a missing file (`ENOENT`) from too many open files (`EMFILE`), which SQLite reports
  /// with one and the same code. <https://sqlite.org/c3ref/system_errno.html>
  package let systemErrno: Int32
  /// SQLite's own words. They may name a table or a column: for logs, never for clients.
  package let message: String

  /// Makes an error of this layer's own, such as the misuse of a closed connection.
  package init(_ code: Code, extendedCode: Int32 = 0, systemErrno: Int32 = 0, message: String) {
    self.code = code
    self.extendedCode = extendedCode
    self.systemErrno = systemErrno
    self.message = message
  }

  /// Makes the error of a failed call from its result code and the connection it failed on.
  init(resultCode: Int32, database: OpaquePointer?) {
    code = Code(resultCode: resultCode)
    extendedCode = resultCode
    // The connection keeps the text of its latest failure, which may not be this one.
    if let database, sqlite3_extended_errcode(database) == resultCode,
      let text = sqlite3_errmsg(database)
    {
      message = String(cString: text)
    } else {
      message = sqlite3_errstr(resultCode).map { String(cString: $0) } ?? "unknown result code"
    }
    switch code {
    case .ioError, .cantOpen, .full:
      systemErrno = database.map { sqlite3_system_errno($0) } ?? 0
    default:
      systemErrno = 0
    }
  }
}

extension SQLiteError: CustomDebugStringConvertible {
  /// A sentence that is safe to show to a client: it depends on ``code`` alone.
  package var reason: String { code.reason }

  /// Everything known, for logs.
  package var debugDescription: String {
    "SQLiteError.\(code.rawValue) (result \(extendedCode), errno \(systemErrno)): \(message)"
  }
}
