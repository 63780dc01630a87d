import SQLite
import Scheduling
import Stores

/// Writing to a disk that is full, or that accepts no writes for a time.
extension StoreFile {
  /// Prepares the file for writing.
  /// - Throws: `readOnly`; `storageFull`, also while the disk has space for deletions only; ``failure``, if it is set.
  func prepareToWrite() throws {
    if let failure { throw failure }
    if isReadOnly { try openForWriting() }
    if hasOldLog { guard try emptyLog() else { throw ServiceError.full } }
    guard reserve.isWhole() else { throw ServiceError.full }
  }

  /// Commits an update that failed because the disk is full, if the update deletes or frees space.
  ///
  /// The log is copied into the file and emptied before and after the commit. The reserve provides the pages that the
  /// log needs meanwhile.
  func commitOnFullDisk(_ update: any PendingUpdate) {
    do {
      _ = try emptyLog()
      guard try deletesOrFreesSpace(update) else { throw ServiceError.full }
      reserve.release()
      guard try emptyLog() || !hasOldLog else { throw ServiceError.full }
      _ = try transactOrUndo([update])
      _ = try emptyLog()
      _ = reserve.isWhole()
    } catch {
      // An update that was committed already has its outcome.
      if !update.isDone { finish(update, error) }
    }
  }

  /// Copies the log into the file and truncates the log to zero bytes.
  /// - Returns: false when the disk has no space for that.
  func emptyLog() throws -> Bool {
    guard let rows else { throw ServiceError.closed }
    do {
      guard try clock.blocking(rows.connection.copiesLog) else { return false }
    } catch {
      let error = ServiceError(engine: error)
      if error.code == .storage { failure = error }
      throw error
    }
    hasOldLog = false
    return true
  }

  /// Whether an update may be written on a full disk. Runs the update's rule and rolls its writes back.
  ///
  /// A part of an erasure may be written. Any other update may be written if both are true:
  /// - It adds no live document and no bytes to the winners' bodies.
  /// - It writes or purges a document, drops old bodies, or changes nothing. Changes of local documents and indexes
  ///   alone are not enough.
  private func deletesOrFreesSpace(_ update: any PendingUpdate) throws -> Bool {
    guard let rows else { throw ServiceError.closed }
    try rows.connection.begin()
    var writer = StoreWriter(rows: rows, header: header)
    let loaded = LoadedDocuments(update.ids, in: rows)
    let view = SQLiteView(
      rows: rows, header: header, now: update.now, slice: Slice(of: update.work), loaded: loaded)
    var changes = StoreChanges(of: view)
    do {
      try update.run(&changes)
      try writer.write(changes, of: loaded, at: update.now)
    } catch {
      undo(rows, after: error)
      throw error
    }
    rows.forgetTransaction()
    try rows.connection.rollback()
    let isNoted =
      changes.mutations.isEmpty && changes.purges.isEmpty && changes.forgotten.isEmpty
      && !changes.isEmpty
    return changes.freesSpace
      || !isNoted && writer.header.live <= header.live && writer.header.bytes <= header.bytes
  }

  /// Opens the file again when its disk accepts writes again.
  private func openForWriting() throws {
    guard !Disk.isReadOnly(file.directory) else { throw ServiceError.readOnly }
    try reopen {
      if let rows { try rows.connection.close() }
      rows = nil
    }
    if isReadOnly { throw ServiceError.readOnly }
  }
}
