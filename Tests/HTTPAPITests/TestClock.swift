import Documents
import Synchronization

/// A wall clock and an uptime that stand still until a test moves them.
final class TestClock: Sendable {
  private let moment = Mutex(Timestamp(seconds: 1_800_000_000))
  private let age = Mutex(Duration.zero)
  private let start = ContinuousClock.now

  /// What the wall clock shows.
  var now: Timestamp { moment.withLock { $0 } }

  /// What no step of the wall clock changes.
  var uptime: ContinuousClock.Instant { start + age.withLock { $0 } }

  /// Moves both on.
  func advance(seconds: Int64) {
    step(seconds: seconds)
    age.withLock { $0 += .seconds(seconds) }
  }

  /// Sets the wall clock alone, ahead or back.
  func step(seconds: Int64) {
    moment.withLock { $0 = $0.adding(seconds: seconds) }
  }
}
