import NIOCore

/// The account of the long answers on a connection: their bytes in the memory that ``Admission`` counts, and how fast
/// the client takes them. An answer of up to ``RequestLimits/answerPieceBytes`` costs none of this.
struct AnswerAccount {
  private let limits: ConnectionLimits
  private let admission: Admission
  /// Bytes that are accounted for: not given yet, or not taken.
  private var bytes = 0
  /// Of these, the bytes that the answer on its way has still to give.
  private var unwritten = 0
  /// How the client takes them.
  private var pace: AnswerPace?
  /// Whether the answer on its way was replaced by a refusal, and its body is thrown away.
  private var isReplaced = false

  /// An account without answers.
  init(_ limits: ConnectionLimits, _ admission: Admission) {
    self.limits = limits
    self.admission = admission
  }

  /// When it is too late for the next bytes; nil while the server is waited for.
  var due: NIODeadline? { pace?.due }

  /// An answer of known length begins.
  /// - Parameter length: its `Content-Length`.
  /// - Returns: whether there is memory for it until the client has taken it; if not, its body is thrown away.
  mutating func begin(_ length: String) -> Bool {
    // Shorter numbers are none that count.
    guard length.utf8.count > 4, let count = Int(length), count > RequestLimits.answerPieceBytes
    else { return true }
    guard admission.takeAnswer(count) else {
      isReplaced = true
      return false
    }
    bytes += count
    unwritten = count
    return true
  }

  /// How to write a part of the body of an answer.
  enum PieceAction: Equatable {
    /// Not at all: its answer was replaced.
    case drop
    /// In one go.
    case whole
    /// In pieces of ``RequestLimits/answerPieceBytes``, each of them told (``give(_:)``, ``took(_:at:)``), so that it
    /// is seen whether the client takes any, and how fast.
    case pieces
  }

  /// A part of the body of an answer is to be written.
  mutating func write(_ count: Int, at now: NIODeadline) -> PieceAction {
    guard !isReplaced else { return .drop }
    guard count > RequestLimits.answerPieceBytes || unwritten > 0 else { return .whole }
    if unwritten > 0 {
      if pace == nil { pace = AnswerPace(limits, at: now) }
      pace?.goOn(at: now)
    }
    return .pieces
  }

  /// A piece is written.
  /// - Returns: how many of its bytes are accounted for.
  mutating func give(_ count: Int) -> Int {
    let given = min(count, unwritten)
    unwritten -= given
    return given
  }

  /// A piece is on its way, or lost with its connection.
  mutating func took(_ count: Int, at now: NIODeadline) {
    settle(count)
    pace?.took(count, at: now, isAll: bytes == unwritten)
    if bytes == 0 { pace = nil }
  }

  /// The answer on its way ends, maybe before it gave all its bytes.
  mutating func end() {
    settle(unwritten)
    unwritten = 0
    if bytes == 0 { pace = nil }
    isReplaced = false
  }

  /// Nobody looks any more how the client takes them.
  mutating func forgetPace() { pace = nil }

  /// Gives everything back.
  mutating func release() {
    settle(bytes)
    unwritten = 0
    pace = nil
  }

  private mutating func settle(_ count: Int) {
    let given = min(count, bytes)
    bytes -= given
    admission.giveAnswer(given)
  }
}

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
