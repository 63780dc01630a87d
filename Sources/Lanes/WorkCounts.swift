import Synchronization

/// What a pool tells the operator of the requests that it works for.
package final class WorkCounts: Sendable {
  let running = Atomic(0)
  private let gone = Atomic(0)
  private let overdrawn = Atomic(0)
  private let costly = Atomic(0)
  private let stopping = Atomic(0)
  private let paid = Atomic<Int64>(0)
  private let overspent = Atomic<Int64>(0)
  private let longest = Atomic<Int64>(0)

  init() {}

  /// Requests that are worked for: also those whose client has gone, until their work has ended.
  package var runningCount: Int { running.load(ordering: .relaxed) }

  /// How many were ended early, and why.
  package func endedCount(_ reason: Work.Ending) -> Int {
    switch reason {
    case .gone: gone.load(ordering: .relaxed)
    case .overdrawn: overdrawn.load(ordering: .relaxed)
    case .costly: costly.load(ordering: .relaxed)
    case .stopping: stopping.load(ordering: .relaxed)
    }
  }

  /// The longest piece of work without giving way since this was last asked, in nanoseconds.
  package func takeLongestSlice() -> Int64 { longest.exchange(0, ordering: .relaxed) }

  /// Processor time of requests whose account was positive, and of the others, in nanoseconds.
  package var nanoseconds: (paid: Int64, overdrawn: Int64) {
    (paid.load(ordering: .relaxed), overspent.load(ordering: .relaxed))
  }

  func note(_ nanoseconds: Int64, isPaid: Bool) {
    if isPaid {
      paid.add(nanoseconds, ordering: .relaxed)
    } else {
      overspent.add(nanoseconds, ordering: .relaxed)
    }
  }

  func noteEnd(_ reason: Work.Ending) {
    switch reason {
    case .gone: gone.add(1, ordering: .relaxed)
    case .overdrawn: overdrawn.add(1, ordering: .relaxed)
    case .costly: costly.add(1, ordering: .relaxed)
    case .stopping: stopping.add(1, ordering: .relaxed)
    }
  }

  func note(slice nanoseconds: Int64) {
    if nanoseconds > longest.load(ordering: .relaxed) {
      longest.store(nanoseconds, ordering: .relaxed)
    }
  }
}
