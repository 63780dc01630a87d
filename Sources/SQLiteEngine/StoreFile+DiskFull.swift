import Glibc
import NIOConcurrencyHelpers
import SQLite
import Scheduling
import StoreRecords
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

/// Disk space that is reserved so that changes that free space can be written to a full disk. A deletion needs some
/// pages of log before it frees any.
///
/// The reserve is a file of allocated space without content. After it was released, the engine writes nothing that
/// grows a store until the reserve is complete again, so that other updates don't take the space that deletions need.
final class DiskReserve: Sendable {
  /// The reserved bytes: 4 MiB, the usual maximum length of one store's log.
  static let bytes: Int64 = 4 << 20
  /// On a small disk the reserve takes at most one part in this many.
  static let share: Int64 = 16

  private let path: String
  private let hasRoom: NIOLockedValueBox<Bool>

  /// Creates the reserve at a path and allocates its space.
  init(path: String) {
    self.path = path
    hasRoom = NIOLockedValueBox(Self.fill(path))
  }

  /// Whether the reserve is complete. If it is not, tries to allocate it first.
  func isWhole() -> Bool {
    hasRoom.withLockedValue { hasRoom in
      if !hasRoom { hasRoom = Self.fill(path) }
      return hasRoom
    }
  }

  /// Frees the reserved space.
  func release() {
    hasRoom.withLockedValue { hasRoom in
      hasRoom = false
      // If the file can't be truncated, no space is freed, and the write then fails as before.
      _ = truncate(path, 0)
    }
  }

  /// Allocates the space.
  /// - Returns: false only when the disk is too full; any other failure must not stop writes.
  private static func fill(_ path: String) -> Bool {
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { return !isFull(errno) }
    defer { close(descriptor) }
    var disk = statvfs()
    guard fstatvfs(descriptor, &disk) == 0 else { return true }
    let size = Int64(clamping: disk.f_blocks).multipliedReportingOverflow(
      by: Int64(clamping: disk.f_frsize))
    let wanted = size.overflow ? bytes : min(bytes, size.partialValue / share)
    guard isFull(posix_fallocate(descriptor, 0, max(1, Int(clamping: wanted)))) else { return true }
    _ = ftruncate(descriptor, 0)
    return false
  }

  private static func isFull(_ number: Int32) -> Bool { number == ENOSPC || number == EDQUOT }
}
