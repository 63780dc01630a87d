import NIOConcurrencyHelpers
import Synchronization

/// What is counted about requests, for the operator.
package final class WorkCounts: Sendable {
  let running = Atomic(0)
  private let ended = NIOLockedValueBox<[Work.Ending: Int]>([:])
  private let paid = Atomic<Int64>(0)
  private let overspent = Atomic<Int64>(0)
  private let longest = Atomic<Int64>(0)

  init() {}

  /// How many requests are worked for. A request whose client has gone counts until its work has ended.
  package var runningCount: Int { running.load(ordering: .relaxed) }

  /// How many requests were ended early for this reason.
  package func endedCount(_ reason: Work.Ending) -> Int {
    ended.withLockedValue { $0[reason] ?? 0 }
  }

  /// The longest time of work without giving way since the last call, in nanoseconds.
  package func takeLongestSlice() -> Int64 { longest.exchange(0, ordering: .relaxed) }

  /// The processor time of requests whose account was positive, and of requests whose account was overdrawn, in
  /// nanoseconds.
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

  func noteEnd(_ reason: Work.Ending) { ended.withLockedValue { $0[reason, default: 0] += 1 } }

  func note(slice nanoseconds: Int64) { longest.max(nanoseconds, ordering: .relaxed) }
}
