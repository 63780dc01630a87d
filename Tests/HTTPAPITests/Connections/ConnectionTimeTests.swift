import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

@testable import HTTPAPI
@testable import HTTPServer

/// FAULTS H05 with a simulated clock: each limit is tested just before it and exactly at it.
@Suite struct ConnectionTimeTests {
  @Test(.bug(id: "H05")) func headMayTakeTheHeaderLimitAndNoLonger() throws {
    let wire = try Wire()
    try wire.receive("GET / HT")
    wire.wait(wire.limits.header.less)
    #expect(try wire.sent() == "" && wire.channel.isActive)
    wire.wait(.nanoseconds(1))
    let answer = try wire.sent()
    #expect(answer.hasPrefix("HTTP/1.1 408 Request Timeout\r\n"))
    #expect(answer.contains(#""error":"request_timeout""#))
  }

  @Test(.bug(id: "H05")) func bytesOfAHeadBuyNoTime() throws {
    let wire = try Wire()
    for byte in "GET / HTTP" {
      try wire.receive(String(byte))
      wire.wait(.seconds(1))
    }
    #expect(try wire.sent().contains(" 408 "))
  }

  @Test func headInTimeIsServedAndTheNextHasItsOwnTime() throws {
    let wire = try Wire()
    for _ in 0..<3 {
      try wire.receive("GET / HTTP/1.1\r\n")
      wire.wait(.seconds(9))
      try wire.receive("Host: x\r\n\r\n")
      #expect(try wire.requests().count == 2)
      wire.answer()
      #expect(try wire.sent().hasPrefix("HTTP/1.1 200 "))
    }
  }

  @Test func headReadAheadHasTimeFromItsTurn() throws {
    let wire = try Wire()
    try wire.receive(Wire.get)
    try wire.receive("GET / HT")
    wire.wait(.seconds(30))
    #expect(try wire.sent() == "")
    wire.answer()
    #expect(try wire.sent().hasPrefix("HTTP/1.1 200 "))
    wire.wait(.seconds(20))
    #expect(try wire.sent().contains(" 408 "))
  }

  @Test(.bug(id: "H05")) func bodyThatStopsIsToldToTheRoute() throws {
    let wire = try Wire()
    try wire.receive(Wire.put)
    wire.wait(wire.limits.bodyGrace.less)
    try wire.channel.throwIfErrorCaught()
    wire.wait(.nanoseconds(1))
    let problem = #expect(throws: ConnectionRefusal.self) { try wire.channel.throwIfErrorCaught() }
    #expect(problem.map { Problem($0).status } == .requestTimeout)
    wire.answer(.requestTimeout)
    #expect(try wire.sent().lowercased().contains("connection: close"))
    wire.wait(wire.limits.linger)
    #expect(!wire.channel.isActive)
  }

  /// What is left of such a body is not parsed any more.
  @Test func bodyInFarTooManyChunksIsToldToTheRoute() throws {
    let wire = try Wire()
    try wire.receive("PUT / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
    try wire.receive(String(repeating: "1\r\na\r\n", count: 21_845))
    let problem = wire.problem { try wire.receive("1\r\na\r\n") }
    #expect(problem?.status == .badRequest && problem?.reason.contains("16384 pieces") == true)
    #expect(wire.state.isDraining)
    wire.answer(.badRequest)
    #expect(try wire.sent().lowercased().contains("connection: close"))
  }

  @Test func bodyThatIsTakenAsItComesMayTakeAnyTimeAndNoMemoryButHasToKeepToTheRate() throws {
    let admission = Admission(memory: 200_000)
    let wire = try Wire(admission: admission)
    try wire.receive(Wire.put.replacing("100000", with: "100000000"))
    try wire.receive(String(repeating: "x", count: 150_000))
    #expect(admission.bodyBytes == 150_000)
    try wire.channel.triggerUserOutboundEvent(RequestEvent.bodyStreamingStarted).wait()
    #expect(admission.bodyBytes == 0)
    for _ in 0..<300 {
      wire.wait(.seconds(1))
      try wire.receive(String(repeating: "x", count: 10_000))
      try wire.channel.throwIfErrorCaught()
    }
    #expect(admission.bodyBytes == 0)
    wire.wait(wire.limits.bodyGrace)
    let problem = #expect(throws: ConnectionRefusal.self) { try wire.channel.throwIfErrorCaught() }
    #expect(problem.map { Problem($0).status } == .requestTimeout)
  }

  @Test(.bug(id: "H05")) func bodyAtTheRateIsTakenAndOneBelowItIsNot() throws {
    for (bytes, isTaken) in [(1_024, true), (1_000, false)] {
      let wire = try Wire()
      try wire.receive(Wire.put.replacing("100000", with: "10000000"))
      var isCut = false
      for _ in 0..<119 where !isCut {
        wire.wait(.seconds(1))
        isCut = wire.problem { try wire.channel.throwIfErrorCaught() } != nil
        if !isCut { try wire.receive(String(repeating: "x", count: bytes)) }
      }
      // A rate that is 24 bytes a second too low uses up the allowed pause of a minute only after three quarters of an hour.
      #expect(!isCut)
      #expect(BodyPaceTests.lasts(bytes, seconds: 3_600) == isTaken)
    }
  }

  /// Regression: a body had 120 seconds in all and pauses of 10, so that 4 MB at 30 KB a second never arrived.
  @Test func slowBodyWithPausesArrives() throws {
    let wire = try Wire()
    try wire.receive(Wire.put.replacing("100000", with: "4000000"))
    for second in 0..<134 {
      wire.wait(second % 40 == 39 ? wire.limits.bodyGrace.less : .seconds(1))
      try wire.receive(String(repeating: "x", count: min(30_000, 4_000_000 - second * 30_000)))
      try wire.channel.throwIfErrorCaught()
    }
    let parts = try wire.requests()
    #expect(parts.contains { if case .end = $0 { true } else { false } })
    wire.answer()
    #expect(try wire.sent().hasPrefix("HTTP/1.1 200 "))
  }

  @Test(.bug(id: "F23")) func bodyHasLittleTimeOnceTheServerStops() throws {
    let wire = try Wire()
    try wire.receive(Wire.put)
    wire.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    var seconds = 0
    while wire.problem({ try wire.channel.throwIfErrorCaught() }) == nil, seconds < 1_000 {
      try wire.receive(String(repeating: "x", count: 4_096))
      wire.wait(.seconds(1))
      seconds += 1
    }
    #expect(seconds == RequestLimits.bodyAtStopSeconds)
  }

  @Test(.bug(id: "F23")) func answerOwedIsGivenThenTheConnectionEnds() throws {
    let wire = try Wire()
    try wire.receive(Wire.get + Wire.get)
    wire.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
    wire.answer()
    #expect(try !wire.sent().lowercased().contains("connection: close"))
    wire.answer()
    #expect(try wire.sent().lowercased().contains("connection: close"))
    wire.wait(wire.limits.linger)
    #expect(!wire.channel.isActive)
  }

  @Test(.bug(id: "F23")) func connectionThatOwesNothingEndsAtOnce() throws {
    for bytes in [Wire.get, Wire.get + "GET / HT"] {
      let wire = try Wire()
      try wire.receive(bytes)
      wire.answer()
      wire.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
      #expect(!wire.channel.isActive)
    }
  }

  @Test func firstRequestOfANewConnectionIsAnsweredWhenTheServerStops() throws {
    for part in [0, 8] {
      let (wire, silent) = (try Wire(), try Wire())
      for wire in [wire, silent] {
        try wire.receive(String(Wire.get.prefix(part)))
        wire.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
        wire.wait(wire.limits.linger.less)
        #expect(wire.channel.isActive)
      }
      try wire.receive(String(Wire.get.dropFirst(part)))
      wire.wait(.nanoseconds(1))
      silent.wait(.nanoseconds(1))
      #expect(wire.channel.isActive && !silent.channel.isActive)
      wire.answer()
      let sent = try wire.sent()
      #expect(sent.hasPrefix("HTTP/1.1 200 ") && sent.lowercased().contains("connection: close"))
      wire.wait(wire.limits.linger)
      #expect(!wire.channel.isActive)
    }
  }

  @Test(.bug(id: "F23")) func connectionIsCutWhateverIsOnIt() throws {
    for isTaken in [true, false] {
      let wire = try Wire()
      try wire.receive(Wire.get)
      wire.channel.writeAndFlush(HTTPResponsePart.head(.init(status: .ok)), promise: nil)
      wire.channel.isWritable = isTaken
      wire.channel.pipeline.fireChannelWritabilityChanged()
      wire.channel.pipeline.fireUserInboundEventTriggered(ChannelShouldQuiesceEvent())
      wire.wait(wire.limits.stop.less)
      #expect(wire.channel.isActive)
      wire.wait(.nanoseconds(1))
      #expect(!wire.channel.isActive)
    }
  }

  @Test(.bug(id: "H05")) func clientThatTakesNothingOfTheLastAnswerIsCut() throws {
    let wire = try Wire()
    let client = StalledClient()
    try wire.channel.pipeline.syncOperations.addHandler(client, position: .first)
    try wire.receive(Wire.get.replacing("\r\n\r\n", with: "\r\nConnection: close\r\n\r\n"))
    wire.answer()
    wire.wait(wire.limits.stall.less)
    #expect(wire.channel.isActive)
    wire.wait(.nanoseconds(1))
    #expect(!wire.channel.isActive)
    client.fail()
  }

  @Test func answerThatNeverComesIs503() throws {
    let (wire, ends) = (try Wire(), EndCounter())
    try wire.channel.pipeline.syncOperations.addHandler(ends)
    try wire.receive(Wire.get + Wire.get)
    wire.wait(wire.limits.answer.less)
    #expect(try wire.sent() == "")
    wire.wait(.nanoseconds(1))
    let answer = try wire.sent()
    #expect(answer.hasPrefix("HTTP/1.1 503 ") && answer.lowercased().contains("retry-after: 1"))
    // The next request on the connection is not begun (RFC 9112, section 9.6).
    #expect(ends.count == 1)
    // The route's own answer comes too late and is discarded.
    wire.answer()
    #expect(try wire.sent() == "")
  }

  @Test func feedThatHasBegunMayWaitForEver() throws {
    let wire = try Wire()
    try wire.receive(Wire.get)
    wire.channel.writeAndFlush(HTTPResponsePart.head(.init(status: .ok)), promise: nil)
    _ = try wire.sent()
    wire.wait(.hours(24))
    #expect(try wire.sent() == "" && wire.channel.isActive)
  }

  @Test(.bug(id: "H05")) func clientThatTakesNothingIsCut() throws {
    let wire = try Wire()
    try wire.receive(Wire.get)
    wire.channel.write(HTTPResponsePart.head(.init(status: .ok)), promise: nil)
    wire.channel.isWritable = false
    wire.channel.pipeline.fireChannelWritabilityChanged()
    wire.wait(wire.limits.stall.less)
    #expect(wire.channel.isActive)
    wire.wait(.nanoseconds(1))
    #expect(!wire.channel.isActive)
  }

  @Test func clientThatTakesSomethingStays() throws {
    let wire = try Wire()
    try wire.receive(Wire.get)
    wire.channel.write(HTTPResponsePart.head(.init(status: .ok)), promise: nil)
    for isWritable in [false, true, false, true] {
      wire.channel.isWritable = isWritable
      wire.channel.pipeline.fireChannelWritabilityChanged()
      wire.wait(.seconds(50))
    }
    #expect(wire.channel.isActive)
  }
}

/// Counts how often a connection announces its last answer.
private final class EndCounter: ChannelInboundHandler {
  typealias InboundIn = HTTPRequestPart

  var count = 0

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event is LastAnswer { count += 1 }
    context.fireUserInboundEventTriggered(event)
  }
}

@Suite struct BodyPaceTests {
  /// Whether a body at this rate is still accepted after this time.
  static func lasts(_ bytes: Int, seconds: Int) -> Bool {
    var now = NIODeadline.uptimeNanoseconds(0)
    var pace = BodyPace(ConnectionLimits(), at: now)
    for _ in 0..<seconds {
      now = now + .seconds(1)
      if pace.isLate(at: now) { return false }
      pace.receive(bytes, at: now)
    }
    return true
  }

  @Test func timeInWhichTheServerReadsNothingDoesNotCount() {
    let start = NIODeadline.uptimeNanoseconds(0)
    var pace = BodyPace(ConnectionLimits(), at: start)
    pace.isRead(false, at: start + .seconds(1))
    #expect(!pace.isLate(at: start + .seconds(100)))
    pace.isRead(true, at: start + .seconds(41))
    #expect(!pace.isLate(at: start + .seconds(100) - .nanoseconds(1)))
    #expect(pace.isLate(at: start + .seconds(100)))
  }

  @Test func whatCameFastBuysNoLongPause() {
    let start = NIODeadline.uptimeNanoseconds(0)
    var pace = BodyPace(ConnectionLimits(), at: start)
    pace.receive(1 << 30, at: start)
    #expect(!pace.isLate(at: start + ConnectionLimits().bodyGrace.less))
    #expect(pace.isLate(at: start + ConnectionLimits().bodyGrace))
  }

  /// While the server does not read, only the time to the end counts: two minutes, and a second for each KiB.
  @Test func timeToTheEndGrowsWithWhatHasCome() {
    let start = NIODeadline.uptimeNanoseconds(0)
    var pace = BodyPace(ConnectionLimits(), at: start)
    pace.receive(4_000 * 1_024, at: start)
    pace.isRead(false, at: start)
    #expect(!pace.isLate(at: start + .seconds(4_119)) && pace.isLate(at: start + .seconds(4_120)))
    pace.shortenDeadline(at: start)
    pace.receive(1_024, at: start)
    #expect(!pace.isLate(at: start + .seconds(9)) && pace.isLate(at: start + .seconds(10)))
  }

  @Test func bodyWithoutATimeLimitStaysSo() {
    let start = NIODeadline.uptimeNanoseconds(0)
    var pace = BodyPace(ConnectionLimits(), at: start)
    pace.removeTimeLimit(stopping: false)
    pace.receive(1_024, at: start)
    #expect(!pace.isLate(at: start + .seconds(59)) && pace.isLate(at: start + .seconds(60)))
  }
}
