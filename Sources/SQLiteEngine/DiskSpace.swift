import Glibc

/// The space of a disk, in bytes.
package struct DiskSpace: Sendable {
  /// All of it.
  package let all: Int64
  /// What this user may still use.
  package let free: Int64

  /// Asks the disk of a directory. Blocks the thread until the disk answers.
  /// - Returns: nil when the disk can't tell.
  package init?(of directory: String) {
    var disk = statvfs()
    guard statvfs(directory, &disk) == 0 else { return nil }
    func bytes(_ blocks: fsblkcnt_t) -> Int64 {
      let (bytes, overflows) = Int64(clamping: blocks)
        .multipliedReportingOverflow(by: Int64(clamping: disk.f_frsize))
      return overflows ? .max : bytes
    }
    (all, free) = (bytes(disk.f_blocks), bytes(disk.f_bavail))
  }
}
