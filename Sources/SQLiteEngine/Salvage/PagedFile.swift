import Glibc
import Stores

/// A database file that SQLite can't read, as a sequence of pages.
///
/// Only one thread at a time may use it. Its calls block.
final class PagedFile {
  /// The bytes of a page: SQLite's default, which all files of this service have.
  static let pageSize = 4_096

  /// The number of complete pages in the file.
  let count: Int
  private let descriptor: Int32
  private let path: String

  /// Opens a file.
  /// - Parameter isWritten: whether the file is opened for writing, too.
  init(_ path: String, isWritten: Bool = false) throws(SystemError) {
    let flags = (isWritten ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NOFOLLOW
    let opened = open(path, flags)
    guard opened >= 0 else { throw SystemError("open", path) }
    var status = stat()
    guard fstat(opened, &status) == 0 else {
      let error = SystemError("fstat", path)
      close(opened)
      throw error
    }
    descriptor = opened
    count = Int(status.st_size) / Self.pageSize
    self.path = path
  }

  deinit { close(descriptor) }

  /// A page; nil when the file does not have it or the disk can't read it.
  /// - Parameter number: the page's number; the first is 1.
  func page(_ number: Int) -> [UInt8]? {
    guard number >= 1, number <= count else { return nil }
    var bytes = [UInt8](repeating: 0, count: Self.pageSize)
    let read = bytes.withUnsafeMutableBytes {
      pread(descriptor, $0.baseAddress, $0.count, off_t(number - 1) * off_t(Self.pageSize))
    }
    return read == Self.pageSize ? bytes : nil
  }

  /// Writes a page. It is durable only after ``synchronize()``.
  func write(_ bytes: ArraySlice<UInt8>, at number: Int) throws(SystemError) {
    let written = bytes.withUnsafeBytes {
      pwrite(descriptor, $0.baseAddress, $0.count, off_t(number - 1) * off_t(Self.pageSize))
    }
    guard written == bytes.count else { throw SystemError("pwrite", path) }
  }

  /// Truncates or extends the file to a number of pages.
  func setCount(_ pages: Int) throws(SystemError) {
    guard ftruncate(descriptor, off_t(pages) * off_t(Self.pageSize)) == 0 else {
      throw SystemError("ftruncate", path)
    }
  }

  /// Makes what was written durable.
  func synchronize() throws(SystemError) {
    guard fsync(descriptor) == 0 else { throw SystemError("fsync", path) }
  }
}

/// Reading big-endian numbers from untrusted bytes.
extension RandomAccessCollection where Element == UInt8, Index == Int {
  /// A number of two bytes; nil beyond the end.
  func uint16(at offset: Int) -> Int? {
    guard offset >= startIndex, offset + 2 <= endIndex else { return nil }
    return Int(self[offset]) << 8 | Int(self[offset + 1])
  }

  /// A number of four bytes; nil beyond the end.
  func uint32(at offset: Int) -> UInt32? {
    guard offset >= startIndex, offset + 4 <= endIndex else { return nil }
    return self[offset..<offset + 4].reduce(0) { $0 << 8 | UInt32($1) }
  }

  /// A number of one to nine bytes (<https://sqlite.org/fileformat2.html#varint>) and the offset after it; nil when it
  /// extends beyond the end.
  func varint(at start: Int) -> (value: Int64, end: Int)? {
    var value: UInt64 = 0
    for offset in 0..<9 {
      guard start + offset >= startIndex, start + offset < endIndex else { return nil }
      let byte = self[start + offset]
      if offset == 8 { return (Int64(bitPattern: value << 8 | UInt64(byte)), start + 9) }
      value = value << 7 | UInt64(byte & 0x7F)
      if byte < 0x80 { return (Int64(bitPattern: value), start + offset + 1) }
    }
    return nil
  }
}
