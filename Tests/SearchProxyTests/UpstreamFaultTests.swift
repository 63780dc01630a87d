import Hotels
import SearchProxy
import Testing

/// A failure of an upstream is an error and never an empty page.
@Suite struct UpstreamFaultTests {
  @Test(
    .bug(id: "U04"),
    arguments: [
      "<html><body>Internal Server Error</body></html>", "", "null", "[]", #""x""#, #"{"data":{}}"#,
      #"{"data":"x"}"#, #"{"data":[1,2]}"#, #"{"data":[{}]}"#, #"{"data":null,"error":"down"}"#,
      #"{"failure":"FTS index not found"}"#, #"{"message":"no"}"#, #"{"data":[{"id":1},]}"#,
      #"{"data":[],"data":[]}"#, #"{"data":[NaN]}"#, "\u{FEFF}{}", #"{"data":["\ud800"]}"#,
    ])
  func contentThatIsNoAnswerIsABadAnswer(body: String) async throws {
    #expect(try await failure(of: .json(body)) == .badAnswer)
  }

  @Test(.bug(id: "U04")) func invalidUTF8IsABadAnswer() async throws {
    let body = Array(#"{"data":[{"name":""#.utf8) + [0xC3, 0x28] + Array(#""}]}"#.utf8)
    let reply = ScriptedReply.answer(200, ["content-type: application/json"], body)
    #expect(try await failure(of: reply) == .badAnswer)
  }

  @Test(.bug(id: "U04")) func contentTooDeepIsABadAnswer() async throws {
    let body = #"{"data":"# + String(repeating: "[", count: 10_000)
    #expect(try await failure(of: .json(body)) == .badAnswer)
  }

  @Test(
    .bug(id: "U04"),
    arguments: ["text/html", "text/html; charset=utf-8", "text/plain", "application/jsonx"])
  func anotherMediaTypeIsABadAnswerWhateverTheContent(type: String) async throws {
    let reply = ScriptedReply.answer(200, ["content-type: \(type)"], Array(Golden.v1.utf8))
    #expect(try await failure(of: reply) == .badAnswer)
  }

  @Test(
    .bug(id: "U01"),
    arguments: [201, 204, 300, 303, 304, 400, 401, 403, 404, 405, 410, 500, 501, 505])
  func statusThatIsNoAnswerIsABadAnswer(status: Int) async throws {
    let page = Array(Golden.notFoundPage.utf8)
    let hasContent = status != 204 && status != 304
    let reply = ScriptedReply.answer(status, ["content-type: text/html"], hasContent ? page : [])
    #expect(try await failure(of: reply) == .badAnswer)
  }

  @Test(.bug(id: "U02"), arguments: [429, 502, 503, 504])
  func statusOfOverloadIsUnavailable(status: Int) async throws {
    let reply = ScriptedReply.answer(status, ["retry-after: 1", "content-type: text/html"])
    #expect(try await failure(of: reply) == .unavailable)
  }

  @Test(.bug(id: "U04")) func declaredLengthPastTheLimitIsABadAnswer() async throws {
    let head = ScriptedReply.head(200, ["content-length: 4097"])
    #expect(try await failure(of: .stall(head), maximumAnswerBytes: 4096) == .badAnswer)
  }

  @Test(.bug(id: "U04")) func contentWithoutAnEndIsABadAnswer() async throws {
    let head = ScriptedReply.head(200, ["content-type: application/json"])
    #expect(try await failure(of: .flood(head), maximumAnswerBytes: 100_000) == .badAnswer)
  }

  @Test(.bug(id: "U04")) func contentAtTheLimitIsTakenAndOneByteMoreIsNot() async throws {
    let body = #"{"data":[{"id":"hotel_1"}]}"#
    let size = body.utf8.count
    #expect(try await failure(of: .json(body), maximumAnswerBytes: size) == nil)
    #expect(try await failure(of: .json(body), maximumAnswerBytes: size - 1) == .badAnswer)
  }

  /// FAULTS H08.
  @Test(
    .bug(id: "U04"),
    arguments: [Compressed.answer, Compressed.bomb],
    ["gzip", "GZIP", "deflate", "br", "gzip, gzip", "identity, gzip", "x-unknown", "identity;q=1"])
  func compressedContentIsABadAnswerAndNeverInflated(
    body: [UInt8], coding: String
  ) async throws {
    let fields = ["content-type: application/json", "content-encoding: \(coding)"]
    #expect(try await failure(of: .answer(200, fields, body)) == .badAnswer)
  }

  /// Regression: a second field line was ignored.
  @Test(.bug(id: "U04")) func codingInASecondLineIsABadAnswer() async throws {
    let fields = [
      "content-type: application/json", "content-encoding: identity", "content-encoding: gzip",
    ]
    let reply = ScriptedReply.answer(200, fields, Array(Golden.v1.utf8))
    #expect(try await failure(of: reply) == .badAnswer)
  }

  @Test(.bug(id: "U04")) func contentInAnUnknownTransferCodingIsABadAnswer() async throws {
    let head = ScriptedReply.head(
      200, ["content-type: application/json", "transfer-encoding: gzip, chunked"])
    let size = Array((String(Compressed.answer.count, radix: 16) + "\r\n").utf8)
    let body = size + Compressed.answer + Array("\r\n0\r\n\r\n".utf8)
    #expect(try await failure(of: .raw(head + body)) == .badAnswer)
  }

  @Test(.bug(id: "U04")) func headWithoutAnEndIsABadAnswer() async throws {
    let head = Array("HTTP/1.1 200 OK\r\nx: y".utf8)
    #expect(try await failure(of: .flood(head)) == .badAnswer)
  }

  @Test(.bug(id: "U01")) func answerThatBreaksOffIsABadAnswer() async throws {
    let head = ScriptedReply.head(200, ["content-length: 100"])
    #expect(try await failure(of: .raw(head + Array("{".utf8))) == .badAnswer)
  }

  @Test(.bug(id: "U01")) func noHTTPIsABadAnswer() async throws {
    #expect(try await failure(of: .raw(Array("220 mail ready\r\n\r\n".utf8))) == .badAnswer)
  }

  @Test(.bug(id: "U01")) func connectionClosedWithoutAnAnswerIsUnavailable() async throws {
    #expect(try await failure(of: .raw([])) == .unavailable)
  }

  @Test(.bug(id: "U01")) func refusedConnectionIsUnavailable() async throws {
    let port = try ScriptedSocket.closedPort()
    #expect(try await failureAsking("http://127.0.0.1:\(port)") == .unavailable)
  }

  @Test(.bug(id: "U01")) func unknownHostIsUnavailable() async throws {
    // If no name server answers, the resolver's or the proxy's time limit ends the call.
    let code = try await failureAsking(
      "http://no-such-host.invalid",
      timeouts: UpstreamTimeouts(connect: .seconds(5), firstByte: .seconds(5)))
    #expect(code == .unavailable || code == .timeout)
  }

  @Test(.bug(id: "U01")) func plainServerBehindTLSIsUnavailable() async throws {
    let server = try ScriptedServer { _ in .raw([]) }
    defer { server.stop() }
    // The server waits for the end of a line. A TLS greeting may not contain one, so a time limit may end
    // the call.
    let code = try await failureAsking(
      "https://127.0.0.1:\(server.port)",
      timeouts: UpstreamTimeouts(connect: .milliseconds(50)))
    #expect(code == .unavailable || code == .timeout)
  }

  @Test(.bug(id: "U01")) func noHeadInTimeIsATimeout() async throws {
    let timeouts = UpstreamTimeouts(
      connect: .seconds(600), firstByte: .milliseconds(50), total: .seconds(600))
    #expect(try await failure(of: .stall([]), timeouts: timeouts) == .timeout)
    let half = Array("HTTP/1.1 200 OK\r\ncontent-le".utf8)
    #expect(try await failure(of: .stall(half), timeouts: timeouts) == .timeout)
  }

  @Test(.bug(id: "U01")) func contentThatStopsIsATimeout() async throws {
    let head = ScriptedReply.head(200, ["content-length: 100"])
    #expect(try await failure(of: .stall(head), timeouts: brief) == .timeout)
  }

  @Test(.bug(id: "U07")) func contentThatDripsIsATimeout() async throws {
    let head = ScriptedReply.head(200, ["content-type: application/json"])
    #expect(try await failure(of: .drip(head), timeouts: brief) == .timeout)
  }

  @Test func aCallerWhoLeavesGetsAnError() async throws {
    let code = try await withUpstream(script: { _ in .stall([]) }) { upstream, _ in
      let search = Task {
        do throws(SearchError) {
          _ = try await upstream.search(HotelQuery(description: "inn"))
          return nil as SearchError.Code?
        } catch {
          return error.code
        }
      }
      search.cancel()
      return await search.value
    }
    #expect(code == .unavailable)
  }

  /// Limits of which only the total is short.
  private var brief: UpstreamTimeouts {
    UpstreamTimeouts(connect: .seconds(600), firstByte: .seconds(600), total: .milliseconds(200))
  }

  private func failureAsking(
    _ url: String, timeouts: UpstreamTimeouts = patient
  ) async throws -> SearchError.Code? {
    let client = UpstreamClient(timeouts: timeouts)
    let upstream = TravelSampleUpstream(client: client, baseURL: try UpstreamURL(url))
    var code: SearchError.Code?
    do throws(SearchError) {
      _ = try await upstream.search(HotelQuery(description: "inn"))
    } catch {
      code = error.code
    }
    await client.shutdown()
    return code
  }
}
