package import Documents
import NIOConcurrencyHelpers

/// The clock of the database, as a node knows it.
///
/// All nodes store and compare times of this clock, because a node's own wall clock may be wrong. Between two
/// readings the node's uptime tells how much time has passed; nobody sets that.
package final class DatabaseClock: Sendable {
  private struct Reading {
    let time: Timestamp
    let at: ContinuousClock.Instant
  }

  private let last: NIOLockedValueBox<Reading>

  /// A clock that shows a time from now on.
  init(_ time: Timestamp, at instant: ContinuousClock.Instant) {
    last = NIOLockedValueBox(Reading(time: time, at: instant))
  }

  /// The present time, with milliseconds.
  @Sendable package func now() -> Timestamp { now(at: .now) }

  func now(at instant: ContinuousClock.Instant) -> Timestamp {
    let reading = last.withLockedValue { $0 }
    let passed = reading.at.duration(to: instant).components
    let milliseconds = passed.seconds * 1_000 + passed.attoseconds / 1_000_000_000_000_000
    return Timestamp(milliseconds: reading.time.milliseconds + milliseconds)
  }

  /// Takes a reading of the database.
  /// - Parameter time: the database's time at some moment between `asked` and `answered`.
  func note(
    _ time: Timestamp, asked: ContinuousClock.Instant, answered: ContinuousClock.Instant
  ) {
    // The error is at most half of the time that the answer took.
    let middle = asked + asked.duration(to: answered) / 2
    last.withLockedValue { $0 = Reading(time: time, at: middle) }
  }
}

extension Statement {
  /// The database's time in milliseconds since 1970.
  static let time = Statement("time", "SELECT \(sqlTime)")
  /// The same as an expression.
  static let sqlTime = "(extract(epoch FROM clock_timestamp()) * 1000)::int8"
}
