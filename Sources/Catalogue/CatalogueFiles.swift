import Glibc

/// The catalogue's files in the data directory. All calls block.
struct CatalogueFiles: Sendable {
  /// The directory's path without symbolic links, because SQLite would refuse them.
  let directory: String

  /// The catalogue that searches read. It is only replaced, never written in place.
  var database: String { directory + "/catalogue.sqlite" }
  /// The catalogue that the last import replaced; see ``StoredCatalogue/undo()``. The next import replaces it.
  var former: String { directory + "/catalogue.sqlite.former" }
  /// The catalogue that an import writes. The next import removes what an aborted one left.
  var draft: String { directory + "/catalogue.sqlite.new" }
  /// The name of an import's file without a name while it is made; see ``ImportSpool``.
  var spool: String { directory + "/catalogue.spool" }
  /// The file with the version of the shared catalogue that the directory has; see ``StoredCatalogue``.
  var sharedVersion: String { directory + "/catalogue.version" }
  /// The file whose lock the running import holds. Only one import can run.
  var lock: String { directory + "/catalogue.lock" }

  /// The files in `directory`, which must exist before they are used.
  init(directory: String) {
    guard let resolved = realpath(directory, nil) else {
      self.directory = directory
      return
    }
    defer { free(resolved) }
    self.directory = String(cString: resolved)
  }

  /// Deletes the files of a draft, if there are any.
  func removeDraft() {
    for suffix in ["", "-journal", "-wal", "-shm"] { unlink(draft + suffix) }
    unlink(spool)
  }

  /// Replaces the catalogue by the finished draft. After a power failure there is either the complete old one or
  /// the complete new one.
  /// - Throws: `storageFull`, `unavailable`. The old catalogue remains then, unless only syncing the directory has
  ///   failed.
  func publishDraft() throws(CatalogueError) {
    try Self.synchronize(draft, flags: O_RDONLY)
    guard rename(draft, database) == 0 else { throw Self.failure("rename") }
    try Self.synchronize(directory, flags: O_RDONLY | O_DIRECTORY)
  }

  /// Keeps the present catalogue as the former one, or notes that there is none.
  /// - Throws: `storageFull`, `unavailable`. The present catalogue is unchanged.
  func keepFormer() throws(CatalogueError) {
    let next = former + ".new"
    unlink(next)
    guard link(database, next) == 0 else {
      guard errno == ENOENT else { throw Self.failure("link") }
      unlink(former)
      return
    }
    // rename does nothing when both names have the same file.
    defer { unlink(next) }
    guard rename(next, former) == 0 else { throw Self.failure("rename") }
  }

  /// Whether there is a former catalogue. An import that was cut off may have left the present one under its name.
  var hasFormer: Bool {
    guard let kept = FileIdentity(path: former) else { return false }
    return kept != FileIdentity(path: database)
  }

  /// Puts the former catalogue in the place of the present one.
  /// - Throws: `storageFull`, `unavailable`.
  func restoreFormer() throws(CatalogueError) {
    guard rename(former, database) == 0 else { throw Self.failure("rename") }
    try Self.synchronize(directory, flags: O_RDONLY | O_DIRECTORY)
  }

  /// The kind of the catalogue's origin, read from the bytes of its header; nil for an unknown one.
  ///
  /// SQLite is not used here, because it refuses a file that is damaged anywhere on its first page.
  func kindInHeader() -> CatalogueOrigin.Kind? {
    let file = open(database, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var header = [UInt8](repeating: 0, count: 72)
    guard pread(file, &header, header.count, 0) == header.count else { return nil }
    let id = header[68..<72].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    return CatalogueOrigin.Kind(applicationID: Int32(bitPattern: id))
  }

  /// Writes all bytes to an open file.
  /// - Throws: `storageFull`, `unavailable`.
  static func write(_ bytes: [UInt8], to file: Int32) throws(CatalogueError) {
    var written = 0
    while written < bytes.count {
      let count = bytes[written...].withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw failure("write") }
      written += count
    }
  }

  /// The error of the system call that has just failed.
  static func failure(_ call: String) -> CatalogueError {
    let code = errno
    let detail = "\(call): \(String(cString: strerror(code)))"
    guard code == ENOSPC || code == EDQUOT else {
      return CatalogueError(
        .unavailable, "The hotel catalogue's directory can't be used now.", detail: detail)
    }
    return CatalogueError(
      .storageFull, "There is no space for the hotel catalogue.", detail: detail)
  }

  private static func synchronize(_ path: String, flags: Int32) throws(CatalogueError) {
    let file = open(path, flags | O_CLOEXEC)
    guard file >= 0 else { throw failure("open") }
    defer { close(file) }
    guard fsync(file) == 0 else { throw failure("fsync") }
  }
}
