import CScheduling
import Glibc

/// The memory that the C library keeps for this process (malloc(3)).
package struct Heap: Sendable {
  /// How many bytes must have been given back so that a trim is worth its time.
  static let worth = 16 << 20
  /// How often the bytes of the heap that are in use are counted, in seconds, because that visits all of its free pieces.
  private static let interval = 10

  /// A number of bytes that goes up and down.
  struct Load {
    /// The highest number since the last fall.
    private var peak = 0

    /// Whether a quarter of the highest number, and at least ``worth``, was given back since the last fall.
    mutating func falls(to bytes: Int) -> Bool {
      peak = max(peak, bytes)
      guard peak - bytes >= max(worth, peak / 4) else { return false }
      peak = bytes
      return true
    }
  }

  private var load = Load()
  private var used = Load()
  private var seconds = 0

  /// The heap of a process without load.
  package init() {}

  /// Limits the parts into which the C library divides the heap so that threads don't wait for each other: two to four,
  /// by the processors. Each part may keep the memory of the longest answer that was made in it, up to 64 MiB, and by
  /// default there are eight for each processor.
  ///
  /// A part keeps 32 MiB, and pieces below 8 MiB are taken from it. By default it keeps twice the largest piece so far: a
  /// rule over a long history takes and gives back some MiB several times, and a third of its time went into new pages.
  package static func configure() {
    let processors = sysconf(Int32(_SC_NPROCESSORS_ONLN))
    cscheduling_shape_heap(CInt(min(max(processors, 2), 4)), 8 << 20, 32 << 20)
  }

  /// Returns memory to the system when a load has fallen, or when stores were closed. The C library keeps what was freed
  /// between pieces that are still in use, for good: after a flood the process would stay as large as it was. It takes
  /// milliseconds for each GiB, so the calling thread must be one that may block.
  /// - Parameter bytes: bytes of bodies and answers in memory now; call it once a second.
  package mutating func note(_ bytes: Int) {
    seconds += 1
    let hasFallen = load.falls(to: bytes)
    let isSmaller = seconds % Self.interval == 0 && used.falls(to: Int(cscheduling_heap_in_use()))
    if hasFallen || isSmaller { cscheduling_trim_heap() }
  }
}
