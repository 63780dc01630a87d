import CLanes
import Glibc

/// The memory that the C library keeps for this process (malloc(3)).
package struct Heap: Sendable {
  /// The load from which on a trim is worth its time, in bytes.
  static let worth = 32 << 20

  /// The highest load since the last trim, in bytes.
  private var peak = 0

  /// The heap of a process without load.
  package init() {}

  /// Limits the parts into which the C library divides the heap so that threads don't wait for each other: two to four,
  /// by the processors. Each part may keep the memory of the longest answer that was made in it, up to 64 MiB, and by
  /// default there are eight for each processor.
  package static func limitParts() {
    let processors = sysconf(Int32(_SC_NPROCESSORS_ONLN))
    clanes_limit_arenas(CInt(min(max(processors, 2), 4)))
  }

  /// Returns memory to the system when a load has fallen to less than half. The C library keeps what was freed between
  /// pieces that are still in use, for good: after a flood the process would stay as large as it was. It takes
  /// milliseconds for each GiB, so the calling thread must be one that may block.
  /// - Parameter load: bytes of bodies and answers in memory now; call it once a second.
  package mutating func note(_ load: Int) {
    if takesFall(to: load) { clanes_trim_heap() }
  }

  /// Whether to trim the heap.
  mutating func takesFall(to load: Int) -> Bool {
    peak = max(peak, load)
    guard peak >= Self.worth, load < peak / 2 else { return false }
    peak = load
    return true
  }
}
