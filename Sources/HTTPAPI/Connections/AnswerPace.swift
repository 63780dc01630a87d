import NIOCore

/// How a long answer is taken: at a rate, after a pause as long as a client may take nothing. The answer is in
/// memory whole, so that nobody waits for the server.
struct AnswerPace {
  private let limits: ConnectionLimits
  /// When it is too late for the next bytes.
  private(set) var due: NIODeadline

  /// An answer that begins.
  init(_ limits: ConnectionLimits, at now: NIODeadline) {
    self.limits = limits
    due = now + limits.stall
  }

  /// The client, or the buffers on the way to it, took bytes: they buy time, as much as the pause.
  mutating func took(_ bytes: Int, at now: NIODeadline) {
    due = min(
      due + ConnectionLimits.time(for: bytes, at: limits.answerRate), now + limits.stall)
  }
}
