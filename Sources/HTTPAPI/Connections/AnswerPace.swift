import NIOCore

/// How a long answer is taken: at a rate, after a pause as long as a client may take nothing. While the client has
/// taken all that was given, it is the server that is waited for.
struct AnswerPace {
  private let limits: ConnectionLimits
  private var end: NIODeadline
  private var pause: NIODeadline?

  /// An answer that begins.
  init(_ limits: ConnectionLimits, at now: NIODeadline) {
    self.limits = limits
    end = now + limits.stall
  }

  /// When it is too late for the next bytes; nil while the server is waited for.
  var due: NIODeadline? { pause == nil ? end : nil }

  /// The client, or the buffers on the way to it, took bytes: they buy time, as much as the pause.
  /// - Parameter isAll: whether nothing more was given yet.
  mutating func took(_ bytes: Int, at now: NIODeadline, isAll: Bool) {
    end = min(
      end + ConnectionLimits.time(for: bytes, at: limits.answerRate), now + limits.stall)
    if isAll { pause = now }
  }

  /// More is given.
  mutating func goOn(at now: NIODeadline) {
    if let pause { end = end + (now - pause) }
    pause = nil
  }
}
