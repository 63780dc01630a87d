import CSQLite

extension Connection {
  /// Copies the whole database, as of now, into a new file at `path`; blocks until it is there.
  ///
  /// Use ``Backup`` to let other work run between steps. After an error the file may hold part of
  /// a copy: remove it.
  /// - Throws: `misuse` if `path` holds a database already; `full`, `ioError`, `cantOpen`, and
  ///   `busy` if another connection writes the source.
  package func backup(to path: String) throws(SQLiteError) {
    let destination = try Connection(path: path, mode: .readWriteCreate)
    guard try destination.pageCount() == 0 else {
      throw SQLiteError(.misuse, message: "the destination of a backup must be new")
    }
    let backup = try Backup(from: self, to: destination)
    while try backup.step(pages: Backup.defaultPagesPerStep) {}
    try backup.finish()
    try destination.close()
  }

  /// The database as the bytes of a file, what is still in the log included: a template that,
  /// written to disk, is a database again. <https://sqlite.org/c3ref/serialize.html>
  package func serialize() throws(SQLiteError) -> [UInt8] {
    var size: sqlite3_int64 = 0
    guard let bytes = sqlite3_serialize(try open, "main", &size, 0) else {
      // No pages, no bytes: SQLite answers NULL for a database that was never written.
      guard try pageCount() > 0 else { return [] }
      throw SQLiteError(resultCode: SQLITE_NOMEM, database: nil)
    }
    defer { sqlite3_free(bytes) }
    return [UInt8](UnsafeBufferPointer(start: bytes, count: Int(size)))
  }
}
