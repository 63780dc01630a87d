import Documents
import Glibc
import SQLite
import Scheduling
import Stores

/// The directory in which a backup is written before it is renamed to its final name.
///
/// The process that writes it holds a lock on the directory (`flock(2)`), which the system releases when the process
/// ends. A draft without a lock remains after a killed process or a power failure.
struct BackupDraft {
  private let path: String
  private let descriptor: Int32

  private static let mark = ".partial-"
  private static let digits = 8
  /// How a manifest begins.
  private static let beginning = Array(#"{"backup":"#.utf8)

  /// A path beside the backup's final path; each call returns a different one.
  static func path(of destination: String) -> String {
    destination + mark + Hex.random().prefix(digits)
  }

  /// Creates a draft with an empty manifest that only its owner can read.
  init(at path: String) throws(SystemError) {
    self.path = path
    try Disk.makeDirectory(path)
    descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
    // On a file system without locks no process gets one, so no process removes the draft either.
    if descriptor >= 0 { _ = flock(descriptor, LOCK_EX | LOCK_NB) }
    do {
      // The lock is taken before the manifest exists. Without a manifest, other processes don't take the directory for
      // a draft.
      try Disk.write([], to: path + "/" + BackupManifest.name + ".new")
      try Disk.makeDirectory(path + "/" + DataDirectory.storesName)
    } catch {
      remove()
      throw error
    }
  }

  /// Releases the lock after the draft was renamed.
  func release() {
    if descriptor >= 0 { close(descriptor) }
  }

  /// Removes the draft and releases the lock.
  func remove() {
    try? Disk.removeTree(path)
    release()
  }

  /// Removes the drafts in a directory that no process writes any more. Keeps everything that is not certainly a draft.
  /// A draft that can't be removed does not make a backup fail.
  static func removeAbandoned(in directory: String) {
    guard let names = try? Disk.names(in: directory) else { return }
    for name in names where isName(name) {
      let path = directory + "/" + name
      let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
      guard descriptor >= 0 else { continue }
      defer { close(descriptor) }
      guard flock(descriptor, LOCK_EX | LOCK_NB) == 0, isDraft(path) else { continue }
      try? Disk.removeTree(path)
    }
  }

  /// Whether a name is that of a draft: `NAME.partial-` and eight hex digits.
  private static func isName(_ name: String) -> Bool {
    let bytes = name.utf8
    let end = bytes.suffix(digits)
    return bytes.dropLast(digits).suffix(mark.utf8.count).elementsEqual(mark.utf8)
      && end.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
  }

  /// Whether a directory belongs to this user and contains only a backup's files, including a manifest.
  private static func isDraft(_ path: String) -> Bool {
    guard (try? Disk.entry(at: path))?.owner == geteuid(),
      let names = try? Disk.names(in: path)
    else { return false }
    let manifests = [BackupManifest.name, BackupManifest.name + ".new"]
    let known =
      manifests + [DataDirectory.storesName] + BackupManifest.Extra.allCases.map(\.rawValue)
    let found = names.filter { name in manifests.contains { $0.equalsBytes(of: name) } }
    guard names.allSatisfy({ name in known.contains { $0.equalsBytes(of: name) } }),
      found.count == 1,
      let bytes = try? Disk.contents(of: path + "/" + found[0], atMost: beginning.count)
    else { return false }
    return bytes.isEmpty || bytes == beginning
  }
}

/// A copy of a store's file, made step by step through the store's own connection.
///
/// Changes that the connection commits between two steps are also made in the copy. The copy therefore shows the store
/// at one instant: the last step. Like the connection, it is used by one call at a time.
/// <https://sqlite.org/backup.html>
final class StoreCopy {
  /// The pages of one step: 64 pages are 256 KiB. Reading and writing them without synchronising takes less time than a
  /// commit.
  static let pagesPerStep: Int32 = 64

  private let destination: Connection
  private let backup: Backup

  /// Begins a copy into a new file.
  init(of source: Connection, to path: String) throws {
    destination = try Connection(path: path, mode: .readWriteCreate)
    // Nothing reads the copy before it is complete, and a crash makes it useless. So it needs no journal, and is synced
    // to the disk once at the end.
    try destination.execute("PRAGMA journal_mode = MEMORY")
    try destination.execute("PRAGMA synchronous = OFF")
    try destination.execute("PRAGMA locking_mode = EXCLUSIVE")
    // Pages beyond this size are written to the file, so the copy of a large store takes no more memory than that of a
    // small one.
    try destination.setCacheSize(kibibytes: 1_024)
    backup = try Backup(from: source, to: destination)
  }

  /// Copies the pages of one step.
  /// - Returns: whether pages remain. When none remain, the copy is finished.
  func step() throws -> Bool {
    guard try !backup.step(pages: Self.pagesPerStep) else { return true }
    try backup.finish()
    try destination.close()
    return false
  }
}

/// Copying a store while it is in use.
extension SQLiteStorage {
  /// Copies the store at one instant into a new file, which is not synchronised to the disk. Other calls run between
  /// the steps. After a failure or a cancellation, the caller removes the file.
  /// - Throws: `unavailable` for a cancelled task, and when the store's file was replaced meanwhile, so that the copy
  ///   must begin again; otherwise the error of either file.
  func copy(to path: String) async throws -> StoreHeader {
    try await file.run { file in try file.beginCopy(to: path) }
    while true {
      guard !Task.isCancelled else {
        await file.run { file in file.copy = nil }
        throw ServiceError(.unavailable, "The copy was given up")
      }
      if let header = try await file.run({ file in try file.continueCopy() }) { return header }
    }
  }
}

extension StoreFile {
  fileprivate func beginCopy(to path: String) throws {
    if let failure { throw failure }
    guard let rows else { throw ServiceError.closed }
    try Disk.remove(path)
    // SQLite would create the file readable for everybody who can read the directory.
    try Disk.touch(path)
    copy = try StoreCopy(of: rows.connection, to: path)
  }

  /// - Returns: the header of the complete copy; nil before it is complete.
  fileprivate func continueCopy() throws -> StoreHeader? {
    guard let running = copy else {
      throw ServiceError(.unavailable, "The copy was interrupted", detail: key)
    }
    do {
      guard try !running.step() else { return nil }
    } catch {
      copy = nil
      throw ServiceError(engine: error)
    }
    copy = nil
    return header
  }
}
