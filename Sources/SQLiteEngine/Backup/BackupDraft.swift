import Documents
import Glibc
import SQLite
import StoreRecords
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
  static func path(of place: String) -> String {
    var generator = SystemRandomNumberGenerator()
    return place + mark + Hex.string(generator.next(), 0).prefix(digits)
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

  /// Whether a directory is this user's and holds a backup's files alone, a manifest among them.
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

/// A copy of a store's file that is being made through the store's own connection, step by step.
///
/// What that connection commits between two steps is put into the copy as well, so that the copy is the
/// store as it is at the last step: one instant. Confined, as the connection is, to the store's actor.
/// <https://sqlite.org/backup.html>
final class StoreCopy {
  /// Pages a step: 64 are 256 KiB, which are read and written, not synchronised, in less time than a commit.
  static let pagesPerStep: Int32 = 64

  private let destination: Connection
  private let backup: Backup

  /// Begins a copy as a new file.
  init(of source: Connection, to path: String) throws {
    destination = try Connection(path: path, mode: .readWriteCreate)
    // Nothing reads the copy before it is complete, and a crash makes it useless. So it needs no journal, and is synced
    // to the disk once at the end.
    try destination.execute("PRAGMA journal_mode = MEMORY")
    try destination.execute("PRAGMA synchronous = OFF")
    try destination.execute("PRAGMA locking_mode = EXCLUSIVE")
    // Pages beyond are written to the file: the copy of a large store takes no more memory than a small one's.
    try destination.setCacheSize(kibibytes: 1_024)
    backup = try Backup(from: source, to: destination)
  }

  /// Copies some pages.
  /// - Returns: whether any are left; the copy is finished when there are none.
  func step() throws -> Bool {
    guard try !backup.step(pages: Self.pagesPerStep) else { return true }
    try backup.finish()
    try destination.close()
    return false
  }
}

/// Copying a store while it is used.
extension SQLiteStorage {
  /// Copies the store as it is at one instant into a new file, which is not put on the disk. Between steps
  /// other calls run. What a failure or a cancelled task leaves of the file is the caller's to remove.
  /// - Throws: `unavailable` when the store's file was written anew meanwhile, so that the copy must begin
  ///   again, and for a cancelled task; otherwise the error of either file.
  nonisolated func copy(to path: String) async throws -> StoreHeader {
    try await beginCopy(to: path)
    while true {
      guard !Task.isCancelled else {
        await abandonCopy()
        throw ServiceError(.unavailable, "The copy was given up")
      }
      if let header = try await continueCopy() { return header }
    }
  }

  private func beginCopy(to path: String) throws {
    if let failure { throw failure }
    guard let rows else { throw ServiceError.closed }
    try Disk.remove(path)
    // SQLite would make it for everybody who may read the directory.
    try Disk.touch(path)
    copy = try StoreCopy(of: rows.connection, to: path)
  }

  /// - Returns: the header as the copy has it, once it is whole.
  private func continueCopy() throws -> StoreHeader? {
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

  private func abandonCopy() { copy = nil }
}
