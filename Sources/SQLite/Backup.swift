import CSQLite

/// A copy of one database into another, made step by step, so that its owner can serve other
/// requests in between. <https://sqlite.org/backup.html>
///
/// What the source connection itself writes between steps is copied too; a write by any other
/// connection starts the copy over.
package final class Backup {
  /// Pages per step that copy 1 MiB (of 4 KiB pages): a step others can wait for.
  package static let defaultPagesPerStep: Int32 = 256

  private var handle: OpaquePointer?
  // Both must outlive the copy.
  private let source: Connection
  private let destination: Connection

  /// Prepares a copy of `source` over all that `destination` holds.
  /// - Throws: `other` if both are the same or the destination is in use.
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
    // What ending it says is for `finish()` to report; a copy dropped midway is not wanted.
    _ = end()
  }

  /// How many pages were still to copy after the latest step.
  package var remainingPages: Int32 {
    guard let handle else { return 0 }
    return sqlite3_backup_remaining(handle)
  }

  /// Copies up to `pages` pages and says whether any are left.
  /// - Throws: `busy` or `locked`, after which the step may be tried again; any other error is
  ///   final. `misuse` after ``finish()``.
  package func step(pages: Int32) throws(SQLiteError) -> Bool {
    guard let handle else { throw SQLiteError(.misuse, message: "the backup is finished") }
    let result = sqlite3_backup_step(handle, pages)
    switch result {
    case SQLITE_OK: return true
    case SQLITE_DONE: return false
    default: throw SQLiteError(resultCode: result, database: destination.handle)
    }
  }

  /// Ends the copy; before the last page, the destination is rolled back to what it was.
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
