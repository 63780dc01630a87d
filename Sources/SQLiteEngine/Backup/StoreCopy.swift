import SQLite
import Stores

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
  init(of source: Connection, to path: String) throws(SQLiteError) {
    destination = try Connection(path: path, mode: .readWriteCreate)
    // Nobody looks at the copy before it is whole, and a crash makes it worthless: it needs no journal and is
    // put on the disk once, afterwards.
    try destination.execute("PRAGMA journal_mode = MEMORY")
    try destination.execute("PRAGMA synchronous = OFF")
    try destination.execute("PRAGMA locking_mode = EXCLUSIVE")
    // Pages beyond are written to the file: the copy of a large store takes no more memory than a small one's.
    try destination.setCacheSize(kibibytes: 1_024)
    backup = try Backup(from: source, to: destination)
  }

  /// Copies some pages.
  /// - Returns: whether any are left; the copy is finished when there are none.
  func step() throws(SQLiteError) -> Bool {
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
  nonisolated func copy(to path: String) async throws(StoreError) -> StoreHeader {
    try await beginCopy(to: path)
    while true {
      guard !Task.isCancelled else {
        await abandonCopy()
        throw StoreError(.unavailable, "The copy was given up")
      }
      if let header = try await continueCopy() { return header }
    }
  }

  private func beginCopy(to path: String) throws(StoreError) {
    if let failure { throw failure }
    guard let rows else { throw .closed }
    try calling { () throws(SystemError) in
      try Disk.remove(path)
      // SQLite would make it for everybody who may read the directory.
      try Disk.touch(path)
    }
    copy = try storing { () throws(SQLiteError) in try StoreCopy(of: rows.connection, to: path) }
  }

  /// - Returns: the header as the copy has it, once it is whole.
  private func continueCopy() throws(StoreError) -> StoreHeader? {
    guard let running = copy else {
      throw StoreError(.unavailable, "The copy was interrupted", detail: key)
    }
    do throws(SQLiteError) {
      guard try !running.step() else { return nil }
    } catch {
      copy = nil
      throw StoreError(error)
    }
    copy = nil
    return header
  }

  private func abandonCopy() { copy = nil }
}
