import CSQLite

/// A copy of one database into another, made in steps, so that its owner can serve other requests in between.
/// <https://sqlite.org/backup.html>
///
/// Writes of the source connection itself between steps are copied too; a write by another connection restarts the
/// copy.
package final class Backup {
  private var handle: OpaquePointer?
  // Both must stay alive until the copy ends.
  private let source: Connection
  private let destination: Connection

  /// Prepares a copy of `source` that replaces the content of `destination`.
  /// - Throws: `other` when both are the same or the destination is in use.
  package init(from source: Connection, to destination: Connection) throws(SQLiteError) {
    self.source = source
    self.destination = destination
    let target = try destination.open
    handle = sqlite3_backup_init(target, "main", try source.open, "main")
    guard handle != nil else {
      throw SQLiteError(resultCode: sqlite3_extended_errcode(target), database: target)
    }
    source.unfinishedBackups += 1
    destination.unfinishedBackups += 1
  }

  deinit {
    // Only `finish()` reports an error of ending; a copy that is dropped before its end is not wanted.
    _ = end()
  }

  /// Copies up to `pages` pages.
  /// - Returns: whether pages are left.
  /// - Throws: `busy` or `locked`, after which the step can be repeated; any other error is final. `misuse` after
  ///   ``finish()``.
  package func step(pages: Int32) throws(SQLiteError) -> Bool {
    guard let handle else { throw SQLiteError(.misuse, message: "the backup is finished") }
    let result = sqlite3_backup_step(handle, pages)
    switch result {
    case SQLITE_OK: return true
    case SQLITE_DONE: return false
    default: throw SQLiteError(resultCode: result, database: destination.handle)
    }
  }

  /// Ends the copy. When pages are left, the destination is rolled back to its former content.
  package func finish() throws(SQLiteError) {
    let result = end()
    guard result == SQLITE_OK else {
      throw SQLiteError(resultCode: result, database: destination.handle)
    }
  }

  private func end() -> Int32 {
    guard let handle else { return SQLITE_OK }
    self.handle = nil
    source.unfinishedBackups -= 1
    destination.unfinishedBackups -= 1
    return sqlite3_backup_finish(handle)
  }
}
