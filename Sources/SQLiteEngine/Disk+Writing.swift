import Glibc

/// Writing files and directories that are not databases in use.
extension Disk {
  /// Makes an empty file that only its owner may read.
  static func touch(_ path: String) throws(SystemError) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw SystemError("open", path) }
    close(descriptor)
  }

  /// Adds bytes to a file that is there; they are not put on the disk.
  static func append(_ bytes: [UInt8], to path: String) throws(SystemError) {
    let descriptor = open(path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW)
    guard descriptor >= 0 else { throw SystemError("open", path) }
    defer { close(descriptor) }
    try writeAll(bytes[...], to: descriptor, path)
  }

  /// Copies a file, of which the copy is its owner's alone; it is not put on the disk. A file that was put in
  /// the original's place meanwhile makes no difference: what was opened is copied.
  /// - Returns: false when there is no such file.
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

  /// Removes a directory and all below; links are removed, not followed. One that is not there is removed
  /// already.
  static func removeTree(_ path: String) throws(SystemError) {
    guard let entry = try entry(at: path) else { return }
    guard entry.isDirectory else { return try remove(path) }
    for name in try names(in: path) ?? [] { try removeTree(path + "/" + name) }
    guard rmdir(path) == 0 || errno == ENOENT else { throw SystemError("rmdir", path) }
  }

  /// Puts all that is in a directory on the disk, its entries too.
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

extension SystemError {
  /// A failure by its number.
  init(_ call: String, _ path: String, number: Int32) {
    errno = number
    self.init(call, path)
  }
}
