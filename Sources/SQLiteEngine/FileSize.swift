import SQLite

/// The size of a store's file, which SQLite is asked for only where it matters: it prepares a pragma anew at each use,
/// which takes some microseconds.
struct FileSize {
  /// What was counted last, and how many pages the connection had written by then; each since may be a new one.
  private var counted: (bytes: Int64, pageBytes: Int64, writtenPages: Int64)?

  /// Whether the pages in use hold more bytes than `limit`; free ones are counted only in a file of that size.
  mutating func exceeds(_ limit: Int64, in connection: Connection) throws(SQLiteError) -> Bool {
    let written = try connection.writtenPages()
    if let counted, counted.writtenPages <= written {
      let new = (written - counted.writtenPages) * counted.pageBytes
      if counted.bytes + new <= limit { return false }
    }
    let pageBytes = try connection.pageSize()
    let bytes = try connection.pageCount() * pageBytes
    counted = (bytes, pageBytes, written)
    guard bytes > limit else { return false }
    return try bytes - connection.freePageCount() * pageBytes > limit
  }
}
