import CSQLite
import Glibc

/// Why SQLite refused, or could not do, what it was asked.
///
/// Callers decide on ``code`` and on the questions below, never on text. Result codes: <https://sqlite.org/rescode.html>.
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

extension SQLiteError {
  /// Whether the file itself is bad, so that repeating the call cannot help.
  package var isDamage: Bool {
    switch code {
    case .corrupt, .notADatabase: true
    default: false
    }
  }

  /// Whether there is no room left to write.
  ///
  /// SQLite answers `SQLITE_FULL` for `ENOSPC` while it writes, but an I/O error for a used-up
  /// quota, for a file at the limit on its size and for the file of the shared log index; the
  /// `errno` says so.
  package var isStorageFull: Bool {
    switch code {
    case .full: true
    case .ioError, .cantOpen: [ENOSPC, EDQUOT, EFBIG].contains(systemErrno)
    default: false
    }
  }

  /// Whether the file may be sound but cannot be used now: locked, unreadable, out of
  /// descriptors or memory, or on storage that takes no writes. Full storage is not among these.
  package var isUnavailable: Bool {
    switch code {
    case .busy, .locked, .readOnly: true
    case .ioError, .cantOpen: !isStorageFull
    case .other: extendedCode & 0xff == SQLITE_NOMEM
    default: false
    }
  }
}

extension SQLiteError {
  /// The kinds of failure that callers tell apart.
  package enum Code: String, Sendable, CaseIterable {
    /// Another connection holds a lock on the file; the same call may succeed later.
    case busy
    /// Another statement of this connection stands in the way.
    case locked
    /// The disk, the quota or the page limit of the file is used up.
    case full
    /// The operating system failed to read, write or synchronise.
    case ioError
    /// The file is a database whose content is damaged.
    case corrupt
    /// The file is not a database.
    case notADatabase
    /// The file cannot be opened: absent, a symbolic link, forbidden, or out of descriptors.
    case cantOpen
    /// The file, its directory or its disk does not take writes.
    case readOnly
    /// A constraint of the schema refused the write.
    case constraint
    /// A value, or a row, is larger than SQLite's limit.
    case tooBig
    /// The statement was ended before its end; see ``Connection/bounded(until:or:_:)``.
    case interrupted
    /// The program called in a way it must not: a defect here, not in the data.
    case misuse
    /// Anything else, such as an error in the SQL itself.
    case other

    /// The kind of a primary or extended result code: the low eight bits are the primary one.
    init(resultCode: Int32) {
      switch resultCode & 0xff {
      // "Locking protocol" is the lost race to start a log: to a caller, a lock held elsewhere.
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

    /// A sentence for clients that names no path, table or value.
    package var reason: String {
      switch self {
      case .busy, .locked: "The database is busy."
      case .full: "The storage is full."
      case .ioError: "The storage could not be read or written."
      case .corrupt, .notADatabase: "The database is damaged."
      case .cantOpen: "The database cannot be opened."
      case .readOnly: "The storage does not take writes."
      case .constraint: "The database refused the change."
      case .tooBig: "The value is too large for the database."
      case .interrupted: "The database took too long to answer."
      case .misuse, .other: "The database could not answer."
      }
    }
  }
}
