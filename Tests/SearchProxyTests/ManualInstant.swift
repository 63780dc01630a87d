import Synchronization

/// A clock that changes only when a test sets it.
final class ManualInstant: Sendable {
  private let time: Mutex<ContinuousClock.Instant>

  init(_ time: ContinuousClock.Instant) { self.time = Mutex(time) }

  var now: ContinuousClock.Instant { time.withLock { $0 } }

  func set(_ time: ContinuousClock.Instant) { self.time.withLock { $0 = time } }
}
