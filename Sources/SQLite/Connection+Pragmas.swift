import CSQLite

/// Typed methods for the pragmas that return or take a number. For constant pragmas use ``Connection/execute(_:)``.
/// <https://sqlite.org/pragma.html>
extension Connection {
  /// The size of the database in pages, free ones included; 0 for a database that was never written.
  package func pageCount() throws -> Int64 { try number("PRAGMA page_count") }

  /// The size of a page in bytes.
  package func pageSize() throws -> Int64 { try number("PRAGMA page_size") }

  /// How many pages of the file are unused.
  package func freePageCount() throws -> Int64 { try number("PRAGMA freelist_count") }

  /// The number in the header for the application's schema version; 0 in a new database.
  package func userVersion() throws -> Int32 {
    Int32(truncatingIfNeeded: try number("PRAGMA user_version"))
  }

  /// Sets the application's schema version; part of the transaction, like any write.
  package func setUserVersion(_ version: Int32) throws {
    try setPragma("user_version", to: Int64(version))
  }

  /// The number in the header that identifies the application's file format; 0 in a new database.
  package func applicationID() throws -> Int32 {
    Int32(truncatingIfNeeded: try number("PRAGMA application_id"))
  }

  /// Sets the application's file format; part of the transaction, like any write.
  package func setApplicationID(_ id: Int32) throws {
    try setPragma("application_id", to: Int64(id))
  }

  /// Sets the most memory for this connection's page cache, in KiB. Lasts until closing.
  package func setCacheSize(kibibytes: Int32) throws {
    // In SQLite a negative number means KiB and a positive one pages.
    try setPragma("cache_size", to: -Int64(max(kibibytes, 0)))
  }

  /// What happens to the bytes of deleted content.
  package enum SecureDelete: Sendable {
    /// They are overwritten with zeros.
    case thorough
    /// They are overwritten with zeros when that writes no further page.
    case whereFree
  }

  /// Sets what happens to the bytes of what is deleted from now on. May be called within a transaction. Lasts until
  /// closing.
  ///
  /// Source: sqlite.org, "PRAGMA secure_delete".
  package func setSecureDelete(_ mode: SecureDelete) throws {
    switch mode {
    case .thorough: try execute("PRAGMA secure_delete = ON")
    case .whereFree: try execute("PRAGMA secure_delete = FAST")
    }
  }

  /// Sets the most bytes that the log file keeps after a checkpoint. Lasts until closing.
  package func setJournalSizeLimit(bytes: Int64) throws {
    try setPragma("journal_size_limit", to: bytes)
  }

  /// Switches to write-ahead logging; the setting is stored in the file. <https://sqlite.org/wal.html>
  /// - Throws: `other` when the database can't have a log, such as a database in memory; the pragma itself would keep
  ///   the old mode without an error.
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

  /// Pragmas take no bound parameters. The SQL is therefore built from a constant name and an integer, neither of which
  /// can inject SQL.
  private func setPragma(_ name: StaticString, to value: Int64) throws {
    try check(sqlite3_exec(try open, "PRAGMA \(name) = \(value)", nil, nil, nil))
  }

  /// Opens a file for reading without any trace: nothing in its directory is created, changed or removed. SQLite's
  /// read-only mode alone does not guarantee this, because it creates a log and the log's index.
  ///
  /// A log is read as after a crash, through an index in memory and without locks; the caller makes sure that no one
  /// writes to the file. The connection may only read.
  /// - Parameter hasLog: whether there is a non-empty log beside the file.
  /// - Throws: the same errors as ``init(path:mode:busyTimeout:)``.
  package static func inspecting(path: String, hasLog: Bool) throws -> Connection {
    guard path.utf8.first == UInt8(ascii: "/"), !path.utf8.contains(0) else {
      throw SQLiteError(.cantOpen, message: "the path is not absolute or holds a NUL")
    }
    let connection: Connection
    if hasLog {
      // This VFS has no locks and so no shared memory either. Exclusive mode, which needs no shared memory, can
      // therefore read the log. https://sqlite.org/vfs.html#standard_unix_vfses
      connection = try Connection(
        name: path, flags: SQLITE_OPEN_READONLY | SQLITE_OPEN_NOFOLLOW, system: "unix-none")
      // Otherwise closing would copy the log into the file and remove it.
      try connection.check(
        csqlite_db_config_switch(connection.open, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1))
      try connection.execute("PRAGMA locking_mode = EXCLUSIVE")
    } else {
      // https://sqlite.org/uri.html#uriimmutable: SQLite then neither looks for a log nor makes one.
      connection = try Connection(
        name: "file:" + escaped(path) + "?immutable=1",
        flags: SQLITE_OPEN_READONLY | SQLITE_OPEN_NOFOLLOW | SQLITE_OPEN_URI)
    }
    // A damaged cell is then detected when its page is read, not when SQLite follows it to another page.
    try connection.execute("PRAGMA cell_size_check = ON")
    // No memory mapping: a file that is truncated meanwhile would end the process with SIGBUS instead of causing an
    // error.
    try connection.execute("PRAGMA mmap_size = 0")
    // Sorting uses memory, because a temporary file would need a directory.
    try connection.execute("PRAGMA temp_store = MEMORY")
    try connection.execute("PRAGMA schema_version")
    return connection
  }

  /// A path in the form for SQLite's URIs.
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
