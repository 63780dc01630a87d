package import Documents
import NIOConcurrencyHelpers

/// A node's copy of the database's clock.
///
/// All nodes store and compare times of this clock, because a node's own wall clock may be wrong. Between two readings
/// the node measures the elapsed time with its monotonic clock, which nobody can set.
package final class DatabaseClock: Sendable {
  private struct Reading {
    let time: Timestamp
    let at: ContinuousClock.Instant
  }

  private let last: NIOLockedValueBox<Reading>

  /// Creates a clock that shows `time` at `instant`.
  init(_ time: Timestamp, at instant: ContinuousClock.Instant) {
    last = NIOLockedValueBox(Reading(time: time, at: instant))
  }

  /// The present time, to the millisecond.
  @Sendable package func now() -> Timestamp { now(at: .now) }

  func now(at instant: ContinuousClock.Instant) -> Timestamp {
    let reading = last.withLockedValue { $0 }
    let passed = reading.at.duration(to: instant).components
    let milliseconds = passed.seconds * 1_000 + passed.attoseconds / 1_000_000_000_000_000
    return Timestamp(milliseconds: reading.time.milliseconds + milliseconds)
  }

  /// Sets the clock to a reading of the database.
  /// - Parameter time: the database's time at a moment between `asked` and `answered`.
  func note(_ time: Timestamp, asked: ContinuousClock.Instant, answered: ContinuousClock.Instant) {
    // The error is at most half of the time that the answer took.
    let middle = asked + asked.duration(to: answered) / 2
    last.withLockedValue { $0 = Reading(time: time, at: middle) }
  }
}

extension Statement {
  /// The database's time in milliseconds since 1970.
  static let time = Statement("SELECT \(sqlTime)")
  /// The SQL expression for this time.
  static let sqlTime = "(extract(epoch FROM clock_timestamp()) * 1000)::int8"
}
