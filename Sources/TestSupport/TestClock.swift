package import Documents
import NIOConcurrencyHelpers

/// A wall clock and an uptime that stand still until a test moves them.
package final class TestClock: Sendable {
  private let moment = NIOLockedValueBox(Timestamp(seconds: 1_800_000_000))
  private let age = NIOLockedValueBox(Duration.zero)
  private let start = ContinuousClock.now

  /// A clock that shows the second 1,800,000,000.
  package init() {}

  /// What the wall clock shows.
  package var now: Timestamp { moment.withLockedValue { $0 } }

  /// What no step of the wall clock changes.
  package var uptime: ContinuousClock.Instant { start + age.withLockedValue { $0 } }

  /// Moves both on, or back.
  package func advance(seconds: Int64) {
    step(seconds: seconds)
    advanceUptime(by: .seconds(seconds))
  }

  /// Moves the uptime alone.
  package func advanceUptime(by duration: Duration) { age.withLockedValue { $0 += duration } }

  /// Sets the wall clock alone, ahead or back.
  package func step(seconds: Int64) { moment.withLockedValue { $0 = $0.adding(seconds: seconds) } }
}
