import NIOCore

/// The pace of an arriving body. It has a minimum rate, may pause for a while, and has to end within a time, which grows
/// with what has come. For the rate and the pause only the time counts in which the server waits for the client. The time
/// to the end always counts.
struct BodyPace {
  private let limits: ConnectionLimits
  /// When the head was read.
  let began: NIODeadline
  /// The deadline for the next byte.
  private var due: NIODeadline
  /// The deadline for the last byte.
  private var end: NIODeadline
  /// Whether bytes that come extend the deadline for the last one.
  private var isExtended = true
  /// Since when the server has not been reading.
  private var paused: NIODeadline?
  /// Bytes that have come, and in how many pieces.
  private(set) var (count, pieces) = (0, 0)

  init(_ limits: ConnectionLimits, at now: NIODeadline) {
    self.limits = limits
    began = now
    due = now + limits.bodyGrace
    end = now + limits.body
  }

  var deadline: NIODeadline { paused == nil ? min(due, end) : end }

  /// Whether the client is too slow.
  func isLate(at now: NIODeadline) -> Bool { now >= deadline }

  /// Whether there are more pieces than a body of this length may have.
  var isScattered: Bool {
    pieces > RequestLimits.bodyPieces + count / RequestLimits.bytesPerBodyPiece
  }

  /// Counts a piece. Its bytes extend the deadline for the next one, at most to a full pause from now, and that for the
  /// last one.
  mutating func receive(_ bytes: Int, at now: NIODeadline) {
    count += bytes
    pieces += 1
    let time = ConnectionLimits.time(for: bytes, at: limits.bodyRate)
    due = min(due + time, now + limits.bodyGrace)
    if isExtended { end = end + time }
  }

  /// Notes that the server stops reading or begins again.
  mutating func isRead(_ reads: Bool, at now: NIODeadline) {
    if !reads {
      paused = paused ?? now
    } else if let since = paused {
      paused = nil
      due = due + (now - since)
    }
  }

  /// Notes that the server stops: the body has to end soon.
  mutating func shortenDeadline(at now: NIODeadline) {
    isExtended = false
    end = min(end, now + limits.bodyAtStop)
  }

  /// Removes the time limit of the body, unless the server stops.
  mutating func removeTimeLimit(stopping: Bool) {
    guard !stopping else { return }
    isExtended = false
    end = .distantFuture
  }

  /// Begins a new pause, because the client may have waited for `100 Continue`.
  mutating func restart(at now: NIODeadline) { due = now + limits.bodyGrace }
}
