import Glibc

/// The few calls of the operating system that files need, each with its error.
enum Disk {
  /// What stands at a path.
  struct Entry {
    /// Whether it is a directory.
    let isDirectory: Bool
    /// Whether it is a file of bytes: no link, no device.
    let isRegularFile: Bool
    /// Bytes.
    let size: Int64
    /// The user it belongs to.
    let owner: uid_t
  }

  /// What stands at a path, a symbolic link not followed; nil when there is nothing.
  static func entry(at path: String) throws(SystemError) -> Entry? {
    var status = stat()
    guard lstat(path, &status) == 0 else {
      let error = SystemError("lstat", path)
      guard error.isAbsent else { throw error }
      return nil
    }
    let kind = status.st_mode & S_IFMT
    return Entry(
      isDirectory: kind == S_IFDIR, isRegularFile: kind == S_IFREG, size: Int64(status.st_size),
      owner: status.st_uid)
  }

  /// Makes a directory for the owner alone.
  /// - Returns: false when it was there.
  @discardableResult
  static func makeDirectory(_ path: String) throws(SystemError) -> Bool {
    guard mkdir(path, 0o700) != 0 else { return true }
    guard errno == EEXIST else { throw SystemError("mkdir", path) }
    return false
  }

  /// Puts a directory's entries on the disk: without it a new name may be gone after a power failure
  /// although the file is not (fsync(2)).
  static func synchronizeDirectory(_ path: String) throws(SystemError) {
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { throw SystemError("open", path) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw SystemError("fsync", path) }
  }

  /// Puts a file's bytes on the disk, whoever wrote them.
  static func synchronize(_ path: String) throws(SystemError) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { throw SystemError("open", path) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw SystemError("fsync", path) }
  }

  /// Writes a new file and puts it on the disk; what stood there before is replaced. On a failure nothing
  /// is left of it.
  static func write(_ bytes: [UInt8], to path: String) throws(SystemError) {
    try remove(path)
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw SystemError("open", path) }
    defer { close(descriptor) }
    do throws(SystemError) {
      try write(bytes, to: descriptor, path)
    } catch {
      unlink(path)
      throw error
    }
  }

  private static func write(
    _ bytes: [UInt8], to descriptor: Int32, _ path: String
  ) throws(SystemError) {
    let isComplete = bytes.withUnsafeBytes { buffer in
      var rest = buffer[...]
      while !rest.isEmpty {
        let start = UnsafeRawBufferPointer(rebasing: rest).baseAddress
        let count = Glibc.write(descriptor, start, rest.count)
        guard count > 0 || errno == EINTR else { return false }
        rest = rest.dropFirst(max(count, 0))
      }
      return true
    }
    guard isComplete else { throw SystemError("write", path) }
    guard fsync(descriptor) == 0 else { throw SystemError("fsync", path) }
  }

  /// Whether the file system of a path takes no writes at all; false where that can't be found out.
  static func isReadOnly(_ path: String) -> Bool {
    var status = statvfs()
    return statvfs(path, &status) == 0 && status.f_flag & UInt(ST_RDONLY) != 0
  }

  /// Gives a file its final name, in the same directory.
  static func rename(_ path: String, to name: String) throws(SystemError) {
    guard Glibc.rename(path, name) == 0 else { throw SystemError("rename", path) }
  }

  /// Removes a file; one that is not there is removed already.
  static func remove(_ path: String) throws(SystemError) {
    guard unlink(path) != 0, errno != ENOENT else { return }
    throw SystemError("unlink", path)
  }
}
