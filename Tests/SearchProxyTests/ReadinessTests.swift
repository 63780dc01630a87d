import Hotels
import SearchProxy
import Testing

/// When an upstream counts as reachable.
@Suite struct ReadinessTests {
  @Test(arguments: [200, 301, 400, 404, 500])
  func anyHTTPAnswerMeansReady(status: Int) async throws {
    try await withUpstream(script: { _ in .answer(status) }) { upstream, server in
      try await upstream.checkReady()
      #expect(server.requests.map(\.target) == ["/api/hotels/"])
    }
  }

  @Test(arguments: [429, 502, 503, 504])
  func statusOfOverloadMeansUnavailable(status: Int) async throws {
    #expect(try await code(of: .answer(status)) == .unavailable)
  }

  @Test func connectionClosedWithoutAnAnswerMeansUnavailable() async throws {
    #expect(try await code(of: .raw([])) == .unavailable)
  }

  @Test func silenceIsATimeout() async throws {
    let timeouts = UpstreamTimeouts(
      connect: .seconds(600), firstByte: .milliseconds(50), total: .seconds(600))
    #expect(try await code(of: .stall([]), timeouts: timeouts) == .timeout)
  }

  @Test func wordStandsForFiveSeconds() async throws {
    let server = try ScriptedServer { _ in .answer(200) }
    let client = UpstreamClient(timeouts: patient)
    let start = ContinuousClock.now
    let time = ManualInstant(start)
    let upstream = TravelSampleUpstream(
      client: client, baseURL: try UpstreamURL("http://127.0.0.1:\(server.port)"),
      now: { time.now })
    try await upstream.checkReady()
    time.set(start + .milliseconds(4999))
    try await upstream.checkReady()
    #expect(server.requests.count == 1)
    time.set(start + .seconds(5))
    try await upstream.checkReady()
    #expect(server.requests.count == 2)
    server.stop()
    await client.shutdown()
  }

  @Test func probesAtOnceMakeOneCall() async throws {
    try await withUpstream(script: { _ in .answer(200) }) { upstream, server in
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<50 { group.addTask { try await upstream.checkReady() } }
        try await group.waitForAll()
      }
      #expect(server.requests.count == 1)
    }
  }

  private func code(
    of reply: ScriptedReply, timeouts: UpstreamTimeouts = patient
  ) async throws -> SearchError.Code? {
    try await withUpstream(timeouts: timeouts, script: { _ in reply }) { upstream, _ in
      do throws(SearchError) {
        try await upstream.checkReady()
        return nil
      } catch {
        return error.code
      }
    }
  }
}
