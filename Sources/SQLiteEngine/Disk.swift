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
    /// When it was last changed, in milliseconds since 1970.
    let changed: Int64
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
      owner: status.st_uid,
      changed: Int64(status.st_mtim.tv_sec) * 1_000 + Int64(status.st_mtim.tv_nsec) / 1_000_000)
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

/// Reading directories and files without SQLite.
extension Disk {
  /// The names in a directory, `.` and `..` left out, in byte order; nil when there is no directory.
  static func names(in path: String) throws(SystemError) -> [String]? {
    guard let directory = opendir(path) else {
      let error = SystemError("opendir", path)
      guard error.isAbsent else { throw error }
      return nil
    }
    defer { closedir(directory) }
    var names: [String] = []
    while true {
      errno = 0
      guard let entry = readdir(directory) else { break }
      let name = withUnsafeBytes(of: &entry.pointee.d_name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      if name != ".", name != ".." { names.append(name) }
    }
    guard errno == 0 else { throw SystemError("readdir", path) }
    return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// A file's bytes, the first `limit` of them; nil when there is no file. Links are not followed.
  static func contents(of path: String, atMost limit: Int) throws(SystemError) -> [UInt8]? {
    var bytes: [UInt8] = []
    let isThere = try read(path, piece: min(limit, 1 << 16)) { piece in
      bytes += piece.prefix(limit - bytes.count)
      return bytes.count < limit
    }
    return isThere ? bytes : nil
  }

  /// Reads a file piece by piece until `take` answers false. Links are not followed.
  /// - Parameter piece: bytes that are held in memory.
  /// - Returns: false when there is no file.
  static func read(
    _ path: String, piece: Int = 1 << 16, _ take: (ArraySlice<UInt8>) throws(SystemError) -> Bool
  ) throws(SystemError) -> Bool {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else {
      let error = SystemError("open", path)
      guard error.isAbsent else { throw error }
      return false
    }
    defer { close(descriptor) }
    var buffer = [UInt8](repeating: 0, count: max(piece, 1))
    while true {
      let count = buffer.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw SystemError("read", path) }
      guard count > 0, try take(buffer[..<count]) else { return true }
    }
  }
}
