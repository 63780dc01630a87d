import HTTPTypes
import NIOCore

/// The limits of the requests and answers on one connection, or on one HTTP/2 stream, as a value. Each event returns an
/// action that ``RequestLimitHandler`` carries out. The value uses neither a channel nor a clock: callers pass the
/// time.
///
/// A client may send requests before earlier ones are answered (pipelining). The first of them holds one slot among the
/// running requests that ``Admission`` counts.
struct RequestLimitStateMachine {
  /// How many bytes of a refused request are read before the connection is closed.
  static let refusedBytes = 1 << 20

  private let limits: ConnectionLimits
  private let admission: Admission
  /// Whether this is an HTTP/2 stream, which has one request.
  private let isStream: Bool
  /// The running requests of the client's address; nil for a proxy, which forwards requests of many people.
  private var address: AddressShare?
  /// What the connection has, with all of its streams.
  private var connection = ConnectionShare()

  /// The request whose head was read last.
  private var last: OutstandingRequest?
  /// Requests that were passed on and are not completely answered, the oldest first.
  private var requests = CircularBuffer<OutstandingRequest>(initialCapacity: 2)
  /// The pace of the body that is arriving; nil between requests.
  private var pace: BodyPace?
  /// Whether the current answer has begun.
  private var hasAnswer = false
  /// When the wait for the current answer began; nil while there is no such wait.
  private var waiting: NIODeadline?
  /// Whether the request that is arriving is refused, or already answered at once.
  private var isRefusing = false
  /// Whether the route reads the arriving body as it comes.
  private var isStreamed = false
  /// Whether the request that is arriving was answered at once.
  private var isAnsweredAtOnce = false
  /// Whether the current answer is the last of the connection.
  private(set) var closes = false
  /// Whether nothing more is read or written, apart from what is already written.
  private(set) var isOver = false
  /// Whether a slot among the running requests is held.
  private var holdsSlot = false
  /// Since when the channel has not been writable, or the last answer has not been taken.
  private var stuck: NIODeadline?
  /// The answers that the client has not taken yet.
  var answerAccount: AnswerAccount
  /// When the connection is closed in any case; nil until the server stops.
  private var cutoff: NIODeadline?

  init(_ limits: ConnectionLimits, _ admission: Admission, isStream: Bool) {
    self.limits = limits
    self.admission = admission
    self.isStream = isStream
    answerAccount = AnswerAccount(limits, admission, isStream: isStream)
  }

  /// How many requests were passed on and are not completely answered.
  var outstanding: Int { requests.count }

  /// The oldest of them.
  var first: OutstandingRequest? { requests.first }

  /// The request that is being answered or refused.
  var answered: HTTPRequest? { (requests.first ?? last)?.head }

  /// Notes that the connection or stream begins.
  /// - Parameter text: the client's address; nil for a proxy.
  /// - Parameter connection: what the connection of a stream holds; nil for a connection of HTTP/1.
  mutating func begin(from text: String?, on connection: ConnectionShare? = nil) {
    address = text.map(admission.share)
    if let connection { self.connection = connection }
    answerAccount.begin(from: address, on: self.connection.answers)
  }

  // MARK: Requests

  /// Decides about the head of a request.
  /// - Parameter request: the request, without a ``RequestReservation``.
  mutating func readHead(_ request: OutstandingRequest, at now: NIODeadline) -> HeadAction {
    guard !isOver, !closes || outstanding == 0 else { return .ignore }
    guard answerAccount.openStream() else { return .close }
    if last == nil { cutoff = cutoff.map { $0 - limits.linger + limits.stop } }
    last = request
    pace = BodyPace(limits, at: now)
    if cutoff != nil { pace?.shortenDeadline(at: now) }
    isStreamed = false
    guard outstanding == 0 else { return .forward(append(request)) }
    hasAnswer = false
    return .ask
  }

  /// Notes that the request is answered at once, without admission.
  mutating func answerAtOnce() {
    refuse()
    isAnsweredAtOnce = true
    hasAnswer = true
    waiting = nil
  }

  /// Admits the request that was read last if there is a slot for it.
  mutating func admit(at now: NIODeadline) -> HeadAction {
    guard let last,
      admission.enter(always: last.isAlwaysAdmitted, from: address, on: connection)
    else {
      refuse()
      return .refuse
    }
    holdsSlot = true
    waiting = now
    return .forward(append(last))
  }

  private mutating func refuse() {
    isRefusing = true
    closes = closes || isStream || last?.isLast == true
  }

  private mutating func append(_ request: OutstandingRequest) -> RequestReservation {
    let reservation = RequestReservation(admission, from: address, on: connection)
    var request = request
    request.reservation = reservation
    requests.append(request)
    if !isStream, request.isLast { closes = true }
    return reservation
  }

  mutating func readBody(_ bytes: Int, at now: NIODeadline) -> BodyAction {
    guard !isOver, pace != nil else { return .ignore }
    pace?.receive(bytes, at: now)
    let count = pace?.count ?? 0
    if pace?.isScattered == true {
      let isAwaited = outstanding > 1 || outstanding == 1 && !hasAnswer
      return isAwaited && !isRefusing ? fail(.scattered, at: now) : .close
    }
    guard !isRefusing else { return count > Self.refusedBytes ? .close : .ignore }
    // A stream keeps every frame that nobody reads.
    guard !isStream || awaitsBody else { return .ignore }
    return holdsBody(count) ? .forward : fail(.overloaded, at: now)
  }

  mutating func readEnd(at now: NIODeadline) -> BodyAction {
    guard !isOver, let pace else { return .ignore }
    self.pace = nil
    guard !isRefusing else {
      defer { (isRefusing, isAnsweredAtOnce) = (false, false) }
      // Hummingbird's idle timer counts this answer, so it needs the end of the request. No other handler saw the head.
      return .endRefused(isPassedOn: isAnsweredAtOnce && !isStream, endsConnection: cutoff != nil)
    }
    if pace.count > 0 {
      let time = Int((now - pace.began).nanoseconds / 1_000_000)
      requests.last?.reservation?.bodyMilliseconds = time
      if !hasAnswer { waiting = now }
    }
    // The request gave its slot back while its body was arriving, and all slots may be taken now.
    return takesSlotAgain() ? .forward : fail(.overloaded, at: now)
  }

  /// Takes a slot again for a request that is complete, unless it has one or is already answered.
  private mutating func takesSlotAgain() -> Bool {
    guard outstanding > 0, !hasAnswer, !holdsSlot else { return true }
    // A request behind another one uses the one slot of its connection. A request whose body was read as it came has
    // done its work. Both are always admitted.
    let always = outstanding > 1 || isStreamed || last?.isAlwaysAdmitted ?? true
    holdsSlot = admission.enter(always: always, from: address, on: connection)
    return holdsSlot
  }

  private mutating func fail(_ refusal: ConnectionRefusal, at now: NIODeadline) -> BodyAction {
    pace = nil
    closes = true
    waiting = now
    return .fail(refusal)
  }

  /// Whether the route of the request that was read last waits for its body.
  private var awaitsBody: Bool { last?.awaitsBody ?? true }

  /// Notes that all bytes that have arrived were read.
  mutating func readComplete(at now: NIODeadline) {
    guard pace != nil else { return }
    pace?.isRead(false, at: now)
    // A slow client blocks no slot. If an earlier request is being answered, that one keeps the slot.
    if outstanding <= 1, awaitsBody { releaseSlot() }
  }

  /// Notes that the server reads again.
  mutating func read(at now: NIODeadline) { pace?.isRead(true, at: now) }

  /// Notes that the route is about to read the body.
  /// - Returns: whether to send `100 Continue` to a client that may wait for it.
  mutating func wantBody(at now: NIODeadline) -> Bool {
    guard !isOver, outstanding == 1, !hasAnswer, pace?.count == 0, requests.first?.isOld != true
    else { return false }
    pace?.restart(at: now)
    return true
  }

  /// Notes that the route reads the body as it comes: the body has no time limit and is not kept in memory.
  mutating func streamBody() {
    guard !isOver, outstanding == 1, !hasAnswer, pace != nil else { return }
    isStreamed = true
    pace?.removeTimeLimit(stopping: cutoff != nil)
    requests.first?.reservation?.releaseBody()
  }

  /// Notes that the route has done a part of its work: the time to the beginning of the answer begins again.
  mutating func noteProgress(at now: NIODeadline) {
    if waiting != nil { waiting = now }
  }

  /// Accounts for the arriving body, which belongs to the request that came last.
  /// - Parameter count: the bytes that have come.
  /// - Returns: whether there is memory for it.
  private mutating func holdsBody(_ count: Int) -> Bool {
    // A connection has many streams at once, so that short bodies of theirs are many, too. The body of a request that
    // is already answered is discarded.
    guard isStream || count > RequestReservation.freeBytes, !isStreamed,
      outstanding > 1 || !hasAnswer, !requests.isEmpty
    else { return true }
    let index = requests.index(before: requests.endIndex)
    guard requests[index].reservation?.reserveBody(count - requests[index].sentBytes) != false
    else { return false }
    requests[index].sentBytes = count
    return true
  }

  // MARK: Answers

  /// Decides about the head of an answer.
  /// - Parameter isParserError: whether the server itself answers what the parser refused; this head has no body yet.
  mutating func answerHead(_ head: HTTPResponse, isParserError: Bool) -> AnswerAction {
    if isParserError {
      guard outstanding > 0 || pace == nil else {
        isOver = true
        return .close
      }
      closes = true
    }
    hasAnswer = true
    waiting = nil
    guard !isParserError else { return .refuse }
    if head.headerFields.value(of: .connection) == "close" {
      // The requests behind this one are not answered.
      closes = true
      forgetRequests(behind: 1)
    }
    let isLast = closes && outstanding <= 1
    if let length = head.headerFields.value(of: .contentLength) {
      requests.first?.reservation?.releaseAnswer()
      guard answered?.method == .head || answerAccount.begin(length) else {
        return .replace(isLast: isLast)
      }
    } else {
      // An answer without a length lasts as long as its feed, so it holds no slot.
      releaseSlot()
    }
    return .write(isLast: isLast)
  }

  /// Notes that the write of a piece has succeeded, or has failed with its connection.
  mutating func took(_ count: Int, at now: NIODeadline) {
    if stuck != nil { stuck = now }
    answerAccount.took(count, at: now)
  }

  /// Notes the end of an answer.
  /// - Returns: whether it is the last of its connection; then call ``finish(at:)``.
  mutating func answerEnd(at now: NIODeadline) -> Bool {
    _ = requests.popFirst()
    answerAccount.end()
    hasAnswer = false
    if outstanding == 0 {
      releaseSlot()
      waiting = nil
    } else {
      // The next request is either complete or still waits for its body.
      if pace != nil, outstanding == 1, awaitsBody {
        releaseSlot()
      } else if !holdsSlot {
        holdsSlot = admission.enter(always: true, from: address, on: connection)
      }
      waiting = now
    }
    if closes, outstanding == 0 { return true }
    hasAnswer = outstanding == 0 && pace != nil
    return false
  }

  /// Notes that the last answer is written to the channel.
  /// - Returns: whether the body of its request is still arriving.
  mutating func finish(at now: NIODeadline) -> Bool {
    isOver = true
    stuck = stuck ?? now
    return pace != nil
  }

  /// Notes that the last answer was sent.
  mutating func noteFinished() { stuck = nil }

  /// Gives the slot among the running requests back.
  private mutating func releaseSlot() {
    if holdsSlot { admission.leave(from: address, on: connection) }
    holdsSlot = false
  }

  /// Forgets all requests but the oldest `count`.
  private mutating func forgetRequests(behind count: Int) {
    while requests.count > count { _ = requests.popLast() }
  }

  // MARK: Timeouts and the end of the connection

  mutating func writabilityChanged(isWritable: Bool, at now: NIODeadline) {
    if isOver {
      // The client took a part of the last answer, but not its end.
      if stuck != nil { stuck = now }
    } else {
      stuck = isWritable ? nil : now
    }
  }

  /// Notes that the server stops. The connection ends when its outstanding requests are answered, or after
  /// ``ConnectionLimits/stop``. The first request of a new one is waited for: it is on its way, and some clients, Couchbase
  /// Lite's for C among them, stop for good without an answer to it.
  /// - Returns: whether no request is outstanding; then call ``end()``.
  mutating func stop(at now: NIODeadline) -> Bool {
    guard cutoff == nil else { return false }
    cutoff = now + (last == nil ? limits.linger : limits.stop)
    pace?.shortenDeadline(at: now)
    closes = true
    return last != nil && outstanding == 0 && !isOver && !isRefusing
  }

  /// Ends a connection that has no unanswered request.
  /// - Returns: whether all of its requests were read to their ends.
  mutating func end() -> Bool {
    isOver = true
    return pace == nil
  }

  /// The earliest deadline; nil if there is none.
  var due: NIODeadline? {
    let end = isOver ? nil : Self.earliest(pace?.deadline, answerDue)
    return Self.earliest(end, cutDue)
  }

  /// When the current answer has to begin; nil while its request may still be arriving.
  private var answerDue: NIODeadline? {
    pace == nil || outstanding > 1 ? waiting.map { $0 + limits.answer } : nil
  }

  private var cutDue: NIODeadline? {
    Self.earliest(Self.earliest(cutoff, stuck.map { $0 + limits.stall }), answerAccount.due)
  }

  private static func earliest(_ one: NIODeadline?, _ other: NIODeadline?) -> NIODeadline? {
    guard let one, let other else { return one ?? other }
    return min(one, other)
  }

  mutating func check(at now: NIODeadline) -> TimeAction {
    if let cutDue, now >= cutDue { return cut() }
    if isOver { return .none }
    if let pace, pace.isLate(at: now) {
      guard outstanding > 0, !hasAnswer else { return cut() }
      _ = fail(.slowBody, at: now)
      return .fail(.slowBody)
    }
    if let answerDue, !hasAnswer, now >= answerDue {
      closes = true
      return .refuse(.slowAnswer)
    }
    return .none
  }

  private mutating func cut() -> TimeAction {
    isOver = true
    stuck = nil
    cutoff = nil
    answerAccount.forgetPace()
    return .cut
  }

  /// Gives everything back, because the connection is gone.
  mutating func release() {
    if holdsSlot, let first = requests.first {
      // The handler of the oldest request may still run.
      first.reservation?.takeSlot()
      holdsSlot = false
    }
    releaseSlot()
    forgetRequests(behind: 0)
    answerAccount.release()
    if let address { admission.release(address) }
    address = nil
    _ = cut()
  }
}
