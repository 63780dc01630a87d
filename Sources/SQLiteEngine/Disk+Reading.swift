import Glibc

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
