import CSQLite

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
