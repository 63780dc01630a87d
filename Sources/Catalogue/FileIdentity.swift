import Glibc

/// What tells one file at a path from the next: both a replaced and a rewritten file differ.
struct FileIdentity: Equatable, Sendable {
  private let device: UInt64
  private let inode: UInt64
  private let size: Int64
  private let seconds: Int64
  private let nanoseconds: Int64

  /// The file at `path` as it is now; nil if there is none, or it can't be looked at.
  init?(path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
    size = Int64(status.st_size)
    seconds = Int64(status.st_mtim.tv_sec)
    nanoseconds = Int64(status.st_mtim.tv_nsec)
  }
}
