import Glibc
import NIOConcurrencyHelpers

/// Room that is held back on the disk, so that on a full one what makes room can be written: a deletion
/// needs some pages of log before it frees any.
///
/// It is a file without content. Once it had to be given up, nothing that grows is written until it is whole
/// again, lest others take what deletions need.
final class DiskReserve: Sendable {
  /// Bytes held back: 4 MiB, one store's log at its usual longest.
  static let bytes: Int64 = 4 << 20
  /// No more of a small disk than one part in so many.
  static let share: Int64 = 16

  private let path: String
  private let hasRoom: NIOLockedValueBox<Bool>

  /// The reserve at a path, as much of it as the disk gives.
  init(path: String) {
    self.path = path
    hasRoom = NIOLockedValueBox(Self.fill(path))
  }

  /// Whether it is whole, after trying to make it so.
  func isWhole() -> Bool {
    hasRoom.withLockedValue { hasRoom in
      if !hasRoom { hasRoom = Self.fill(path) }
      return hasRoom
    }
  }

  /// Gives the room up.
  func release() {
    hasRoom.withLockedValue { hasRoom in
      hasRoom = false
      // What can't be cut short gives nothing back; the write then fails as it would have.
      _ = truncate(path, 0)
    }
  }

  /// Takes the room.
  /// - Returns: false only where the disk is too full for it: any other failure must not stop writes.
  private static func fill(_ path: String) -> Bool {
    let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { return !isFull(errno) }
    defer { close(descriptor) }
    var disk = statvfs()
    guard fstatvfs(descriptor, &disk) == 0 else { return true }
    let size = Int64(clamping: disk.f_blocks).multipliedReportingOverflow(
      by: Int64(clamping: disk.f_frsize))
    let wanted = size.overflow ? bytes : min(bytes, size.partialValue / share)
    guard isFull(posix_fallocate(descriptor, 0, max(1, Int(clamping: wanted)))) else { return true }
    _ = ftruncate(descriptor, 0)
    return false
  }

  private static func isFull(_ number: Int32) -> Bool { number == ENOSPC || number == EDQUOT }
}
