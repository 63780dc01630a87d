import Hotels
import SearchProxy
import Testing

/// The exact bytes of the request to the upstream.
@Suite struct SearchPathTests {
  @Test(
    .bug(id: "U06"),
    arguments: [
      ("cafe\u{301}", "/api/hotels/cafe%CC%81/*/"),
      ("caf\u{e9}", "/api/hotels/caf%C3%A9/*/"),
      ("a/b", "/api/hotels/a%2Fb/*/"),
      ("a\\b", "/api/hotels/a%5Cb/*/"),
      ("../admin?x=", "/api/hotels/..%20admin%3Fx%3D/*/"),
      ("x/..\\y", "/api/hotels/x%20..%20y/*/"),
      ("...", "/api/hotels/.../*/"),
      ("**", "/api/hotels/%2A%2A/*/"),
      ("#?", "/api/hotels/%23%3F/*/"),
      ("%2f", "/api/hotels/%252f/*/"),
      ("%00", "/api/hotels/%2500/*/"),
      ("a\u{0}b", "/api/hotels/a%00b/*/"),
      ("a\r\nHost: x", "/api/hotels/a%0D%0AHost%3A%20x/*/"),
      ("hotel\" OR 1", "/api/hotels/hotel%22%20OR%201/*/"),
      ("a+b&c;d", "/api/hotels/a%2Bb%26c%3Bd/*/"),
      ("A-z_0.9~", "/api/hotels/A-z_0.9~/*/"),
      ("\u{1F3E8}", "/api/hotels/%F0%9F%8F%A8/*/"),
      ("Rue d'Alger", "/api/hotels/Rue%20d%27Alger/*/"),
    ])
  func textIsOneSegment(text: String, target: String) async throws {
    #expect(try await targets(HotelQuery(description: text)) == [target])
  }

  @Test(.bug(id: "U06")) func longestTextIsSentWhole() async throws {
    let text = String(repeating: "\u{e9}", count: HotelQuery.maximumTextBytes / 2)
    let segment = String(repeating: "%C3%A9", count: HotelQuery.maximumTextBytes / 2)
    #expect(
      try await targets(HotelQuery(description: text, location: text))
        == ["/api/hotels/\(segment)/\(segment)/"])
  }

  @Test(
    .bug(id: "U06"), arguments: [".", "..", "*", " .. ", "../..", "/", "//", "/.", "\\", "./*"])
  func textWithAMeaningInAPathMatchesNothingAndIsNotSent(text: String) async throws {
    #expect(try await targets(HotelQuery(description: text)).isEmpty)
    #expect(try await targets(HotelQuery(description: "inn", location: text)).isEmpty)
  }

  @Test func eachTextHasItsPlaceAndNoneIsAStar() async throws {
    #expect(
      try await targets(HotelQuery(description: "pool", location: "San Francisco"))
        == ["/api/hotels/pool/San%20Francisco/"])
    #expect(try await targets(HotelQuery(location: "Medway")) == ["/api/hotels/*/Medway/"])
    #expect(try await targets(HotelQuery()) == ["/api/hotels/*/*/"])
  }

  @Test(arguments: ["/travel", "/travel/"])
  func pathOfTheBaseURLComesFirst(prefix: String) async throws {
    #expect(
      try await targets(HotelQuery(description: "pool"), prefix: prefix)
        == ["/travel/api/hotels/pool/*/"])
  }

  @Test func requestCarriesOnlyItsOwnFields() async throws {
    let request = try await withUpstream(script: { _ in .json(Golden.v2) }) { upstream, server in
      _ = try await upstream.search(HotelQuery(description: "pool"))
      return try #require(server.requests.first)
    }
    #expect(request.method == "GET")
    #expect(request.fields["user-agent"] == "hotel-bookmarks")
    #expect(
      Set(request.fields.keys).subtracting(["content-length", "connection"])
        == ["host", "user-agent", "accept", "accept-encoding"])
  }

  @Test func slashIsSentAsASpaceToServersThatResolveIt() async throws {
    let targets = try await withUpstream(
      script: { request in
        request.target.contains("%2F")
          ? .answer(404, ["content-type: text/html"], Array(Golden.notFoundPage.utf8))
          : .json(Golden.v2)
      }
    ) { upstream, server in
      let page = try await upstream.search(HotelQuery(description: "pool/spa", location: "a/b"))
      #expect(page.ids.count == 1)
      return server.requests.map(\.target)
    }
    #expect(targets == ["/api/hotels/pool%2Fspa/a%2Fb/", "/api/hotels/pool%20spa/a%20b/"])
  }

  private func targets(
    _ query: HotelQuery, prefix: String = ""
  ) async throws -> [String] {
    try await withUpstream(
      prefix: prefix, script: { _ in .json(Golden.v2) }
    ) { upstream, server in
      _ = try await upstream.search(query)
      return server.requests.map(\.target)
    }
  }
}
