package import Documents
import Stores

/// The progress of the walk over all stores that removes unusable data, and the clock by which the walk decides.
///
/// A local document of the system store, `{"epoch","time","since","begun","position"}`, with times in milliseconds.
/// When its epoch is not the store's, it comes from a backup and is replaced by a new one.
package struct SweepState: Sendable, Equatable {
  static let id = LocalID(receipt: "sweep")

  package var clock: SweepClock
  /// When the last round began; nil before the first.
  package var begun: Timestamp?
  /// The key of the store that the present round has reached; nil when no round is in progress.
  package var position: String?

  /// The state before the first sweep.
  package init(at now: Timestamp) { clock = SweepClock(at: now) }

  /// Reads a state; nil for one with another epoch.
  init?(_ document: LocalDocument, epoch: String) {
    guard let value = try? JSONValue(parsing: document.body, limits: .small),
      value["epoch"]?.string?.equalsBytes(of: epoch) == true, let time = value["time"]?.int,
      let since = value["since"]?.int
    else { return nil }
    clock = SweepClock(
      time: Timestamp(milliseconds: Int64(time)), since: Timestamp(milliseconds: Int64(since)))
    begun = (value["begun"]?.int).map { Timestamp(milliseconds: Int64($0)) }
    position = value["position"]?.string
  }

  /// The state's JSON.
  func body(epoch: String) -> [UInt8] {
    func number(_ time: Timestamp) -> JSONValue { .number(JSONNumber(Int(time.milliseconds))) }
    var object: JSONObject = [
      "epoch": .string(epoch), "time": number(clock.time), "since": number(clock.since),
    ]
    if let begun { object.append("begun", number(begun)) }
    if let position { object.append("position", .string(position)) }
    return JSONValue.object(object).bytes
  }
}

/// The clock by which the sweep decides what no one can use any more.
///
/// It is never ahead of the wall clock, and runs at most twice as fast as the server's uptime. So a clock that is set
/// wrong removes nothing before the operator has had days to notice. When it is more than ``longestGap`` behind (the
/// wall clock was never right before, or the server was off for long), it is set to the wall clock's time, and
/// everything counts as used at that time.
package struct SweepClock: Sendable, Equatable {
  /// How many times faster than the server's uptime it may run.
  static let maximumSpeed: Int64 = 2
  /// How far it may be behind the wall clock, in seconds: 30 days.
  static let longestGap: Int64 = 30 * 86_400

  private(set) var time: Timestamp
  /// When the clock was started. Nothing counts as last used before.
  private(set) var since: Timestamp

  init(at now: Timestamp) { self.init(time: now, since: now) }

  init(time: Timestamp, since: Timestamp) { (self.time, self.since) = (time, since) }

  /// Moves the clock on.
  /// - Parameter now: the wall clock's time.
  /// - Parameter seconds: how long the server has run since the last call, by a monotonic clock.
  package mutating func advance(to now: Timestamp, afterRunning seconds: Int64) {
    guard time < now else { return }
    if time.adding(seconds: Self.longestGap) < now {
      self = SweepClock(at: now)
    } else {
      let (step, isFar) = max(0, seconds).multipliedReportingOverflow(by: Self.maximumSpeed)
      time = min(now, time.adding(seconds: isFar ? .max : step))
    }
  }

  /// Whether at least so many seconds have passed since something was last used.
  /// - Parameter now: the wall clock's time.
  package func isOver(_ used: Timestamp, for seconds: Int64, at now: Timestamp) -> Bool {
    end(of: used, for: seconds) <= moment(at: now)
  }

  /// The time with which expiry times are compared: the earlier of this clock and the wall clock.
  package func moment(at now: Timestamp) -> Timestamp { min(time, now) }

  /// When so many seconds will have passed since something was last used.
  func end(of used: Timestamp, for seconds: Int64) -> Timestamp {
    max(used, since).adding(seconds: seconds)
  }
}
