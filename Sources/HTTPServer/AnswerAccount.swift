import NIOCore

/// Accounts for the long answers on a connection: their bytes in the memory that ``Admission`` counts, and the rate at
/// which the client takes them. It ignores answers of at most ``RequestLimits/answerPieceBytes``.
struct AnswerAccount {
  private let limits: ConnectionLimits
  private let admission: Admission
  /// Bytes that are accounted for: not written yet, or not taken by the client.
  private var bytes = 0
  /// The part of these bytes that the current answer has not written yet.
  private var unwritten = 0
  /// The rate at which the client takes them.
  private var pace: AnswerPace?
  /// Whether a refusal replaced the current answer; its body is then discarded.
  private var isReplaced = false

  /// An account without answers.
  init(_ limits: ConnectionLimits, _ admission: Admission) {
    self.limits = limits
    self.admission = admission
  }

  /// The deadline for the next bytes; nil while the client waits for the server.
  var due: NIODeadline? { pace?.due }

  /// Begins an answer of known length.
  /// - Parameter length: its `Content-Length`.
  /// - Returns: whether there is memory for it until the client has taken it. If not, its body is discarded.
  mutating func begin(_ length: String) -> Bool {
    // A number of four digits or fewer is below the limit.
    guard length.utf8.count > 4, let count = Int(length), count > RequestLimits.answerPieceBytes
    else { return true }
    guard admission.reserveAnswer(count) else {
      isReplaced = true
      return false
    }
    bytes += count
    unwritten = count
    return true
  }

  /// How to write a part of the body of an answer.
  enum PieceAction: Equatable {
    /// Don't write it: a refusal replaced its answer.
    case drop
    /// Write it at once.
    case whole
    /// Write it in pieces of ``RequestLimits/answerPieceBytes``. Report each of them with ``wrote(_:)`` and
    /// ``took(_:at:)``, which show whether and how fast the client takes them.
    case pieces
  }

  /// Decides how a part of an answer's body is written.
  mutating func write(_ count: Int, at now: NIODeadline) -> PieceAction {
    guard !isReplaced else { return .drop }
    guard count > RequestLimits.answerPieceBytes || unwritten > 0 else { return .whole }
    if unwritten > 0 {
      if pace == nil { pace = AnswerPace(limits, at: now) }
      pace?.resume(at: now)
    }
    return .pieces
  }

  /// Notes that a piece is written to the channel.
  /// - Returns: how many of its bytes are accounted for.
  mutating func wrote(_ count: Int) -> Int {
    let given = min(count, unwritten)
    unwritten -= given
    return given
  }

  /// Notes that the write of a piece has succeeded, or has failed with its connection.
  mutating func took(_ count: Int, at now: NIODeadline) {
    settle(count)
    pace?.took(count, at: now, isAll: bytes == unwritten)
    if bytes == 0 { pace = nil }
  }

  /// Ends the current answer, perhaps before all its bytes are written.
  mutating func end() {
    settle(unwritten)
    unwritten = 0
    if bytes == 0 { pace = nil }
    isReplaced = false
  }

  /// Stops watching the rate at which the client takes answers.
  mutating func forgetPace() { pace = nil }

  /// Gives back all bytes that are accounted for.
  mutating func release() {
    settle(bytes)
    unwritten = 0
    pace = nil
  }

  private mutating func settle(_ count: Int) {
    let given = min(count, bytes)
    bytes -= given
    admission.releaseAnswer(given)
  }
}

/// The rate at which a client has to take a long answer. It may first pause for ``ConnectionLimits/stall``. No time
/// counts while the client has taken all that was written: it waits for the server then.
struct AnswerPace {
  private let limits: ConnectionLimits
  private var end: NIODeadline
  private var pause: NIODeadline?

  /// An answer that begins.
  init(_ limits: ConnectionLimits, at now: NIODeadline) {
    self.limits = limits
    end = now + limits.stall
  }

  /// The deadline for the next bytes; nil while the client waits for the server.
  var due: NIODeadline? { pause == nil ? end : nil }

  /// Notes that the client, or a buffer on the way to it, took bytes. They extend the deadline, at most to a full pause
  /// from now.
  /// - Parameter isAll: whether all that was written is taken.
  mutating func took(_ bytes: Int, at now: NIODeadline, isAll: Bool) {
    end = min(
      end + ConnectionLimits.time(for: bytes, at: limits.answerRate), now + limits.stall)
    if isAll { pause = now }
  }

  /// Notes that the server writes more.
  mutating func resume(at now: NIODeadline) {
    if let pause { end = end + (now - pause) }
    pause = nil
  }
}
