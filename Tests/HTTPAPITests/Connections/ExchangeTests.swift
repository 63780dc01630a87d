import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

@testable import HTTPAPI
@testable import HTTPServer

/// What a connection does with requests and answers, in addition to passing them on.
@Suite struct ExchangeTests {
  @Test func requestTooManyIsRefusedAndTheConnectionStays() throws {
    let admission = Admission(atOnce: 1)
    let (first, second) = (try Wire(admission: admission), try Wire(admission: admission))
    try first.receive(Wire.get)
    try second.receive(Wire.get)
    let refusal = try second.sent()
    #expect(refusal.hasPrefix("HTTP/1.1 503 ") && refusal.contains(#""error":"overloaded""#))
    #expect(refusal.lowercased().contains("retry-after: 1"))
    #expect(try second.requests().isEmpty && admission.refusedCount == 1)
    first.answer()
    #expect(admission.runningCount == 0)
    try second.receive(Wire.get)
    #expect(try second.requests().count == 2)
  }

  @Test func refusalIsReadableToPagesOfAllowedOriginsAndPreflightsAreNotRefused() throws {
    let admission = Admission(atOnce: 1)
    let origins = CrossOrigin(origins: ["https://app.example"])
    let first = try Wire(admission: admission)
    try first.receive(Wire.get)
    for (origin, isAllowed) in [("https://app.example", true), ("https://evil.example", false)] {
      let page = try Wire(admission: admission, crossOrigin: origins)
      try page.receive("GET / HTTP/1.1\r\nHost: x\r\nOrigin: \(origin)\r\n\r\n")
      let refusal = try page.sent().lowercased()
      #expect(refusal.hasPrefix("http/1.1 503 ") && refusal.contains("vary: origin\r\n"))
      #expect(refusal.contains("access-control-allow-origin: \(origin)\r\n") == isAllowed)
      #expect(refusal.contains("access-control-allow-credentials: true\r\n") == isAllowed)
      try page.receive(
        "OPTIONS / HTTP/1.1\r\nHost: x\r\nOrigin: \(origin)\r\n"
          + "Access-Control-Request-Method: PUT\r\n\r\n")
      #expect(try page.requests().count == 2)
    }
  }

  @Test func refusedBodyIsReadPast() throws {
    let admission = Admission(atOnce: 1)
    let (first, second) = (try Wire(admission: admission), try Wire(admission: admission))
    try first.receive(Wire.get)
    try second.receive("PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nab")
    #expect(try second.sent().hasPrefix("HTTP/1.1 503 "))
    first.answer()
    try second.receive("cde" + Wire.get)
    #expect(try second.requests().count == 2)
  }

  @Test(arguments: ["/healthz", "/readyz", "/metrics", "/couch/_up"])
  func operatorsAreAnsweredAllTheSame(path: String) throws {
    let admission = Admission(atOnce: 1)
    let (first, second) = (try Wire(admission: admission), try Wire(admission: admission))
    try first.receive(Wire.get)
    try second.receive(Wire.get.replacing("GET /", with: "GET " + path))
    #expect(try second.requests().count == 2)
  }

  @Test func feedHoldsNoSlotAndAConnectionThatGoesReleasesIts() throws {
    let admission = Admission(atOnce: 1)
    let (feed, other) = (try Wire(admission: admission), try Wire(admission: admission))
    try feed.receive(Wire.get)
    feed.channel.writeAndFlush(HTTPResponsePart.head(.init(status: .ok)), promise: nil)
    #expect(admission.runningCount == 0)
    try other.receive(Wire.get)
    #expect(admission.runningCount == 1)
    try other.channel.close().wait()
    #expect(admission.runningCount == 0)
  }

  @Test(.bug(id: "H05")) func slowBodyHoldsNoSlot() throws {
    let admission = Admission(atOnce: 1)
    let (slow, other) = (try Wire(admission: admission), try Wire(admission: admission))
    try slow.receive("PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{")
    #expect(admission.runningCount == 0)
    try other.receive(Wire.get)
    #expect(try other.requests().count == 2)
    other.answer()
    try slow.receive("}")
    #expect(admission.runningCount == 1)
    slow.answer()
    #expect(try slow.sent().hasPrefix("HTTP/1.1 200 ") && admission.runningCount == 0)
  }

  /// Whoever sent head and body in two packets came past the bound.
  @Test func bodyThatEndsWhenAllSlotsAreTakenIsRefused() throws {
    let admission = Admission(atOnce: 1)
    let (late, other) = (try Wire(admission: admission), try Wire(admission: admission))
    try late.receive("PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{")
    try other.receive(Wire.get)
    _ = try late.requests()
    let problem = late.problem { try late.receive("}") }
    #expect(problem?.error == "overloaded" && problem?.headers[.retryAfter] == "1")
    #expect(
      try late.requests().allSatisfy { if case .end = $0 { false } else { true } })
    #expect(admission.runningCount == 1 && admission.refusedCount == 1)
    // The route answers with an error, and the connection ends, because the rest of the request is not read.
    late.answer(.serviceUnavailable)
    #expect(try late.sent().lowercased().contains("connection: close"))
    other.answer()
    #expect(admission.runningCount == 0)
  }

  @Test func operatorsBodyIsTakenWhateverThereIsToDo() throws {
    let admission = Admission(atOnce: 1)
    let (late, other) = (try Wire(admission: admission), try Wire(admission: admission))
    try late.receive("POST /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{")
    try other.receive(Wire.get)
    #expect(late.problem { try late.receive("}") } == nil)
    #expect(admission.runningCount == 2)
  }

  /// Regression: a client that announced a body to a route that reads none was not counted by the limit.
  @Test(arguments: ["GET", "HEAD", "DELETE"])
  func requestThatNeedsNoBodyKeepsItsSlot(method: String) throws {
    let admission = Admission(atOnce: 1)
    let (first, second) = (try Wire(admission: admission), try Wire(admission: admission))
    for wire in [first, second] {
      try wire.receive("\(method) / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{")
    }
    #expect(try second.sent().hasPrefix("HTTP/1.1 503 ") && admission.runningCount == 1)
    first.answer()
    #expect(admission.runningCount == 0)
    let third = try Wire(admission: admission)
    try third.receive(
      Wire.get + "\(method) / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{")
    third.answer()
    #expect(admission.runningCount == 1)
  }

  @Test func requestBeingAnsweredKeepsItsSlotWhateverComesBehindIt() throws {
    let admission = Admission(atOnce: 1)
    let wire = try Wire(admission: admission)
    try wire.receive(Wire.get + "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{")
    #expect(admission.runningCount == 1)
    wire.answer()
    #expect(admission.runningCount == 0)
    try wire.receive("}")
    #expect(admission.runningCount == 1)
    wire.answer()
    #expect(admission.runningCount == 0)
  }

  @Test func bodiesBeyondTheMemoryForThemAreRefused() throws {
    let admission = Admission(memory: 90_000)
    let (first, second) = (try Wire(admission: admission), try Wire(admission: admission))
    for wire in [first, second] { try wire.receive(Wire.put) }
    let body = String(repeating: "x", count: 90_000)
    try first.receive(body)
    #expect(admission.bodyBytes == 90_000)
    // Connections may hold a little more than there is memory, together as much again.
    #expect(admission.reserveBody(90_000, on: HeldBytes()))
    let problem = second.problem { try second.receive(body) }
    #expect(problem?.status == .serviceUnavailable && problem?.error == "overloaded")
    first.answer()
    #expect(admission.bodyBytes == 90_000)
  }

  /// Regression: a connection had one byte count for all bodies, so the second body's count replaced the first's.
  @Test func bodiesOfPipelinedRequestsAreAccountedForEach() throws {
    let admission = Admission()
    let wire = try Wire(admission: admission)
    let body = { String(repeating: "x", count: $0) }
    try wire.receive(Wire.put + body(100_000) + Wire.put + body(70_000))
    #expect(admission.bodyBytes == 170_000)
    wire.answer()
    #expect(admission.bodyBytes == 70_000)
    try wire.receive(body(30_000))
    #expect(admission.bodyBytes == 100_000)
    try wire.channel.close().wait()
    #expect(admission.bodyBytes == 0)
  }

  @Test(.bug(id: "H08")) func whatABodyBecomesIsAccountedForUntilItsHandlerHasEnded() throws {
    let admission = Admission(memory: 1_000_000)
    let wire = try Wire(admission: admission)
    wire.route.isRunning = true
    try wire.receive(Wire.get)
    #expect(wire.route.reservation?.reserveBody(400_000) == true && admission.bodyBytes == 400_000)
    #expect(wire.route.reservation?.reserveBody(600_001) == false && admission.bodyBytes == 400_000)
    wire.answer()
    #expect(admission.bodyBytes == 400_000)
    wire.route.reservation = nil
    #expect(admission.bodyBytes == 0)
  }

  /// Regression: after a client disconnected, its memory and its place were freed at once, but the handler still ran.
  @Test func clientThatHangsUpCountsUntilItsHandlerHasEnded() throws {
    let admission = Admission(atOnce: 2)
    let wire = try Wire(admission: admission)
    wire.route.isRunning = true
    try wire.receive(Wire.put + String(repeating: "x", count: 100_000))
    #expect(admission.runningCount == 1 && admission.bodyBytes == 100_000)
    try wire.channel.close().wait()
    #expect(wire.route.reservation != nil)
    #expect(admission.runningCount == 1 && admission.bodyBytes == 100_000)
    wire.route.reservation = nil
    #expect(admission.runningCount == 0 && admission.bodyBytes == 0)
  }

  /// Regression: the answer used the version and the method of the last request that was read.
  @Test func answerIsInTheWordsOfItsOwnRequest() throws {
    let wire = try Wire()
    try wire.receive(Wire.get + "GET / HTTP/1.0\r\n\r\n")
    for version in ["1.1", "1.0"] {
      wire.answer()
      #expect(try wire.sent().hasPrefix("HTTP/\(version) 200 "))
    }
    let head = try Wire()
    try head.receive(Wire.get.replacing("GET", with: "HEAD") + Wire.get)
    head.wait(head.limits.answer)
    let refusal = try head.sent()
    #expect(refusal.hasPrefix("HTTP/1.1 503 ") && refusal.hasSuffix("\r\n\r\n"))
  }

  @Test(.bug(id: "H06")) func leaveToSendIsGivenOnceAndOnlyWhereItIsWaitedFor() throws {
    let wire = try Wire()
    try wire.receive(Wire.put)
    #expect(try wire.sent() == "")
    try wire.channel.triggerUserOutboundEvent(RequestEvent.bodyWanted).wait()
    #expect(try wire.sent() == "HTTP/1.1 100 Continue\r\n\r\n")
    try wire.receive("x")
    try wire.channel.triggerUserOutboundEvent(RequestEvent.bodyWanted).wait()
    #expect(try wire.sent() == "")
  }

  @Test func lastAnswerSaysSoAndWhatFollowsIsThrownAway() throws {
    let wire = try Wire()
    // The parser itself reports an error for the bytes that follow.
    try? wire.receive("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n" + Wire.get)
    #expect(try wire.requests().count == 2)
    wire.answer()
    #expect(try wire.sent().lowercased().contains("connection: close"))
    try? wire.receive(Wire.get)
    #expect(try wire.requests().isEmpty)
    wire.wait(wire.limits.linger)
    #expect(!wire.channel.isActive)
  }

  @Test(.bug(id: "H02")) func hostAndTargetAreAsTheClientMeant() throws {
    let cases: [(String, String?, String?)] = [
      ("GET /a?b HTTP/1.1\r\nHost: x\r\n", "x", "/a?b"),
      ("GET http://y/a?b HTTP/1.1\r\nHost: x\r\n", "y", "/a?b"),
      ("GET HTTPS://y:1?b HTTP/1.1\r\nHost: x\r\n", "y:1", "/?b"),
      ("GET / HTTP/1.1\r\nHost: x\r\nHOST: y\r\n", "x,y", "/"),
      ("GET / HTTP/1.1\r\n", nil, "/"), ("GET / HTTP/1.0\r\n", "localhost", "/"),
    ]
    for (head, host, path) in cases {
      let wire = try Wire()
      try wire.receive(head + "\r\n")
      guard case .head(let request) = try wire.requests().first else {
        Issue.record("no request for \(head)")
        continue
      }
      #expect(request.authority == host && request.path == path)
    }
  }

  @Test func longAnswersAreWrittenInPiecesAndWhole() throws {
    let wire = try Wire()
    try wire.receive(Wire.get)
    let body = String(repeating: "x", count: 200_000)
    wire.channel.write(
      HTTPResponsePart.head(.init(status: .ok, headerFields: [.contentLength: "200000"])),
      promise: nil)
    wire.channel.write(HTTPResponsePart.body(ByteBuffer(string: body)), promise: nil)
    wire.channel.writeAndFlush(HTTPResponsePart.end(nil), promise: nil)
    #expect(try wire.sent().hasSuffix("\r\n\r\n" + body))
  }
}
