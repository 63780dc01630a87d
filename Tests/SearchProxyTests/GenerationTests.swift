import Hotels
import SearchProxy
import Testing

/// Detection of an upstream's generation.
@Suite struct GenerationTests {
  private static let notFound = ScriptedReply.answer(
    404, ["content-type: text/html"], Array(Golden.notFoundPage.utf8))

  @Test func secondGenerationIsAskedFirst() async throws {
    #expect(try await targets(knows: "/api/hotels/") == ["/api/hotels/a/*/"])
  }

  @Test func firstGenerationIsAskedWhenTheSecondIsNotFoundAndRemembered() async throws {
    #expect(
      try await targets(knows: "/api/hotel/", searches: 2)
        == ["/api/hotels/a/*/", "/api/hotel/a/*/", "/api/hotel/a/*/"])
  }

  @Test func upstreamWithNeitherIsABadAnswer() async throws {
    try await withUpstream(script: { _ in Self.notFound }) { upstream, server in
      await #expect(throws: SearchError.self) {
        try await upstream.search(HotelQuery(description: "a"))
      }
      #expect(server.requests.map(\.target) == ["/api/hotels/a/*/", "/api/hotel/a/*/"])
    }
  }

  @Test func failureOfOneGenerationIsNoReasonToAskTheOther() async throws {
    let script: ScriptedServer.Script = { _ in .answer(500) }
    try await withUpstream(script: script) { upstream, server in
      await #expect(throws: SearchError.self) {
        try await upstream.search(HotelQuery(description: "a"))
      }
      #expect(server.requests.count == 1)
    }
  }

  private func targets(
    knows path: String, searches: Int = 1
  ) async throws -> [String] {
    try await withUpstream(
      script: { request in
        request.target.hasPrefix(path) ? .json(Golden.v1) : Self.notFound
      }
    ) { upstream, server in
      for _ in 0..<searches {
        let page = try await upstream.search(HotelQuery(description: "a"))
        #expect(page.ids.count == 2)
      }
      return server.requests.map(\.target)
    }
  }
}
