import CLanes

/// Returns memory to the system after a load. The C library keeps what was freed between pieces that are still in use,
/// for good: after a flood the process would stay as large as it was.
package struct HeapTrim: Sendable {
  /// The load from which on a trim is worth its time, in bytes.
  static let worth = 32 << 20

  /// The highest load since the last trim, in bytes.
  private var peak = 0

  /// For a process without load.
  package init() {}

  /// Trims the heap when a load has fallen to less than half. It takes milliseconds for each GiB, so the calling thread
  /// must be one that may block.
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
