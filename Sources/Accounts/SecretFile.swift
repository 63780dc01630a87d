import Glibc
import Stores

/// A small file that only its owner may read. It is replaced as a whole: after a power failure it has either the
/// old or the new content.
struct SecretFile: Sendable {
  let path: String
  /// The name of the file in error messages.
  var title = "key file"

  private static let maximumBytes = 1 << 16

  /// The content; nil when there is no such file.
  /// - Throws: `keys` when the file is a link, belongs to another user, is readable by others, is too long, or
  ///   can't be read.
  func read() throws -> [UInt8]? {
    let file = Glibc.open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard file >= 0 else {
      if errno == ENOENT { return nil }
      throw failure("The \(title) can't be opened.")
    }
    defer { Glibc.close(file) }
    var status = stat()
    guard fstat(file, &status) == 0 else { throw failure("The \(title) can't be examined.") }
    guard status.st_mode & S_IFMT == S_IFREG else {
      throw ServiceError(.keys, "The \(title) is not a regular file.", detail: path)
    }
    guard status.st_mode & 0o077 == 0 else {
      throw ServiceError(
        .keys, "The \(title) must be readable by its owner only (chmod 600).", detail: path)
    }
    guard status.st_uid == geteuid() else {
      throw ServiceError(.keys, "The \(title) belongs to another user.", detail: path)
    }
    return try content(of: file)
  }

  /// Creates the file, which must not exist. The file is durable once this returns.
  /// - Throws: `keys` when the file exists or can't be written.
  func create(_ bytes: [UInt8]) throws {
    try write(bytes) { new in
      // A hard link, unlike a rename, never replaces a file that another process has just created.
      defer { unlink(new) }
      return link(new, path)
    }
  }

  /// Creates the file or replaces its content. The new content is durable once this returns.
  /// - Throws: `keys`. The old content remains then, unless only syncing the directory has failed.
  func replace(_ bytes: [UInt8]) throws { try write(bytes) { new in rename(new, path) } }

  private func write(_ bytes: [UInt8], publish: (_ new: String) -> Int32) throws {
    let new = path + ".\(UInt64.random(in: .min ... .max))"
    let file = Glibc.open(new, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard file >= 0 else { throw failure("The \(title) can't be made.") }
    let isWritten = append(bytes, to: file) && fsync(file) == 0
    Glibc.close(file)
    guard isWritten, publish(new) == 0 else {
      let error = failure("The \(title) can't be written.")
      unlink(new)
      throw error
    }
    try syncDirectory()
  }

  private func append(_ bytes: [UInt8], to file: Int32) -> Bool {
    var written = 0
    while written < bytes.count {
      let count = bytes[written...].withUnsafeBytes { Glibc.write(file, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      written += count
    }
    return true
  }

  private func content(of file: Int32) throws -> [UInt8] {
    var content: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4_096)
    while content.count <= Self.maximumBytes {
      let count = buffer.withUnsafeMutableBytes { Glibc.read(file, $0.baseAddress, $0.count) }
      if count < 0, errno == EINTR { continue }
      guard count >= 0 else { throw failure("The \(title) can't be read.") }
      if count == 0 { return content }
      content += buffer.prefix(count)
    }
    throw ServiceError(.keys, "The \(title) is too long.", detail: path)
  }

  /// A file's name is durable only after its directory is synced (fsync(2)).
  private func syncDirectory() throws {
    let slash = path.utf8.lastIndex(of: UInt8(ascii: "/"))
    let directory = slash.map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
    let file = Glibc.open(directory, O_RDONLY | O_CLOEXEC | O_DIRECTORY)
    guard file >= 0 else { throw failure("The directory of the \(title) can't be opened.") }
    defer { Glibc.close(file) }
    guard fsync(file) == 0 else { throw failure("The directory of the \(title) can't be written.") }
  }

  private func failure(_ reason: String) -> ServiceError {
    ServiceError(.keys, reason, detail: "\(path): \(String(cString: strerror(errno)))")
  }
}
