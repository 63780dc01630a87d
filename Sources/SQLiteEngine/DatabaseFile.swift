import Glibc
import Stores

/// A database file and the files that belong to it.
struct DatabaseFile: Sendable {
  /// The directory, absolute, without symbolic links.
  let directory: String
  /// The file's name in it.
  let name: String

  var path: String { directory + "/" + name }
  /// The write-ahead log (<https://sqlite.org/walformat.html>).
  var logPath: String { path + "-wal" }
  /// The log's index.
  var indexPath: String { path + "-shm" }
  /// The rollback journal, which SQLite uses only in other journal modes than this service's.
  private var journalPath: String { path + "-journal" }
  /// The new file before it is renamed to its final name.
  var draft: DatabaseFile { DatabaseFile(directory: directory, name: name + ".new") }
  /// The path of the new file before it is renamed to its final name.
  var draftPath: String { draft.path }
  /// The path of a damaged file that was replaced.
  var damagedPath: String { path + ".damaged" }
  /// The path of the log that was found beside the damaged file.
  private var damagedLogPath: String { damagedPath + "-wal" }
  /// The files that SQLite may keep beside this one.
  private var companions: [String] { [logPath, indexPath, journalPath] }

  /// Whether anything exists at the file's path.
  /// - Throws: `unavailable` when that can't be found out.
  func exists() throws -> Bool { try Disk.entry(at: path) != nil }

  /// Checks the file before SQLite opens it. SQLite takes an empty file for an empty database, and reports a missing
  /// file like any other that can't be opened.
  /// - Returns: whether the file has a log that is not empty.
  /// - Throws: `damaged`; `unavailable` when that can't be found out.
  func requireSound() throws -> Bool {
    let (file, log, journal) = (
      try Disk.entry(at: path), try Disk.entry(at: logPath), try Disk.entry(at: journalPath)
    )
    guard let file else { throw ServiceError.damaged("\(path): the file is missing") }
    guard file.isRegularFile, log?.isRegularFile ?? true else {
      throw ServiceError.damaged("\(path): not a regular file")
    }
    guard file.size > 0 else { throw ServiceError.damaged("\(path): the file is empty") }
    // SQLite would roll the file back with this journal. This service's files use a write-ahead log instead.
    guard journal.map({ $0.size == 0 }) ?? true else {
      throw ServiceError.damaged("\(path): there is a rollback journal beside the file")
    }
    return log.map { $0.size > 0 } ?? false
  }

  /// Creates the file completely or not at all. Its bytes are on the disk before it is renamed to its final name, and
  /// the name is durable when this method returns. A draft that a crash left is replaced.
  ///
  /// A log without its file is removed first, because SQLite would take it for the new file's log.
  func create(_ image: [UInt8]) throws(SystemError) {
    try Disk.remove(logPath)
    try Disk.remove(indexPath)
    try Disk.write(image, to: draftPath)
    try Disk.rename(draftPath, to: path)
    try Disk.synchronizeDirectory(directory)
  }

  /// Removes a new file that was not renamed to its final name, and the files that belong to it.
  func removeDraft() throws(SystemError) {
    for path in [draftPath] + draft.companions { try Disk.remove(path) }
  }

  /// Replaces the old file, which is closed, by the new one, which is complete and on the disk.
  /// - Throws: `storage` when the old file's log is not empty: SQLite would take it for the new file's log.
  func adoptDraft() throws {
    try requireEmptyLog()
    for path in companions { try Disk.remove(path) }
    // The removal of the log is durable before the rename. Otherwise, after a power failure, SQLite could take the old
    // log for the new file's log and damage the file.
    try Disk.synchronizeDirectory(directory)
    try Disk.rename(draftPath, to: path)
    try Disk.synchronizeDirectory(directory)
  }

  /// Sets a damaged file aside before another one replaces it: gives it a second name, and moves its log. Earlier files
  /// with these names are replaced.
  func keepDamaged() throws(SystemError) {
    if try Disk.entry(at: path) != nil {
      try Disk.remove(damagedPath)
      guard link(path, damagedPath) == 0 else { throw SystemError("link", path) }
    }
    if try Disk.entry(at: logPath) != nil { try Disk.rename(logPath, to: damagedLogPath) }
    try Disk.synchronizeDirectory(directory)
  }

  /// Moves the closed file to a path that has no file.
  /// - Throws: `storage` when its log is not empty, because the log's content would be lost.
  func move(to other: DatabaseFile) throws {
    try requireEmptyLog()
    for path in companions + other.companions { try Disk.remove(path) }
    // SQLite would take a log that is still there after a power failure for the moved file's log.
    try Disk.synchronizeDirectory(other.directory)
    try Disk.rename(path, to: other.path)
    try Disk.synchronizeDirectory(other.directory)
    try Disk.synchronizeDirectory(directory)
  }

  private func requireEmptyLog() throws {
    let log = try Disk.entry(at: logPath)
    guard log.map({ $0.size == 0 }) ?? true else {
      throw ServiceError.storage("\(logPath): not empty")
    }
  }

  /// Removes the file and all files that belong to it. The call can be repeated.
  func erase() throws(SystemError) {
    guard try Disk.entry(at: directory) != nil else { return }
    for path in [path, damagedPath, damagedLogPath] + companions { try Disk.remove(path) }
    try removeDraft()
    try Disk.synchronizeDirectory(directory)
  }
}
