import Synchronization

/// Counts how many threads are inside a section of code, and how often it was run.
final class Occupancy: Sendable {
  private let inside = Atomic<Int>(0)
  private let highest = Atomic<Int>(0)
  private let passages = Atomic<Int>(0)

  /// Runs `body` as one more thread inside.
  func pass(_ body: () -> Void = {}) {
    let now = inside.add(1, ordering: .sequentiallyConsistent).newValue
    highest.max(now, ordering: .sequentiallyConsistent)
    body()
    inside.subtract(1, ordering: .sequentiallyConsistent)
    passages.add(1, ordering: .sequentiallyConsistent)
  }

  /// The most threads that were inside at the same time.
  var most: Int { highest.load(ordering: .sequentiallyConsistent) }

  /// How often the section was left.
  var total: Int { passages.load(ordering: .sequentiallyConsistent) }
}
