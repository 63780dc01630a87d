package import Documents
import NIOConcurrencyHelpers

/// A wall clock and an uptime that change only when a test changes them.
package final class TestClock: Sendable {
  private let moment = NIOLockedValueBox(Timestamp(seconds: 1_800_000_000))
  private let age = NIOLockedValueBox(Duration.zero)
  private let start = ContinuousClock.now

  /// Makes a clock at second 1,800,000,000.
  package init() {}

  /// The wall clock's time.
  package var now: Timestamp { moment.withLockedValue { $0 } }

  /// The uptime. Changes of the wall clock do not affect it.
  package var uptime: ContinuousClock.Instant { start + age.withLockedValue { $0 } }

  /// Moves both forward or back.
  package func advance(seconds: Int64) {
    step(seconds: seconds)
    advanceUptime(by: .seconds(seconds))
  }

  /// Moves only the uptime.
  package func advanceUptime(by duration: Duration) { age.withLockedValue { $0 += duration } }

  /// Moves only the wall clock, forward or back.
  package func step(seconds: Int64) { moment.withLockedValue { $0 = $0.adding(seconds: seconds) } }
}
