import CSQLite

extension Connection {
  /// Opens a file to be looked at, without a trace: nothing in its directory is made, changed or removed,
  /// which SQLite's read-only mode alone does not promise, since it makes a log and the log's index.
  ///
  /// A log is read as after a crash, through an index in memory and without locks; the caller sees to it
  /// that nobody writes. Statements are to be reads.
  /// - Parameter hasLog: whether there is a log with something in it beside the file.
  /// - Throws: as ``init(path:mode:busyTimeout:)`` does.
  package static func inspecting(path: String, hasLog: Bool) throws(SQLiteError) -> Connection {
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
