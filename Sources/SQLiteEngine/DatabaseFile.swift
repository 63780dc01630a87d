import Glibc
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
  /// Where a new file is written before it gets its name.
  var draftPath: String { path + ".new" }

  /// Whether there is anything at all under the file's name.
  /// - Throws: `unavailable` when that can't be found out.
  func exists() throws(StoreError) -> Bool {
    try calling { () throws(SystemError) in try Disk.entry(at: path) } != nil
  }

  /// Checks what can be checked before SQLite opens the file. To SQLite an empty file is an empty
  /// database, and a missing one is like any other that can't be opened.
  /// - Returns: whether there is a log with something in it.
  /// - Throws: `damaged`; `unavailable` when it can't be found out.
  func requireSound() throws(StoreError) -> Bool {
    let (file, log) = try calling { () throws(SystemError) in
      (try Disk.entry(at: path), try Disk.entry(at: logPath))
    }
    guard let file else { throw .damaged("\(path): the file is missing") }
    guard file.isRegularFile, log?.isRegularFile ?? true else {
      throw .damaged("\(path): not a regular file")
    }
    guard file.size > 0 else { throw .damaged("\(path): the file is empty") }
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

  /// Removes the file and all that stands beside it, for good. May be repeated.
  func erase() throws(SystemError) {
    guard try Disk.entry(at: directory) != nil else { return }
    for path in [path, logPath, indexPath, draftPath] { try Disk.remove(path) }
    try Disk.synchronizeDirectory(directory)
  }
}
