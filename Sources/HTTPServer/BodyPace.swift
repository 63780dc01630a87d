import NIOCore

/// How a body comes: it has to keep to a rate, may pause for a while, and has to end some day. For rate and
/// pause only the time counts in which the server waits for the client; the end comes whoever waits.
struct BodyPace {
  private let limits: ConnectionLimits
  /// When it is too late for the next byte.
  private var due: NIODeadline
  /// When it is too late for the last byte.
  private var end: NIODeadline
  /// Since when the server reads nothing.
  private var paused: NIODeadline?
  /// Bytes that have come.
  private(set) var count = 0

  /// A body that begins.
  init(_ limits: ConnectionLimits, at now: NIODeadline) {
    self.limits = limits
    due = now + limits.bodyGrace
    end = now + limits.body
  }

  /// When to look again.
  var deadline: NIODeadline { paused == nil ? min(due, end) : end }

  /// Whether the client is too slow.
  func isLate(at now: NIODeadline) -> Bool { now >= deadline }

  /// Takes bytes: they buy time, as much as the pause that a body may make.
  mutating func came(_ bytes: Int, at now: NIODeadline) {
    count += bytes
    due = min(due + ConnectionLimits.time(for: bytes, at: limits.bodyRate), now + limits.bodyGrace)
  }

  /// The server stops reading, or begins again.
  mutating func isRead(_ reads: Bool, at now: NIODeadline) {
    if !reads {
      paused = paused ?? now
    } else if let since = paused {
      paused = nil
      due = due + (now - since)
    }
  }

  /// The server stops: the body has to end within the time that it might pause.
  mutating func hurry(at now: NIODeadline) {
    end = min(end, now + limits.bodyGrace)
  }

  /// The body may take any time, unless the server stops.
  mutating func goOnForEver(stopping: Bool) {
    if !stopping { end = .distantFuture }
  }

  /// The client may have waited for leave to send.
  mutating func restart(at now: NIODeadline) {
    due = now + limits.bodyGrace
  }
}
