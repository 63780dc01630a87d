import Glibc

/// Keeps servers from a directory while it is read. Several may read at once; a directory that never had a
/// lock has no server.
struct DirectoryReadLock {
  private let descriptor: Int32?

  /// Takes the lock; nothing is made for it.
  /// - Throws: `inUse` while a server uses the directory; `unreachable`.
  init(_ directory: String) throws(DataDirectoryError) {
    let file = directory + "/lock"
    let opened = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard opened >= 0 else {
      let error = SystemError("open", file)
      guard error.isAbsent else { throw DataDirectory.unreachable(error) }
      descriptor = nil
      return
    }
    guard flock(opened, LOCK_SH | LOCK_NB) == 0 else {
      let error = SystemError("flock", file)
      close(opened)
      throw DataDirectoryError(
        .inUse, "Another process uses the data directory \(directory)",
        detail: error.debugDescription)
    }
    descriptor = opened
  }

  /// Lets servers have the directory.
  func unlock() {
    if let descriptor { close(descriptor) }
  }
}

extension DataDirectory {
  /// The registry's name.
  static let registryName = "registry.sqlite"
  /// The name of the directory of stores.
  static let storesName = "stores"

  /// A directory's path without symbolic links.
  /// - Throws: `unreachable`, `notADirectory`.
  static func real(_ path: String) throws(DataDirectoryError) -> String {
    guard let resolved = realpath(path, nil) else {
      throw unreachable(SystemError("realpath", path))
    }
    defer { free(resolved) }
    let real = String(cString: resolved)
    let entry: Disk.Entry?
    do throws(SystemError) { entry = try Disk.entry(at: real) } catch { throw unreachable(error) }
    guard entry?.isDirectory == true else {
      throw DataDirectoryError(.notADirectory, "\(real) is not a directory")
    }
    return real
  }
}
