import Glibc
import StoreRecords
import Stores

/// A database file and the files that stand beside it.
struct DatabaseFile: Sendable {
  /// The directory, absolute, without symbolic links.
  let directory: String
  /// The file's name in it.
  let name: String

  /// A number that depends on the name alone, to spread files evenly.
  var number: UInt64 { name.utf8.prefix(16).reduce(0) { $0 &* 31 &+ UInt64($1) } }
  /// The file.
  var path: String { directory + "/" + name }
  /// The write-ahead log (<https://sqlite.org/walformat.html>).
  var logPath: String { path + "-wal" }
  /// The log's index.
  var indexPath: String { path + "-shm" }
  /// A journal that SQLite would undo changes with, in other modes than ours.
  private var journalPath: String { path + "-journal" }
  /// A new file before it has its name.
  var draft: DatabaseFile { DatabaseFile(directory: directory, name: name + ".new") }
  /// Where a new file is written before it gets its name.
  var draftPath: String { draft.path }
  /// A damaged file of before, whose rows were put into the one that stands in its place.
  var damagedPath: String { path + ".damaged" }
  /// A log that was found beside the damaged file and is another file's.
  var damagedLogPath: String { damagedPath + "-wal" }
  /// The files that SQLite may keep beside this one.
  private var companions: [String] { [logPath, indexPath, journalPath] }

  /// Whether there is anything at all under the file's name.
  /// - Throws: `unavailable` when that can't be found out.
  func exists() throws -> Bool {
    try Disk.entry(at: path) != nil
  }

  /// Checks what can be checked before SQLite opens the file. To SQLite an empty file is an empty
  /// database, and a missing one is like any other that can't be opened.
  /// - Returns: whether there is a log with something in it.
  /// - Throws: `damaged`; `unavailable` when it can't be found out.
  func requireSound() throws -> Bool {
    let (file, log, journal) = (
      try Disk.entry(at: path), try Disk.entry(at: logPath), try Disk.entry(at: journalPath)
    )
    guard let file else { throw ServiceError.damaged("\(path): the file is missing") }
    guard file.isRegularFile, log?.isRegularFile ?? true else {
      throw ServiceError.damaged("\(path): not a regular file")
    }
    guard file.size > 0 else { throw ServiceError.damaged("\(path): the file is empty") }
    // SQLite would undo with it what the file holds; ours have a log instead.
    guard journal.map({ $0.size == 0 }) ?? true else {
      throw ServiceError.damaged("\(path): there is a rollback journal beside the file")
    }
    return log.map { $0.size > 0 } ?? false
  }

  /// Makes the file, complete or not at all: its bytes are on the disk before it has its name, and its
  /// name is when this returns. What a crash left half-written is replaced.
  ///
  /// A log that stands there without its file belongs to no database and goes first: SQLite would take
  /// it for the new file's.
  func create(_ image: [UInt8]) throws(SystemError) {
    try Disk.remove(logPath)
    try Disk.remove(indexPath)
    try Disk.write(image, to: draftPath)
    try Disk.rename(draftPath, to: path)
    try Disk.synchronizeDirectory(directory)
  }

  /// Removes a new file that has not got its name, and what stands beside it.
  func removeDraft() throws(SystemError) {
    for path in [draftPath] + draft.companions { try Disk.remove(path) }
  }

  /// Puts the new file, which is complete and on the disk, in place of the old one, which is closed.
  /// - Throws: `storage` when the old file's log is not empty: it would be taken for the new file's.
  func adoptDraft() throws {
    let log = try Disk.entry(at: logPath)
    guard log.map({ $0.size == 0 }) ?? true else {
      throw ServiceError(
        .storage, "The storage could not be read or written", detail: "\(logPath): not empty")
    }
    for path in companions { try Disk.remove(path) }
    // The log is gone for good before the new file has the name: after a power cut an old log beside a
    // new file would be taken for that file's own, and damage it.
    try Disk.synchronizeDirectory(directory)
    try Disk.rename(draftPath, to: path)
    try Disk.synchronizeDirectory(directory)
  }

  /// Gives a damaged file a second name, under which it stays when another takes its place; one that had that name
  /// before loses it.
  func keepDamaged() throws(SystemError) {
    try Disk.remove(damagedPath)
    guard link(path, damagedPath) == 0 else { throw SystemError("link", path) }
    try Disk.synchronizeDirectory(directory)
  }

  /// Moves the file, which is closed, to a place where there is none.
  /// - Throws: `storage` when its log is not empty: what is in it would be lost.
  func move(to other: DatabaseFile) throws {
    let log = try Disk.entry(at: logPath)
    guard log.map({ $0.size == 0 }) ?? true else {
      throw ServiceError(
        .storage, "The storage could not be read or written", detail: "\(logPath): not empty")
    }
    for path in companions + other.companions { try Disk.remove(path) }
    // A log that stands there still after a power cut would be taken for the moved file's own.
    try Disk.synchronizeDirectory(other.directory)
    try Disk.rename(path, to: other.path)
    try Disk.synchronizeDirectory(other.directory)
    try Disk.synchronizeDirectory(directory)
  }

  /// Removes the file and all that stands beside it, for good. May be repeated.
  func erase() throws(SystemError) {
    guard try Disk.entry(at: directory) != nil else { return }
    for path in [path, damagedPath, damagedLogPath] + companions { try Disk.remove(path) }
    try removeDraft()
    try Disk.synchronizeDirectory(directory)
  }
}
