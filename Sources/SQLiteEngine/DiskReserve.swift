import Glibc
import NIOConcurrencyHelpers

/// Disk space that is reserved so that changes that free space can be written to a full disk. A deletion needs some
/// pages of log before it frees any.
///
/// The reserve is a file of allocated space without content. After it was released, the engine writes nothing that
/// grows a store until the reserve is complete again, so that other updates don't take the space that deletions need.
final class DiskReserve: Sendable {
  /// The reserved bytes: 4 MiB, the usual maximum length of one store's log.
  static let bytes: Int64 = 4 << 20
  /// On a small disk the reserve takes at most one part in this many.
  static let share: Int64 = 4

  private let path: String
  private let hasRoom: NIOLockedValueBox<Bool>

  /// Creates the reserve at a path and allocates its space.
  init(path: String) {
    self.path = path
    hasRoom = NIOLockedValueBox(Self.fill(path))
  }

  /// Whether the reserve is complete. If it is not, tries to allocate it first.
  func isWhole() -> Bool {
    hasRoom.withLockedValue { hasRoom in
      if !hasRoom { hasRoom = Self.fill(path) }
      return hasRoom
    }
  }

  /// Frees the reserved space.
  func release() {
    hasRoom.withLockedValue { hasRoom in
      hasRoom = false
      // If the file can't be truncated, no space is freed, and the write then fails as before.
      _ = truncate(path, 0)
    }
  }

  /// Allocates the space.
  /// - Returns: false only when the disk is too full; any other failure must not stop writes.
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
