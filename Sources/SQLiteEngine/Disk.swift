import Glibc

/// The system calls for files that the engine needs. Each throws its own error.
enum Disk {
  /// The file or directory at a path.
  struct Entry {
    /// Whether it is a directory.
    let isDirectory: Bool
    /// Whether it is a regular file: no link and no device.
    let isRegularFile: Bool
    /// The size in bytes.
    let size: Int64
    /// The user it belongs to.
    let owner: uid_t
    /// When it was last changed, in milliseconds since 1970.
    let changed: Int64
  }

  /// The file or directory at a path; nil when there is none. A symbolic link is not followed.
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

  /// Creates a directory that only its owner can use.
  /// - Returns: false when it existed already.
  @discardableResult
  static func makeDirectory(_ path: String) throws(SystemError) -> Bool {
    guard mkdir(path, 0o700) != 0 else { return true }
    guard errno == EEXIST else { throw SystemError("mkdir", path) }
    return false
  }

  /// Syncs a directory's entries to the disk. Without it, a new name may be lost after a power failure although the
  /// file's content is not (fsync(2)).
  static func synchronizeDirectory(_ path: String) throws(SystemError) {
    try synchronize(path, O_DIRECTORY)
  }

  /// Syncs a file's bytes to the disk, whichever process wrote them.
  static func synchronize(_ path: String, _ flags: Int32 = 0) throws(SystemError) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | flags)
    guard descriptor >= 0 else { throw SystemError("open", path) }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw SystemError("fsync", path) }
  }

  /// Writes a new file and syncs it to the disk. A file that was at the path is replaced. After a failure there is no
  /// file.
  static func write(_ bytes: [UInt8], to path: String) throws(SystemError) {
    try remove(path)
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw SystemError("open", path) }
    defer { close(descriptor) }
    do throws(SystemError) {
      try writeAll(bytes[...], to: descriptor, path)
      guard fsync(descriptor) == 0 else { throw SystemError("fsync", path) }
    } catch {
      unlink(path)
      throw error
    }
  }

  /// Whether the file system of a path is mounted read-only; false when that can't be found out.
  static func isReadOnly(_ path: String) -> Bool {
    var status = statvfs()
    return statvfs(path, &status) == 0 && status.f_flag & UInt(ST_RDONLY) != 0
  }

  /// Renames a file to its final name in the same directory.
  static func rename(_ path: String, to name: String) throws(SystemError) {
    guard Glibc.rename(path, name) == 0 else { throw SystemError("rename", path) }
  }

  /// Removes a file. A missing file is not an error.
  static func remove(_ path: String) throws(SystemError) {
    guard unlink(path) != 0, errno != ENOENT else { return }
    throw SystemError("unlink", path)
  }

  // MARK: Reading directories and files without SQLite

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

  /// Reads a file piece by piece until `take` returns false. Links are not followed.
  /// - Parameter piece: the bytes that are held in memory.
  /// - Returns: false when the file does not exist.
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

  // MARK: Writing files and directories that are not databases in use

  /// Creates an empty file that only its owner can read.
  static func touch(_ path: String) throws(SystemError) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw SystemError("open", path) }
    close(descriptor)
  }

  /// Appends bytes to an existing file, without a sync.
  static func append(_ bytes: [UInt8], to path: String) throws(SystemError) {
    let descriptor = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { throw SystemError("open", path) }
    defer { close(descriptor) }
    try writeAll(bytes[...], to: descriptor, path)
  }

  /// Copies a file without a sync. Only the owner can read the copy. If another file replaces the original meanwhile,
  /// the copy is still of the file that was opened.
  /// - Returns: false when the file does not exist.
  static func copy(_ path: String, to target: String) throws(SystemError) -> Bool {
    var descriptor: Int32 = -1
    defer { if descriptor >= 0 { close(descriptor) } }
    func begin() throws(SystemError) {
      guard descriptor < 0 else { return }
      descriptor = open(target, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
      guard descriptor >= 0 else { throw SystemError("open", target) }
    }
    let isThere = try read(path, piece: 1 << 18) { piece throws(SystemError) in
      try begin()
      try writeAll(piece, to: descriptor, target)
      return true
    }
    if isThere { try begin() }
    return isThere
  }

  /// Removes a directory and everything below it. Links are removed, not followed. A missing directory is not an error.
  static func removeTree(_ path: String) throws(SystemError) {
    guard let entry = try entry(at: path) else { return }
    guard entry.isDirectory else { return try remove(path) }
    for name in try names(in: path) ?? [] { try removeTree(path + "/" + name) }
    guard rmdir(path) == 0 || errno == ENOENT else { throw SystemError("rmdir", path) }
  }

  /// Syncs everything in a directory to the disk, including its entries.
  static func synchronizeTree(_ path: String) throws(SystemError) {
    for name in try names(in: path) ?? [] {
      let child = path + "/" + name
      let isDirectory = try entry(at: child)?.isDirectory ?? false
      if isDirectory { try synchronizeTree(child) } else { try synchronize(child) }
    }
    try synchronizeDirectory(path)
  }

  private static func writeAll(
    _ bytes: ArraySlice<UInt8>, to descriptor: Int32, _ path: String
  ) throws(SystemError) {
    var rest = bytes
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { throw SystemError("write", path) }
      rest = rest.dropFirst(count)
    }
  }
}
