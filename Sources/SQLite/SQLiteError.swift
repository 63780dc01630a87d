import CSQLite
import Glibc

/// Why SQLite refused a call or failed.
///
/// Callers decide by ``code`` and by the properties below, never by text. Result codes:
/// <https://sqlite.org/rescode.html>.
package struct SQLiteError: Error, Sendable {
  /// The kind of error: one case for each kind that callers treat differently.
  package let code: Code
  /// SQLite's extended result code, for logs. <https://sqlite.org/rescode.html#extrc>
  package let extendedCode: Int32
  /// The operating system's `errno` behind ``Code/ioError`` and ``Code/cantOpen``; 0 if unknown.
  ///
  /// It distinguishes a missing file (`ENOENT`) from too many open files (`EMFILE`), which SQLite reports with the same
  /// code. <https://sqlite.org/c3ref/system_errno.html>
  package let systemErrno: Int32
  /// SQLite's message. It may contain the name of a table or a column: for logs, never for clients.
  package let message: String

  /// Makes an error of this layer, such as the use of a closed connection.
  package init(_ code: Code, extendedCode: Int32 = 0, systemErrno: Int32 = 0, message: String) {
    self.code = code
    self.extendedCode = extendedCode
    self.systemErrno = systemErrno
    self.message = message
  }

  /// Makes the error of a failed call from its result code and its connection.
  init(resultCode: Int32, database: OpaquePointer?) {
    code = Code(resultCode: resultCode)
    extendedCode = resultCode
    // The connection's message belongs to its latest error, which may be another one.
    if let database, sqlite3_extended_errcode(database) == resultCode,
      let text = sqlite3_errmsg(database)
    {
      message = String(cString: text)
    } else {
      message = sqlite3_errstr(resultCode).map { String(cString: $0) } ?? "unknown result code"
    }
    switch code {
    case .ioError, .cantOpen, .full: systemErrno = database.map { sqlite3_system_errno($0) } ?? 0
    default: systemErrno = 0
    }
  }
}

extension SQLiteError: CustomDebugStringConvertible {
  /// All that is known, for logs.
  package var debugDescription: String {
    "SQLiteError.\(code.rawValue) (result \(extendedCode), errno \(systemErrno)): \(message)"
  }
}

extension SQLiteError {
  /// Whether the file itself is damaged, so that repeating the call can't help.
  package var isDamage: Bool {
    switch code {
    case .corrupt, .notADatabase: true
    default: false
    }
  }

  /// Whether there is no space left to write.
  ///
  /// SQLite returns `SQLITE_FULL` for `ENOSPC` while it writes, but an I/O error for an exceeded quota, for a file at
  /// its size limit and for the file of the shared log index; the `errno` then shows the reason.
  package var isStorageFull: Bool {
    switch code {
    case .full: true
    case .ioError, .cantOpen: [ENOSPC, EDQUOT, EFBIG].contains(systemErrno)
    default: false
    }
  }

  /// Whether the file may be undamaged but can't be used now: locked, unreadable, out of descriptors or memory, or on
  /// storage that takes no writes. Full storage does not count.
  package var isUnavailable: Bool {
    switch code {
    case .busy, .locked, .readOnly: true
    case .ioError, .cantOpen: !isStorageFull
    case .other: extendedCode & 0xff == SQLITE_NOMEM
    default: false
    }
  }

  /// The kinds of failure that callers tell apart.
  package enum Code: String, Sendable, CaseIterable {
    /// Another connection holds a lock on the file; the same call may succeed later.
    case busy
    /// Another statement of this connection prevents the call.
    case locked
    /// The disk, the quota or the page limit of the file is exhausted.
    case full
    /// The operating system failed to read, write or synchronise.
    case ioError
    /// The file is a database whose content is damaged.
    case corrupt
    /// The file is not a database.
    case notADatabase
    /// The file can't be opened: absent, a symbolic link, no permission, or out of descriptors.
    case cantOpen
    /// The file, its directory or its disk does not take writes.
    case readOnly
    /// A constraint of the schema refused the write.
    case constraint
    /// A value, or a row, is larger than SQLite's limit.
    case tooBig
    /// The statement was interrupted; see ``Connection/bounded(until:or:_:)``.
    case interrupted
    /// The program called in a way that is not allowed: a defect of the program, not of the data.
    case misuse
    /// Anything else, such as an error in the SQL itself.
    case other

    /// The kind of a primary or extended result code; the low eight bits are the primary code.
    init(resultCode: Int32) {
      switch resultCode & 0xff {
      // "Locking protocol" means a lost race to start a log; for a caller this is a lock of another connection.
      case SQLITE_BUSY, SQLITE_PROTOCOL: self = .busy
      case SQLITE_LOCKED: self = .locked
      case SQLITE_FULL: self = .full
      case SQLITE_IOERR: self = .ioError
      case SQLITE_CORRUPT: self = .corrupt
      case SQLITE_NOTADB: self = .notADatabase
      case SQLITE_CANTOPEN, SQLITE_PERM: self = .cantOpen
      case SQLITE_READONLY: self = .readOnly
      case SQLITE_CONSTRAINT: self = .constraint
      case SQLITE_TOOBIG: self = .tooBig
      case SQLITE_INTERRUPT: self = .interrupted
      case SQLITE_MISUSE, SQLITE_RANGE: self = .misuse
      default: self = .other
      }
    }
  }
}
