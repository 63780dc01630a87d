import CSQLite

/// The pragmas that give or take a number, typed. Constant ones go through
/// ``Connection/execute(_:)``. <https://sqlite.org/pragma.html>
extension Connection {
  /// The size of the database in pages, free ones included; 0 for a database never written.
  package func pageCount() throws(SQLiteError) -> Int64 {
    try number("PRAGMA page_count")
  }

  /// The size of a page in bytes.
  package func pageSize() throws(SQLiteError) -> Int64 {
    try number("PRAGMA page_size")
  }

  /// How many pages of the file are unused.
  package func freePageCount() throws(SQLiteError) -> Int64 {
    try number("PRAGMA freelist_count")
  }

  /// The number in the header that the application may use for its schema version; 0 at first.
  package func userVersion() throws(SQLiteError) -> Int32 {
    Int32(truncatingIfNeeded: try number("PRAGMA user_version"))
  }

  /// Sets the application's schema version; transactional, like any write.
  package func setUserVersion(_ version: Int32) throws(SQLiteError) {
    try setPragma("user_version", to: Int64(version))
  }

  /// The number in the header that says whose format the file has; 0 at first.
  package func applicationID() throws(SQLiteError) -> Int32 {
    Int32(truncatingIfNeeded: try number("PRAGMA application_id"))
  }

  /// Sets whose format the file has; transactional, like any write.
  package func setApplicationID(_ id: Int32) throws(SQLiteError) {
    try setPragma("application_id", to: Int64(id))
  }

  /// Bounds the memory of this connection's page cache, in KiB. Lasts until it is closed.
  package func setCacheSize(kibibytes: Int32) throws(SQLiteError) {
    // SQLite reads a negative number as KiB and a positive one as pages.
    try setPragma("cache_size", to: -Int64(max(kibibytes, 0)))
  }

  /// Bounds what a log keeps of its file after a checkpoint, in bytes. Lasts until closing.
  package func setJournalSizeLimit(bytes: Int64) throws(SQLiteError) {
    try setPragma("journal_size_limit", to: bytes)
  }

  /// Bounds the database, in pages; a write beyond throws `full`. Lasts until closing.
  ///
  /// SQLite never sets it below the present size, and leaves it alone for 0.
  package func setMaximumPageCount(_ pages: Int64) throws(SQLiteError) {
    try setPragma("max_page_count", to: pages)
  }

  /// Turns write-ahead logging on; the file remembers. <https://sqlite.org/wal.html>
  /// - Throws: `other` if the file cannot have a log, as a database in memory cannot: the pragma
  ///   itself would keep the old mode without a word.
  package func enableWriteAheadLog() throws(SQLiteError) {
    let mode = try statement("PRAGMA journal_mode=WAL").first { row throws(SQLiteError) in
      try row.string(0)
    }
    guard let mode, mode.utf8.elementsEqual("wal".utf8) else {
      throw SQLiteError(.other, message: "the journal mode stayed \(mode ?? "unknown")")
    }
  }

  private func number(_ pragma: StaticString) throws(SQLiteError) -> Int64 {
    let value = try statement(pragma).first { row throws(SQLiteError) in row.int64(0) }
    guard let value else { throw SQLiteError(.other, message: "the pragma gave no row") }
    return value
  }

  /// Pragmas take no bound parameters, so their SQL is put together here, of a constant name and
  /// an integer: nothing that could carry SQL of its own.
  private func setPragma(_ name: StaticString, to value: Int64) throws(SQLiteError) {
    try check(sqlite3_exec(try open, "PRAGMA \(name) = \(value)", nil, nil, nil))
  }
}
