import Glibc

/// The bytes of a large object until it is complete, in a file without a name: the system removes it when it is closed.
final class ImportSpool {
  private let path: String
  private var file: Int32 = -1
  /// How many bytes were written.
  private(set) var count = 0

  /// Makes no file yet.
  /// - Parameter path: a name for the moment in which the file is made.
  init(path: String) { self.path = path }

  deinit {
    if isOpen { close(file) }
  }

  var isOpen: Bool { file >= 0 }

  /// Appends bytes.
  /// - Throws: `storageFull`, `unavailable`.
  func write(_ bytes: [UInt8]) throws(CatalogueError) {
    if !isOpen {
      unlink(path)
      file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
      guard isOpen else { throw CatalogueFiles.failure("open") }
      unlink(path)
    }
    try CatalogueFiles.write(bytes, to: file)
    count += bytes.count
  }

  /// The first bytes of a range, at least one.
  /// - Throws: `unavailable`.
  func read(_ range: Range<Int>, atMost limit: Int) throws(CatalogueError) -> [UInt8] {
    var failed = false
    let bytes = [UInt8](unsafeUninitializedCapacity: min(range.count, limit)) { buffer, count in
      var result = -1
      repeat {
        result = pread(file, buffer.baseAddress, buffer.count, off_t(range.lowerBound))
      } while result < 0 && errno == EINTR
      (failed, count) = (result <= 0, max(result, 0))
    }
    guard !failed else { throw CatalogueFiles.failure("pread") }
    return bytes
  }
}
