import Synchronization

/// Counts who is inside a stretch of code, and how often it was passed.
final class Occupancy: Sendable {
  private let inside = Atomic<Int>(0)
  private let highest = Atomic<Int>(0)
  private let passages = Atomic<Int>(0)

  /// Runs `body` as one more inside.
  func pass(_ body: () -> Void = {}) {
    let now = inside.add(1, ordering: .sequentiallyConsistent).newValue
    highest.max(now, ordering: .sequentiallyConsistent)
    body()
    inside.subtract(1, ordering: .sequentiallyConsistent)
    passages.add(1, ordering: .sequentiallyConsistent)
  }

  /// The most that were ever inside at once.
  var most: Int { highest.load(ordering: .sequentiallyConsistent) }

  /// How many have left again.
  var total: Int { passages.load(ordering: .sequentiallyConsistent) }
}
