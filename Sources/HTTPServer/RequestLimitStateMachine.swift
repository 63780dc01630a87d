import HTTPTypes
import NIOCore

/// The limits of the requests and answers on one connection, or on one stream of HTTP/2, as a value. Each event
/// returns what has to be done; ``RequestLimitHandler`` does it. It touches no channel, and its time is told.
///
/// Requests come one after the other and may overlap their answers (pipelining). The first of them holds a place among
/// the running requests of ``Admission``.
struct RequestLimitStateMachine {
  /// Bytes of a refused request that are read before the connection is given up.
  static let refusedBytes = 1 << 20

  private let limits: ConnectionLimits
  private let admission: Admission
  /// Whether it is a stream of HTTP/2, which has one request.
  private let isStream: Bool
  /// What runs for where the connection comes from; nil for a proxy, which brings requests of many people.
  private var address: AddressShare?

  /// The request that was read last.
  private var last: AskedRequest?
  /// Requests passed on and not answered to their end, the oldest first.
  private var asked = CircularBuffer<AskedRequest>(initialCapacity: 2)
  /// The body that is on its way.
  private var pace: BodyPace?
  /// Whether the answer has begun.
  private var hasAnswer = false
  /// Since when an answer is waited for.
  private var waiting: NIODeadline?
  /// Whether the request on its way is turned away, or answered already.
  private var isRefusing = false
  /// Whether the body on its way is taken as it comes.
  private var isTakenAsItComes = false
  /// Whether the request on its way is answered already.
  private var isAnsweredAtOnce = false
  /// Whether the answer on its way is the last.
  private(set) var closes = false
  /// Whether nothing more is read or written but what was written last.
  private(set) var isOver = false
  /// Whether a place among the running requests is held.
  private var holdsPlace = false
  /// Since when nothing can be written, or was taken.
  private var stuck: NIODeadline?
  /// The long answers that are on their way.
  private var answerAccount: AnswerAccount
  /// When the connection is cut whatever is on it; nil until the server stops.
  private var cutoff: NIODeadline?

  /// A connection without requests.
  init(_ limits: ConnectionLimits, _ admission: Admission, isStream: Bool) {
    self.limits = limits
    self.admission = admission
    self.isStream = isStream
    answerAccount = AnswerAccount(limits, admission)
  }

  /// How many requests were passed on and are not answered to their end.
  var outstanding: Int { asked.count }

  /// The oldest of them.
  var first: AskedRequest? { asked.first }

  /// The request that is answered, or that is turned away.
  var answered: HTTPRequest? { (asked.first ?? last)?.head }

  /// The connection begins.
  /// - Parameter text: the address that it comes from.
  mutating func begin(from text: String) { address = admission.share(of: text) }

  // MARK: Requests

  /// The head of a request has come.
  /// - Parameter request: the request, which holds nothing yet.
  mutating func readHead(_ request: AskedRequest, at now: NIODeadline) -> HeadAction {
    guard !isOver, !closes || outstanding == 0 else { return .ignore }
    last = request
    pace = BodyPace(limits, at: now)
    isTakenAsItComes = false
    guard outstanding == 0 else { return .forward(append(request)) }
    hasAnswer = false
    return .ask
  }

  /// The request is answered without being begun.
  mutating func answerAtOnce() {
    refuse()
    isAnsweredAtOnce = true
    hasAnswer = true
    waiting = nil
  }

  /// Begins the request that was read last if there is a place for it.
  mutating func admit(at now: NIODeadline) -> HeadAction {
    guard let last, admission.enter(always: last.isAlwaysBegun, from: address) else {
      refuse()
      return .refuse
    }
    holdsPlace = true
    waiting = now
    return .forward(append(last))
  }

  private mutating func refuse() {
    isRefusing = true
    closes = isStream || last?.isLast == true
  }

  private mutating func append(_ request: AskedRequest) -> RequestHold {
    let hold = RequestHold(admission, from: address)
    var request = request
    request.hold = hold
    asked.append(request)
    if !isStream, request.isLast { closes = true }
    return hold
  }

  /// Bytes of a body have come.
  mutating func readBody(_ bytes: Int, at now: NIODeadline) -> BodyAction {
    guard !isOver, pace != nil else { return .ignore }
    pace?.came(bytes, at: now)
    let count = pace?.count ?? 0
    guard !isRefusing else { return count > Self.refusedBytes ? .close : .ignore }
    return holdsBody(count) ? .forward : fail(.overloaded, at: now)
  }

  /// A request has come to its end.
  mutating func readEnd(at now: NIODeadline) -> BodyAction {
    guard !isOver, let pace else { return .ignore }
    self.pace = nil
    guard !isRefusing else {
      defer { (isRefusing, isAnsweredAtOnce) = (false, false) }
      // The idle timer has to hear of an answer; to others it is the end of nothing.
      return .endRefused(
        isPassedOn: isAnsweredAtOnce && !isStream, endsConnection: cutoff != nil)
    }
    if pace.count > 0, !hasAnswer { waiting = now }
    // Its place was left to others while the body was on its way; it may be taken.
    return takesPlaceAgain() ? .forward : fail(.overloaded, at: now)
  }

  /// Takes a place for a request that has come whole, unless it has one or is answered already.
  private mutating func takesPlaceAgain() -> Bool {
    guard outstanding > 0, !hasAnswer, !holdsPlace else { return true }
    // Behind a request that is not answered yet it is in line on its connection, which has one place. One that took
    // its body as it came has done its work.
    let always = outstanding > 1 || isTakenAsItComes || last?.isAlwaysBegun ?? true
    holdsPlace = admission.enter(always: always, from: address)
    return holdsPlace
  }

  private mutating func fail(_ refusal: ConnectionRefusal, at now: NIODeadline) -> BodyAction {
    pace = nil
    closes = true
    waiting = now
    return .fail(refusal)
  }

  /// Whether the route of the request that was read last may wait for its body: the others run without it.
  private var awaitsBody: Bool {
    switch last?.head.method {
    case .get, .head, .delete, .options: false
    default: true
    }
  }

  /// All that has come was read.
  mutating func readComplete(at now: NIODeadline) {
    guard pace != nil else { return }
    pace?.isRead(false, at: now)
    // A slow client takes no place from others; what is being answered before it keeps the place.
    if outstanding <= 1, awaitsBody { leavePlace() }
  }

  /// More is to be read.
  mutating func read(at now: NIODeadline) { pace?.isRead(true, at: now) }

  /// The route is about to read the body.
  /// - Returns: whether a client that waits for leave to send it is to be given it.
  mutating func wantBody(at now: NIODeadline) -> Bool {
    guard !isOver, outstanding == 1, !hasAnswer, pace?.count == 0, asked.first?.isOld != true
    else { return false }
    pace?.restart(at: now)
    return true
  }

  /// The route of the one request takes its body as it comes: it need not end some day, and is not in memory.
  mutating func takeBodyAsItComes() {
    guard !isOver, outstanding == 1, !hasAnswer, pace != nil else { return }
    isTakenAsItComes = true
    pace?.goOnForEver(stopping: cutoff != nil)
    asked.first?.hold?.giveBody()
  }

  /// Accounts for the body that is on its way, which is that of the request that came last.
  /// - Parameter count: the bytes that have come.
  /// - Returns: whether there is memory for it.
  private mutating func holdsBody(_ count: Int) -> Bool {
    // One that is answered already is read past.
    guard count > RequestHold.freeBytes, !isTakenAsItComes, outstanding > 1 || !hasAnswer,
      !asked.isEmpty
    else { return true }
    let index = asked.index(before: asked.endIndex)
    guard asked[index].hold?.take(count - asked[index].sentBytes) != false else { return false }
    asked[index].sentBytes = count
    return true
  }

  // MARK: Answers

  /// The head of an answer is to be written.
  /// - Parameter isParserError: whether it is the server's own for what the parser refused, without words.
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
      // What was asked after this request is not answered.
      closes = true
      forgetRequests(behind: 1)
    }
    let isLast = closes && outstanding <= 1
    if let length = head.headerFields.value(of: .contentLength) {
      asked.first?.hold?.giveAnswer()
      guard answered?.method == .head || answerAccount.begin(length) else {
        return .replace(isLast: isLast)
      }
    } else {
      // An answer without a length goes on as long as its feed: it holds no place.
      leavePlace()
    }
    return .write(isLast: isLast)
  }

  /// A part of the body of an answer is to be written.
  mutating func answerBody(_ bytes: Int, at now: NIODeadline) -> AnswerAccount.PieceAction {
    answerAccount.write(bytes, at: now)
  }

  /// A piece is written.
  /// - Returns: how many of its bytes are accounted for.
  mutating func give(_ bytes: Int) -> Int { answerAccount.give(bytes) }

  /// A piece is on its way, or lost with its connection.
  mutating func took(_ count: Int, at now: NIODeadline) {
    if stuck != nil { stuck = now }
    answerAccount.took(count, at: now)
  }

  /// The end of an answer is to be written.
  /// - Returns: whether it is the last of its connection: ``finish(at:)`` has to follow.
  mutating func answerEnd(at now: NIODeadline) -> Bool {
    _ = asked.popFirst()
    answerAccount.end()
    hasAnswer = false
    if outstanding == 0 {
      leavePlace()
      waiting = nil
    } else {
      // The next in line may have come whole, or wait for its client now.
      if pace != nil, outstanding == 1, awaitsBody {
        leavePlace()
      } else if !holdsPlace {
        holdsPlace = admission.enter(always: true, from: address)
      }
      waiting = now
    }
    if closes, outstanding == 0 { return true }
    hasAnswer = outstanding == 0 && pace != nil
    return false
  }

  /// The last answer is written.
  /// - Returns: whether the body of its request is still on its way.
  mutating func finish(at now: NIODeadline) -> Bool {
    isOver = true
    stuck = stuck ?? now
    return pace != nil
  }

  /// The last answer is on its way to the client.
  mutating func finished() { stuck = nil }

  /// Leaves the place among the running requests.
  private mutating func leavePlace() {
    if holdsPlace { admission.leave(from: address) }
    holdsPlace = false
  }

  /// Forgets all requests but the oldest ones, and their bodies.
  private mutating func forgetRequests(behind count: Int) {
    while asked.count > count { _ = asked.popLast() }
  }
}

/// What takes too long, and the end.
extension RequestLimitStateMachine {
  /// Whether the client takes what is written has changed.
  mutating func writabilityChanged(isWritable: Bool, at now: NIODeadline) {
    if isOver {
      // Some of the last answer was taken, but not its end.
      if stuck != nil { stuck = now }
    } else {
      stuck = isWritable ? nil : now
    }
  }

  /// The server stops: the connection ends after the answers that are owed, and after a while without them.
  /// - Returns: whether it owes none: ``end()`` has to follow.
  mutating func stop(at now: NIODeadline) -> Bool {
    guard cutoff == nil else { return false }
    cutoff = now + limits.stop
    pace?.hurry(at: now)
    closes = true
    return outstanding == 0 && !isOver && !isRefusing
  }

  /// A connection that owes nothing ends.
  /// - Returns: whether all of its requests were read to their ends.
  mutating func end() -> Bool {
    isOver = true
    return pace == nil
  }

  /// When the next of the limits is met; nil while there is nothing to wait for.
  var due: NIODeadline? {
    var due: NIODeadline?
    func take(_ other: NIODeadline?) {
      guard let other else { return }
      due = due.map { min($0, other) } ?? other
    }
    if !isOver {
      take(pace?.deadline)
      if pace == nil || outstanding > 1 { take(waiting.map { $0 + limits.answer }) }
    }
    take(stuck.map { $0 + limits.stall })
    take(answerAccount.due)
    take(cutoff)
    return due
  }

  /// Time has passed.
  mutating func check(at now: NIODeadline) -> TimeAction {
    let isLate = [cutoff, stuck.map { $0 + limits.stall }, answerAccount.due].contains {
      $0.map { now >= $0 } ?? false
    }
    if isLate { return cut() }
    if isOver { return .none }
    if let pace, pace.isLate(at: now) {
      guard outstanding > 0, !hasAnswer else { return cut() }
      _ = fail(.slowBody, at: now)
      return .fail(.slowBody)
    }
    if let waiting, !hasAnswer, pace == nil || outstanding > 1, now >= waiting + limits.answer {
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

  /// The connection is gone: gives everything back.
  mutating func release() {
    if holdsPlace, let first = asked.first {
      // Its handler may run on.
      first.hold?.takePlace()
      holdsPlace = false
    }
    leavePlace()
    forgetRequests(behind: 0)
    answerAccount.release()
    if let address { admission.release(address) }
    address = nil
    isOver = true
    stuck = nil
    cutoff = nil
  }
}
