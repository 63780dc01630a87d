import CSQLite

/// The pragmas that give or take a number, typed. Constant ones go through
/// ``Connection/execute(_:)``. <https://sqlite.org/pragma.html>
extension Connection {
  /// The size of the database in pages, free ones included; 0 for a database never written.
  package func pageCount() throws -> Int64 {
    try number("PRAGMA page_count")
  }

  /// The size of a page in bytes.
  package func pageSize() throws -> Int64 {
    try number("PRAGMA page_size")
  }

  /// How many pages of the file are unused.
  package func freePageCount() throws -> Int64 {
    try number("PRAGMA freelist_count")
  }

  /// The number in the header that the application may use for its schema version; 0 at first.
  package func userVersion() throws -> Int32 {
    Int32(truncatingIfNeeded: try number("PRAGMA user_version"))
  }

  /// Sets the application's schema version; transactional, like any write.
  package func setUserVersion(_ version: Int32) throws {
    try setPragma("user_version", to: Int64(version))
  }

  /// The number in the header that says whose format the file has; 0 at first.
  package func applicationID() throws -> Int32 {
    Int32(truncatingIfNeeded: try number("PRAGMA application_id"))
  }

  /// Sets whose format the file has; transactional, like any write.
  package func setApplicationID(_ id: Int32) throws {
    try setPragma("application_id", to: Int64(id))
  }

  /// Bounds the memory of this connection's page cache, in KiB. Lasts until it is closed.
  package func setCacheSize(kibibytes: Int32) throws {
    // SQLite reads a negative number as KiB and a positive one as pages.
    try setPragma("cache_size", to: -Int64(max(kibibytes, 0)))
  }

  /// Bounds what a log keeps of its file after a checkpoint, in bytes. Lasts until closing.
  package func setJournalSizeLimit(bytes: Int64) throws {
    try setPragma("journal_size_limit", to: bytes)
  }

  /// Bounds the database, in pages; a write beyond throws `full`. Lasts until closing.
  ///
  /// SQLite never sets it below the present size, and leaves it alone for 0.
  package func setMaximumPageCount(_ pages: Int64) throws {
    try setPragma("max_page_count", to: pages)
  }

  /// Turns write-ahead logging on; the file remembers. <https://sqlite.org/wal.html>
  /// - Throws: `other` if the file cannot have a log, as a database in memory cannot: the pragma
  ///   itself would keep the old mode without a word.
  package func enableWriteAheadLog() throws {
    let mode = try statement("PRAGMA journal_mode=WAL").first { row in
      try row.string(0)
    }
    guard let mode, mode.utf8.elementsEqual("wal".utf8) else {
      throw SQLiteError(.other, message: "the journal mode stayed \(mode ?? "unknown")")
    }
  }

  private func number(_ pragma: StaticString) throws -> Int64 {
    let value = try statement(pragma).first { row in row.int64(0) }
    guard let value else { throw SQLiteError(.other, message: "the pragma gave no row") }
    return value
  }

  /// Pragmas take no bound parameters, so their SQL is put together here, of a constant name and
  /// an integer: nothing that could carry SQL of its own.
  private func setPragma(_ name: StaticString, to value: Int64) throws {
    try check(sqlite3_exec(try open, "PRAGMA \(name) = \(value)", nil, nil, nil))
  }
}

extension Connection {
  /// Opens a file to be looked at, without a trace: nothing in its directory is made, changed or removed,
  /// which SQLite's read-only mode alone does not promise, since it makes a log and the log's index.
  ///
  /// A log is read as after a crash, through an index in memory and without locks; the caller sees to it
  /// that nobody writes. Statements are to be reads.
  /// - Parameter hasLog: whether there is a log with something in it beside the file.
  /// - Throws: as ``init(path:mode:busyTimeout:)`` does.
  package static func inspecting(path: String, hasLog: Bool) throws -> Connection {
    guard path.utf8.first == UInt8(ascii: "/"), !path.utf8.contains(0) else {
      throw SQLiteError(.cantOpen, message: "the path is not absolute or holds a NUL")
    }
    let connection: Connection
    if hasLog {
      // Without locks of its own this layer has no shared memory either, so that exclusive mode, which
      // needs none, reads the log. https://sqlite.org/vfs.html#standard_unix_vfses
      connection = try Connection(
        name: path, flags: SQLITE_OPEN_READONLY | SQLITE_OPEN_NOFOLLOW, system: "unix-none")
      // Else closing would copy the log into the file and remove it.
      try connection.check(
        csqlite_db_config_switch(connection.open, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1))
      try connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    } else {
      // https://sqlite.org/uri.html#uriimmutable: no log is looked for and none is made.
      connection = try Connection(
        name: "file:" + escaped(path) + "?immutable=1",
        flags: SQLITE_OPEN_READONLY | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_URI)
    }
    // A damaged cell is found when its page is read, not when it is followed somewhere else.
    try connection.execute("PRAGMA cell_size_check = ON")
    // No mapping: a file cut short underneath would end the process with SIGBUS instead of an error.
    try connection.execute("PRAGMA mmap_size = 0")
    // Sorting is memory's work: a temporary file would need a place.
    try connection.execute("PRAGMA temp_store = MEMORY")
    try connection.execute("PRAGMA schema_version")
    return connection
  }

  /// A path in a URI of SQLite's.
  private static func escaped(_ path: String) -> String {
    path.utf8.reduce(into: "") { text, byte in
      switch byte {
      case UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
        UInt8(ascii: "A")...UInt8(ascii: "Z"):
        text.unicodeScalars.append(Unicode.Scalar(byte))
      default:
        let digits = String(byte, radix: 16)
        text += digits.utf8.count == 1 ? "%0" + digits : "%" + digits
      }
    }
  }
}
