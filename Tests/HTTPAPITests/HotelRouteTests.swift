import Documents
import HTTPTypes
import Hotels
import Testing

@testable import HTTPAPI

@Suite struct HotelRouteTests {
  private static func filled(_ api: APIFixture) throws {
    try api.search.add(
      #"{"id":1,"name":"One","price":1.0}"#, #"{"id":"hotelhotel_2","name":"Two"}"#,
      #"{"id":"three","name":"Three","bookmarked":"yes"}"#)
  }

  @Test func searchFlagsWhatIsBookmarked() async throws {
    try await APIFixture.open { api in
      try Self.filled(api)
      let token = try await api.guest()
      try await api.call(.put, "/v1/bookmarks/hotel_2", token: token)
      let mine = try await api.call(.get, "/v1/hotels?description=o", token: token)
      #expect(mine.ids == ["hotel_1", "hotel_2", "three"])
      #expect(mine["source"] == "upstream")
      #expect(Self.flags(mine) == [false, true, false])
      #expect(Self.flags(try await api.call(.get, "/v1/hotels")) == [false, false, false])
      let another = try await api.call(.get, "/v1/hotels", token: try await api.guest())
      #expect(Self.flags(another) == [false, false, false])
    }
  }

  @Test func moreDifferentWordsThanASearchLooksUpAreRefused() async throws {
    try await APIFixture.open { api in
      try Self.filled(api)
      func words(_ numbers: Range<Int>) -> String {
        numbers.map { "w\($0)" }.joined(separator: "%20")
      }
      let (most, more) = (words(0..<24), words(24..<33))
      for path in [
        "/v1/hotels?description=\(most)&location=\(more)", "/api/hotel/\(most)/\(more)",
        "/api/hotels/\(most)/\(more)", "/api/hotels/\(most)%20\(more)",
      ] {
        let reply = try await api.call(.get, path)
        #expect(reply.status == 400 && reply.error == "invalid_parameter")
        #expect(reply.text.contains("more than 32 different words"))
      }
      #expect(api.search.queries.isEmpty)
      let same = "/v1/hotels?description=\(most)%20\(most)&location=\(words(16..<32))"
      #expect(try await api.call(.get, same).status == 200)
    }
  }

  @Test func searchPassesTheQueryOn() async throws {
    try await APIFixture.open { api in
      try Self.filled(api)
      let page = try await api.call(
        .get, "/v1/hotels?description=pool+bar&location=S%C3%A3o%2BPaulo&limit=1&offset=1")
      #expect(page.ids == ["hotel_2"])
      #expect(page.json["next"]?.int == 2)
      #expect(
        api.search.queries == [
          HotelQuery(
            description: "pool bar", location: "S\u{E3}o+Paulo", matching: .words, limit: 1,
            offset: 1)
        ])
      #expect(try await api.call(.get, "/v1/hotels?offset=2").json["next"] == nil)
    }
  }

  @Test(arguments: [
    "limit=0", "limit=101", "offset=-1", "offset=10001", "limit=1&limit=2", "colour=red",
    "description=" + String(repeating: "x", count: 513), "location=%ff",
  ])
  func badSearchIsRefusedBeforeTheUpstream(query: String) async throws {
    try await APIFixture.open { api in
      let reply = try await api.call(.get, "/v1/hotels?" + query)
      #expect(reply.status == 400)
      #expect(api.search.queries.isEmpty)
    }
  }

  @Test(arguments: [
    (SearchError.Code.unavailable, 503, "search_unavailable"), (.timeout, 504, "search_timeout"),
    (.badAnswer, 502, "search_bad_answer"),
  ])
  func failureIsNeverAnEmptyList(code: SearchError.Code, status: Int, error: String) async throws {
    try await APIFixture.open { api in
      api.search.fail(with: code)
      for path in ["/v1/hotels", "/v1/hotels/hotel_1", "/api/hotel/a/b", "/api/hotels/a"] {
        let reply = try await api.call(.get, path)
        #expect(reply.status == status)
        #expect(reply.error == error)
      }
    }
  }

  @Test func bookmarkedHotelIsThereWithoutTheUpstream() async throws {
    try await APIFixture.open { api in
      try Self.filled(api)
      let token = try await api.guest()
      try await api.call(.put, "/v1/bookmarks/hotel_1", token: token)
      api.search.fail(with: .unavailable)
      let hotel = try await api.call(.get, "/v1/hotels/hotel_1", token: token)
      #expect(hotel.status == 200)
      #expect(hotel.json["bookmarked"]?.bool == true)
      #expect(try await api.call(.get, "/v1/hotels/hotel_1").status == 503)
      #expect(try await api.call(.get, "/v1/bookmarks", token: token).ids == ["hotel_1"])
    }
  }

  @Test func oneHotelIsTheUpstreams() async throws {
    try await APIFixture.open { api in
      try Self.filled(api)
      let hotel = try await api.call(.get, "/v1/hotels/hotel_1")
      #expect(hotel.text == #"{"id":"hotel_1","name":"One","price":1.0,"bookmarked":false}"#)
      for path in ["none", "_x", "bookmarks%3A"] {
        #expect(try await api.call(.get, "/v1/hotels/" + path).status == 404)
      }
    }
  }

  @Test func badCredentialsAreNotAnonymous() async throws {
    try await APIFixture.open { api in
      let reply = try await api.call(.get, "/v1/hotels", token: "nonsense")
      #expect(reply.status == 401)
    }
  }

  @Test func hotelKeepsItsBytes() throws {
    let body =
      #"{"id":7,"price":1.0,"zero":-0,"big":12345678901234567890,"e":1E+2,"bookmarked":"x","#
      + #""odd":{"id":1,"_k":[null,"\u0041\/"]},"\u00e9":0.10}"#
    let id = try #require(HotelID("hotel_7"))
    let bytes = try HotelJSON.bytes(id: id, body: Array(body.utf8), isBookmarked: true)
    #expect(
      String(decoding: bytes, as: UTF8.self)
        == #"{"id":"hotel_7","price":1.0,"zero":-0,"big":12345678901234567890,"e":1E+2,"#
        + #""odd":{"id":1,"_k":[null,"\u0041\/"]},"# + "\"\u{E9}\":0.10," + #""bookmarked":true}"#)
  }

  private static func flags(_ reply: Reply) -> [Bool] {
    reply.json["hotels"]?.array?.compactMap { $0["bookmarked"]?.bool } ?? []
  }
}
