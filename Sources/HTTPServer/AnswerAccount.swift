import NIOCore

/// Accounts for the answers on a connection, or on an HTTP/2 stream: their bytes in the memory that ``Admission`` shares
/// among addresses, and the rate at which the client takes them.
struct AnswerAccount {
  private let limits: ConnectionLimits
  private let admission: Admission
  /// Whether this is an HTTP/2 stream. The client decides how many of them wait on one connection, and its receive window
  /// holds back even the shortest answer (RFC 9113, section 5.2). Answers on an HTTP/1 connection follow each other, so
  /// one short answer is always admitted.
  private let isStream: Bool
  private var address: AddressShare?
  /// What the whole connection holds.
  private var connection = HeldBytes()
  /// Bytes that are accounted for: of the stream, not written yet, or not taken by the client.
  private var bytes = 0
  /// The part of these bytes that the current answer has not written yet.
  private var unwritten = 0
  /// The part of these bytes that is written and not taken.
  private var untaken = 0
  /// The rate at which the client takes them.
  private var pace: AnswerPace?
  private var hasLength = false
  /// Whether a refusal replaced the current answer; its body is then discarded.
  private var isReplaced = false

  init(_ limits: ConnectionLimits, _ admission: Admission, isStream: Bool) {
    self.limits = limits
    self.admission = admission
    self.isStream = isStream
  }

  /// The deadline for the next bytes; nil while the client waits for the server.
  var due: NIODeadline? { pace?.due }

  /// Notes whose account it is.
  /// - Parameter address: the client's address; nil for an address of many people.
  /// - Parameter connection: the bytes of answers on the whole connection.
  mutating func begin(from address: AddressShare?, on connection: HeldBytes) {
    (self.address, self.connection) = (address, connection)
  }

  /// Counts the stream itself, before its request is answered.
  /// - Returns: whether there is memory for it.
  mutating func openStream() -> Bool { !isStream || reserve(RequestLimits.streamBytes) }

  /// Begins an answer of known length.
  /// - Parameter length: its `Content-Length`.
  /// - Returns: whether there is memory for it until the client has taken it. If not, its body is discarded.
  mutating func begin(_ length: String) -> Bool {
    hasLength = true
    let count = Int(length) ?? 0
    guard reserve(count) else {
      isReplaced = true
      return false
    }
    unwritten = count
    return true
  }

  /// How to write a part of the body of an answer.
  enum PieceAction: Equatable {
    /// Don't write it: a refusal replaced its answer.
    case drop
    /// Write it in pieces of ``RequestLimits/answerPieceBytes``. Report each of them with ``wrote(_:)`` and
    /// ``took(_:at:)``, which show whether and how fast the client takes them.
    case pieces
    /// Close the connection: there is no memory for the next part of an answer without a length.
    case cut
  }

  /// Decides how a part of an answer's body is written.
  mutating func write(_ count: Int, at now: NIODeadline) -> PieceAction {
    guard !isReplaced else { return .drop }
    if count > unwritten {
      guard reserve(count - unwritten) else { return .cut }
      unwritten = count
    }
    if count > 0 {
      if pace == nil { pace = AnswerPace(limits, hasLength: hasLength, at: now) }
      pace?.resume(at: now)
    }
    return .pieces
  }

  /// Notes that a piece is written to the channel.
  /// - Returns: how many of its bytes are accounted for.
  mutating func wrote(_ count: Int) -> Int {
    let given = min(count, unwritten)
    unwritten -= given
    untaken += given
    return given
  }

  /// Notes that the write of a piece has succeeded, or has failed with its connection.
  mutating func took(_ count: Int, at now: NIODeadline) {
    let given = min(count, untaken)
    untaken -= given
    settle(given)
    pace?.took(count, at: now, isAll: untaken == 0)
    endPace()
  }

  /// Ends the current answer, perhaps before all its bytes are written.
  mutating func end() {
    settle(unwritten)
    unwritten = 0
    endPace()
    (isReplaced, hasLength) = (false, false)
  }

  private mutating func endPace() {
    if unwritten == 0, untaken == 0 { pace = nil }
  }

  /// Stops watching the rate at which the client takes answers.
  mutating func forgetPace() { pace = nil }

  /// Gives back all bytes that are accounted for.
  mutating func release() {
    settle(bytes)
    (unwritten, untaken, pace) = (0, 0, nil)
  }

  private mutating func reserve(_ count: Int) -> Bool {
    let isShort = !isStream && bytes + count <= RequestLimits.answerPieceBytes
    guard admission.reserveAnswer(count, always: isShort, from: address, on: connection)
    else { return false }
    bytes += count
    return true
  }

  private mutating func settle(_ count: Int) {
    let given = min(count, bytes)
    bytes -= given
    admission.releaseAnswer(given, from: address, on: connection)
  }
}

/// The rate at which a client has to take an answer. It may first pause for ``ConnectionLimits/stall``. No time counts
/// while the client has taken all that was written: it waits for the server then.
struct AnswerPace {
  private let limits: ConnectionLimits
  /// Whether the answer has a length. A feed may last for days, so each of its pieces has its own full pause.
  private let hasLength: Bool
  private var end: NIODeadline
  private var pause: NIODeadline?

  init(_ limits: ConnectionLimits, hasLength: Bool, at now: NIODeadline) {
    self.limits = limits
    self.hasLength = hasLength
    end = now + limits.stall
  }

  /// The deadline for the next bytes; nil while the client waits for the server.
  var due: NIODeadline? { pause == nil ? end : nil }

  /// Notes that the client, or a buffer on the way to it, took bytes. They extend the deadline, at most to a full pause
  /// from now.
  /// - Parameter isAll: whether all that was written is taken.
  mutating func took(_ bytes: Int, at now: NIODeadline, isAll: Bool) {
    let next = end + ConnectionLimits.time(for: bytes, at: limits.answerRate)
    end = hasLength ? min(next, now + limits.stall) : now + limits.stall
    if isAll { pause = now }
  }

  /// Notes that the server writes more.
  mutating func resume(at now: NIODeadline) {
    if let pause { end = end + (now - pause) }
    pause = nil
  }
}
