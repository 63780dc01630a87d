import Glibc
import Lanes
import NIOConcurrencyHelpers
import SQLite
import StoreRecords
import Stores

/// Writing to a disk that is full, or takes no writes at times.
extension SQLiteStorage {
  /// Sees to it that the file can be written.
  /// - Throws: `readOnly`; `storageFull` also while there is room for nothing but deletions.
  func prepareToWrite() throws {
    if let failure { throw failure }
    if isReadOnly { try openForWriting() }
    if hasOldLog { guard try emptyLog() else { throw ServiceError.full } }
    guard reserve.isWhole() else { throw ServiceError.full }
  }

  /// Writes an update for which there was no room, if it makes some: the log is copied and cut, before and
  /// after, and the reserve lends what pages the log needs meanwhile.
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
      // An update that was committed has its outcome already.
      if !update.isDone { finish(update, error) }
    }
  }

  /// Copies the log into the file and cuts it to nothing.
  /// - Returns: false where there is no room for that.
  func emptyLog() throws -> Bool {
    guard let rows else { throw ServiceError.closed }
    do {
      guard try LanePool.blocking(rows.connection.copiesLog) else { return false }
    } catch {
      let error = ServiceError(engine: error)
      if error.code == .storage { failure = error }
      throw error
    }
    hasOldLog = false
    return true
  }

  /// Whether an update neither adds a document nor makes the winners longer, nor writes notes alone, or is part
  /// of an erasure. Runs its rule and undoes what it wrote.
  private func deletesOrFreesSpace(_ update: any PendingUpdate) throws -> Bool {
    guard let rows else { throw ServiceError.closed }
    try rows.connection.begin()
    var writer = StoreWriter(rows: rows, header: header)
    let loaded = LoadedDocuments(update.ids, in: rows)
    let view = SQLiteView(rows: rows, header: header, now: update.now, loaded: loaded)
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
    let isNoted = changes.mutations.isEmpty && changes.purges.isEmpty && !changes.isEmpty
    return changes.freesSpace
      || !isNoted && writer.header.live <= header.live && writer.header.bytes <= header.bytes
  }

  /// Opens the file anew when its disk takes writes again. Where that fails, nothing works until the store is
  /// opened anew.
  private func openForWriting() throws {
    guard !Disk.isReadOnly(file.directory) else { throw ServiceError.readOnly }
    copy = nil
    do {
      if let rows { try rows.connection.close() }
      rows = nil
      _ = try open(epoch: header.epoch)
    } catch {
      failure = ServiceError(
        .storage, "The storage could not be read or written",
        detail: ServiceError(engine: error).detail)
    }
    if let failure { throw failure }
    if isReadOnly { throw ServiceError.readOnly }
  }
}

/// Room that is held back on the disk, so that on a full one what makes room can be written: a deletion
/// needs some pages of log before it frees any.
///
/// It is a file without content. Once it had to be given up, nothing that grows is written until it is whole
/// again, lest others take what deletions need.
final class DiskReserve: Sendable {
  /// Bytes held back: 4 MiB, one store's log at its usual longest.
  static let bytes: Int64 = 4 << 20
  /// No more of a small disk than one part in so many.
  static let share: Int64 = 16

  private let path: String
  private let hasRoom: NIOLockedValueBox<Bool>

  /// The reserve at a path, as much of it as the disk gives.
  init(path: String) {
    self.path = path
    hasRoom = NIOLockedValueBox(Self.fill(path))
  }

  /// Whether it is whole, after trying to make it so.
  func isWhole() -> Bool {
    hasRoom.withLockedValue { hasRoom in
      if !hasRoom { hasRoom = Self.fill(path) }
      return hasRoom
    }
  }

  /// Gives the room up.
  func release() {
    hasRoom.withLockedValue { hasRoom in
      hasRoom = false
      // What can't be cut short gives nothing back; the write then fails as it would have.
      _ = truncate(path, 0)
    }
  }

  /// Takes the room.
  /// - Returns: false only where the disk is too full for it: any other failure must not stop writes.
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
