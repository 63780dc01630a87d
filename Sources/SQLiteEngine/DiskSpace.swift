import Glibc
import NIOConcurrencyHelpers

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

/// The part of the disk that is kept for people and lists that are there already: with less free space than this, no
/// store is created for a new guest or a new list. Existing stores grow on, until the disk is full
/// (``DiskReserve``).
final class NewcomerSpace: Sendable {
  /// On a small disk the kept part is at most one in this many.
  static let share: Int64 = 16

  private let directory: String
  private let bytes: Int64
  private let found = NIOLockedValueBox<(free: Int64, isAmple: Bool)>((0, true))

  /// Looks at the disk of a directory.
  /// - Parameter bytes: the bytes to keep; 0 for none.
  init(_ directory: String, bytes: Int64) {
    self.directory = directory
    self.bytes = bytes
    look()
  }

  /// Whether there was more free space at the last look.
  var isAmple: Bool { found.withLockedValue { $0.isAmple } }
  /// The free bytes at the last look; 0 when the disk can't tell.
  var free: Int64 { found.withLockedValue { $0.free } }

  /// Asks the disk for its free space. Blocks the thread until the disk answers.
  func look() {
    guard let space = DiskSpace(of: directory) else { return }
    let kept = min(bytes, space.all / Self.share)
    found.withLockedValue { $0 = (space.free, space.free >= kept) }
  }
}
