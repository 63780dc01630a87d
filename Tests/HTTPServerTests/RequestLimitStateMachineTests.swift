import HTTPTypes
import NIOCore
import Testing

@testable import HTTPServer

/// The limits of a connection without a channel: events in, actions out.
@Suite struct RequestLimitStateMachineTests {
  private typealias Machine = RequestLimitStateMachine

  private let limits = ConnectionLimits()
  private let start = NIODeadline.uptimeNanoseconds(1_000_000_000)

  private func machine(_ admission: Admission = Admission(), isStream: Bool = false) -> Machine {
    Machine(limits, admission, isStream: isStream)
  }

  private static func request(
    _ method: HTTPRequest.Method = .get, isLast: Bool = false, isAlwaysAdmitted: Bool = false
  ) -> OutstandingRequest {
    OutstandingRequest(
      head: HTTPRequest(method: method, scheme: "http", authority: "x", path: "/"),
      isLast: isLast, isAlwaysAdmitted: isAlwaysAdmitted)
  }

  /// Reads the head of a request: whether it is passed on.
  private func begins(_ request: OutstandingRequest, _ machine: inout Machine) -> Bool {
    var action = machine.readHead(request, at: start)
    if case .ask = action { action = machine.admit(at: start) }
    if case .forward = action { return true }
    return false
  }

  private static func head(length: Int? = 0, closes: Bool = false) -> HTTPResponse {
    var fields = HTTPFields()
    if let length { fields[.contentLength] = String(length) }
    if closes { fields[.connection] = "close" }
    return HTTPResponse(status: .ok, headerFields: fields)
  }

  /// Sends a whole response. Returns whether it is the connection's last.
  private func answers(_ machine: inout Machine) -> Bool {
    _ = machine.answerHead(Self.head(), isParserError: false)
    return machine.answerEnd(at: start)
  }

  @Test func requestThatGetsNoSlotIsRefused() {
    let admission = Admission(atOnce: 1)
    var (first, second) = (machine(admission), machine(admission))
    #expect(begins(Self.request(), &first))
    #expect(!begins(Self.request(), &second))
    let end = second.readEnd(at: start)
    #expect(end == .endRefused(isPassedOn: false, endsConnection: false))
    #expect(begins(Self.request(isAlwaysAdmitted: true), &second))
  }

  @Test func placeIsFreeOnceTheAnswerHasEnded() {
    let admission = Admission(atOnce: 1)
    var (first, second) = (machine(admission), machine(admission))
    #expect(begins(Self.request(), &first))
    let isLast = answers(&first)
    #expect(!isLast && admission.runningCount == 0)
    #expect(begins(Self.request(), &second))
  }

  @Test(arguments: [(0, 0), (3, 45)]) func requestKnowsHowLongItsBodyTook(bytes: Int, time: Int) {
    var machine = machine()
    #expect(begins(Self.request(.post), &machine))
    if bytes > 0 { _ = machine.readBody(bytes, at: start + .milliseconds(20)) }
    #expect(machine.first?.reservation?.bodyMilliseconds == 0)
    _ = machine.readEnd(at: start + .milliseconds(45))
    #expect(machine.first?.reservation?.bodyMilliseconds == time)
  }

  @Test func pipelinedRequestsHaveOneSlot() {
    let admission = Admission()
    var machine = machine(admission)
    for _ in 0..<3 { #expect(begins(Self.request(), &machine)) }
    #expect(machine.outstanding == 3 && admission.runningCount == 1)
    for _ in 0..<3 { #expect(!answers(&machine)) }
    #expect(admission.runningCount == 0)
  }

  @Test func whatFollowsTheLastRequestIsIgnored() {
    var machine = machine()
    #expect(begins(Self.request(isLast: true), &machine))
    #expect(!begins(Self.request(), &machine))
    #expect(answers(&machine))
  }

  @Test func answerThatClosesForgetsTheRequestsBehindIt() {
    var machine = machine()
    for _ in 0..<3 { #expect(begins(Self.request(), &machine)) }
    let action = machine.answerHead(Self.head(closes: true), isParserError: false)
    #expect(action == .write(isLast: true) && machine.outstanding == 1)
    let isLast = machine.answerEnd(at: start)
    #expect(isLast)
  }

  @Test func answerWithoutALengthReleasesItsSlot() {
    let admission = Admission()
    var machine = machine(admission)
    #expect(begins(Self.request(), &machine))
    let action = machine.answerHead(Self.head(length: nil), isParserError: false)
    #expect(action == .write(isLast: false) && admission.runningCount == 0)
  }

  @Test func bodyThatPausesTooLongFailsItsReader() {
    var machine = machine()
    #expect(begins(Self.request(.put), &machine))
    let late = start + limits.bodyGrace
    let before = machine.check(at: late - .nanoseconds(1))
    let after = machine.check(at: late)
    #expect(before == .none && after == .fail(.slowBody))
    #expect(machine.closes)
  }

  /// Regression: a client that had gone left megabytes of chunks of a byte to read behind: an event loop worked for seconds.
  @Test(arguments: [(0, 16_384), (1, 21_845), (3, 65_536)])
  func bodyMayComeInSoManyPieces(bytes: Int, most: Int) {
    var (waiting, answered, refused) = (machine(), machine(), machine(Admission(atOnce: 0)))
    #expect(begins(Self.request(.put), &waiting) && begins(Self.request(.put), &answered))
    #expect(!answers(&answered) && !begins(Self.request(.put), &refused))
    for _ in 1..<most {
      _ = (waiting.readBody(bytes, at: start), answered.readBody(bytes, at: start))
      _ = refused.readBody(bytes, at: start)
    }
    let (last, tooMany) = (waiting.readBody(bytes, at: start), waiting.readBody(bytes, at: start))
    #expect(last == .forward && tooMany == .fail(.scattered) && waiting.closes)
    let (rest, more) = (answered.readBody(bytes, at: start), answered.readBody(bytes, at: start))
    #expect(rest == .forward && more == .close)
    let (skipped, end) = (refused.readBody(bytes, at: start), refused.readBody(bytes, at: start))
    #expect(skipped == .ignore && end == .close)
    let ignored = waiting.readBody(bytes, at: start)
    #expect(ignored == .ignore)
  }

  /// Regression: the frames of a body that no route reads were kept, 64 KiB of each stream in frames of any size.
  @Test(arguments: [(HTTPRequest.Method.get, false), (.delete, false), (.post, true)])
  func streamDiscardsABodyForWhichNoRouteWaits(method: HTTPRequest.Method, isRead: Bool) {
    let (admission, connection) = (Admission(), ConnectionShare())
    var machine = machine(admission, isStream: true)
    machine.begin(from: "192.0.2.1", on: connection)
    #expect(begins(Self.request(method), &machine))
    let body = machine.readBody(1_000, at: start)
    #expect(body == (isRead ? .forward : .ignore))
    #expect(admission.bodyBytes == (isRead ? 1_000 : 0))
    let end = machine.readEnd(at: start)
    #expect(end == .forward)
    machine.release()
  }

  @Test func bodyWithoutMemoryFailsItsReader() {
    let admission = Admission(memory: 2 * SharedMemory.little)
    var machine = machine(admission)
    #expect(begins(Self.request(.put), &machine))
    let (fits, not) = (
      machine.readBody(2 * SharedMemory.little, at: start), machine.readBody(1, at: start)
    )
    #expect(fits == .forward && not == .fail(.overloaded))
    machine.release()
  }

  @Test func answerThatDoesNotBeginInTimeIsRefused() {
    var machine = machine()
    #expect(begins(Self.request(), &machine))
    let end = machine.readEnd(at: start)
    #expect(end == .forward)
    let late = start + limits.answer
    #expect(machine.due == late)
    let before = machine.check(at: late - .nanoseconds(1))
    let after = machine.check(at: late)
    #expect(before == .none && after == .refuse(.slowAnswer))
  }

  /// A request of many commits is answered after the last one.
  @Test func eachPartOfTheWorkGivesTheAnswerItsTimeAgain() {
    var machine = machine()
    #expect(begins(Self.request(), &machine))
    let end = machine.readEnd(at: start)
    #expect(end == .forward)
    let parts = start + limits.answer - .nanoseconds(1)
    machine.noteProgress(at: parts)
    #expect(machine.due == parts + limits.answer)
    let before = machine.check(at: parts + limits.answer - .nanoseconds(1))
    let after = machine.check(at: parts + limits.answer)
    #expect(before == .none && after == .refuse(.slowAnswer))
  }

  @Test func feedThatWaitsForItsNextChangeHasNoTimer() {
    var machine = machine()
    #expect(begins(Self.request(), &machine))
    let end = machine.readEnd(at: start)
    #expect(end == .forward)
    _ = machine.answerHead(Self.head(length: nil), isParserError: false)
    #expect(machine.due == nil)
  }

  @Test func clientThatTakesNothingIsCut() {
    var machine = machine()
    #expect(begins(Self.request(), &machine))
    let end = machine.readEnd(at: start)
    #expect(end == .forward)
    _ = machine.answerHead(Self.head(), isParserError: false)
    machine.writabilityChanged(isWritable: false, at: start)
    let late = start + limits.stall
    let before = machine.check(at: late - .nanoseconds(1))
    let after = machine.check(at: late)
    #expect(before == .none && after == .cut && machine.isOver)
  }

  @Test func longAnswerWithoutMemoryIsReplacedAndItsBodyThrownAway() {
    let length = SharedMemory.little + 1
    let admission = Admission(answerMemory: length)
    var (first, second) = (machine(admission), machine(admission))
    #expect(begins(Self.request(), &first) && begins(Self.request(), &second))
    let held = first.answerHead(Self.head(length: length), isParserError: false)
    let refused = second.answerHead(Self.head(length: length), isParserError: false)
    #expect(held == .write(isLast: false) && refused == .replace(isLast: false))
    let dropped = second.answerAccount.write(length, at: start)
    #expect(dropped == .drop)
    let written = first.answerAccount.write(length, at: start)
    #expect(written == .pieces)
    let (one, rest) = (first.answerAccount.wrote(length - 1), first.answerAccount.wrote(1))
    first.took(one, at: start)
    #expect(admission.answerBytes == rest)
    first.took(rest, at: start)
    #expect(admission.answerBytes == 0)
  }

  /// Regression: 400 connections whose clients took no bytes held gigabytes, in answers of which each was short.
  @Test func openStreamCountsAndIsClosedWithoutMemoryForIt() {
    let (one, little) = (RequestLimits.streamBytes, SharedMemory.little)
    let admission = Admission(answerMemory: little)
    let connection = ConnectionShare()
    // Six streams with what they count for are little, a seventh is not.
    var streams = (0..<7).map { _ in machine(admission, isStream: true) }
    for index in streams.indices { streams[index].begin(from: "192.0.2.1", on: connection) }
    for index in 0..<6 {
      let isBegun = begins(Self.request(), &streams[index])
      #expect(isBegun)
    }
    let (whole, tooLong) = (
      streams[0].answerHead(Self.head(length: 99), isParserError: false),
      streams[1].answerHead(Self.head(length: one), isParserError: false)
    )
    #expect(whole == .write(isLast: false) && tooLong == .replace(isLast: false))
    let written = streams[0].answerAccount.write(99, at: start)
    #expect(written == .pieces)
    let (count, due) = (streams[0].answerAccount.wrote(99), streams[0].due)
    #expect(count == 99 && due != nil)
    let last = streams[6].readHead(Self.request(), at: start)
    guard case .close = last else { return #expect(Bool(false), "a seventh stream was opened") }
    streams[0].took(99, at: start)
    #expect(admission.answerBytes == 6 * one)
    for index in streams.indices { streams[index].release() }
    #expect(admission.answerBytes == 0)
  }

  @Test func shortBodiesOfStreamsCountForTheirConnection() {
    let (admission, connection) = (Admission(), ConnectionShare())
    var (stream, plain) = (machine(admission, isStream: true), machine(admission))
    stream.begin(from: "192.0.2.1", on: connection)
    #expect(begins(Self.request(.put), &stream) && begins(Self.request(.put), &plain))
    let (one, other) = (stream.readBody(1_000, at: start), plain.readBody(1_000, at: start))
    #expect(one == .forward && other == .forward)
    #expect(admission.bodyBytes == 1_000 && connection.bodies.count == 1_000)
    stream.release()
    #expect(admission.bodyBytes == 0 && connection.bodies.count == 0)
  }

  @Test func headHasNoAnswerToAccountFor() {
    let admission = Admission(answerMemory: 0)
    var machine = machine(admission)
    #expect(begins(Self.request(.head), &machine))
    let action = machine.answerHead(Self.head(length: 1_000_000), isParserError: false)
    #expect(action == .write(isLast: false))
  }

  @Test func refusedRequestIsReadToItsEndOrGivenUp() {
    var machine = machine(Admission(atOnce: 0))
    #expect(!begins(Self.request(.put), &machine))
    let (read, tooMuch) = (
      machine.readBody(Machine.refusedBytes, at: start), machine.readBody(1, at: start)
    )
    #expect(read == .ignore && tooMuch == .close)
  }

  @Test func streamClosesAfterItsRefusal() {
    var (stream, connection) = (
      machine(Admission(atOnce: 0), isStream: true), machine(Admission(atOnce: 0))
    )
    #expect(!begins(Self.request(), &stream) && !begins(Self.request(), &connection))
    #expect(stream.closes && !connection.closes)
  }

  @Test func parserErrorWithinABodyThatIsAnsweredClosesWithoutWords() {
    var (idle, answered) = (machine(), machine())
    #expect(begins(Self.request(.put), &answered) && !answers(&answered))
    let (refuse, close) = (
      idle.answerHead(Self.head(), isParserError: true),
      answered.answerHead(Self.head(), isParserError: true)
    )
    #expect(refuse == .refuse && close == .close)
  }

  @Test func stoppingServerEndsAnIdleConnectionAtOnceAndABusyOneAfterItsAnswer() {
    var (idle, busy) = (machine(), machine())
    #expect(begins(Self.request(), &idle) && !answers(&idle))
    let isEnded = idle.stop(at: start)
    #expect(isEnded)
    #expect(begins(Self.request(), &busy))
    let isBusyEnded = busy.stop(at: start)
    #expect(!isBusyEnded)
    let isEndedAgain = busy.stop(at: start)
    #expect(!isEndedAgain)
    let late = busy.check(at: start + limits.stop)
    #expect(late == .cut)
    var answered = machine()
    #expect(begins(Self.request(), &answered))
    _ = answered.stop(at: start)
    #expect(answers(&answered))
  }

  /// Regression: a client that had just connected got no answer to its first request. LiteCore's replicator ended for good.
  @Test func stoppingServerAnswersTheFirstRequestOfANewConnection() {
    var (new, silent) = (machine(), machine())
    for _ in 0..<2 {
      let (isEnded, isSilentEnded) = (new.stop(at: start), silent.stop(at: start))
      #expect(!isEnded && !isSilentEnded)
    }
    #expect(begins(Self.request(), &new) && silent.due == start + limits.linger)
    _ = new.readEnd(at: start)
    let end = start + limits.linger
    let (kept, cut) = (new.check(at: end), silent.check(at: end))
    #expect(kept == .none && cut == .cut)
    #expect(new.due == start + limits.stop)
    #expect(answers(&new))
    // So is one that gets no slot: its refusal says that the connection closes.
    var refused = machine(Admission(atOnce: 0))
    _ = refused.stop(at: start)
    #expect(!begins(Self.request(), &refused) && refused.closes)
  }

  @Test func connectionThatIsGoneGivesAllBack() {
    let admission = Admission()
    do {
      var machine = machine(admission)
      machine.begin(from: "192.0.2.7")
      #expect(begins(Self.request(.put), &machine))
      let body = machine.readBody(100_000, at: start)
      #expect(body == .forward)
      #expect(admission.bodyBytes == 100_000)
      machine.release()
    }
    #expect(admission.runningCount == 0 && admission.bodyBytes == 0 && admission.answerBytes == 0)
    #expect(admission.addressCount == 0)
  }
}
