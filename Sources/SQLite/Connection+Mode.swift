import CSQLite

extension Connection {
  /// How a database file is opened. <https://sqlite.org/c3ref/open.html>
  package enum Mode: Sendable {
    /// Reads and writes a file that must exist.
    case readWrite
    /// Reads and writes; an absent file is made, empty.
    case readWriteCreate
    /// Reads only; the file must exist.
    case readOnly

    /// The flags of `sqlite3_open_v2` for this mode.
    var flags: Int32 {
      switch self {
      case .readWrite: SQLITE_OPEN_READWRITE
      case .readWriteCreate: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
      case .readOnly: SQLITE_OPEN_READONLY
      }
    }
  }
}
