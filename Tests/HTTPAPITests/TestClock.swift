import Documents
import Synchronization

/// A wall clock that stands still until a test moves it.
final class TestClock: Sendable {
  private let moment = Mutex(Timestamp(seconds: 1_800_000_000))

  /// What the clock shows.
  var now: Timestamp { moment.withLock { $0 } }

  /// Moves the clock on.
  func advance(seconds: Int64) {
    moment.withLock { $0 = $0.adding(seconds: seconds) }
  }
}
