import Catalogue
import Documents
import Hotels
import Testing

@Suite struct PagingTests {
  private static let rows = (0..<57).map { number in
    Rows.hotel(number, "Hotel \(number % 5)", #""description":"Room.","city":"London""#)
  }

  @Test(
    arguments: [HotelQuery.Matching.words, .phrase],
    [
      [nil, nil], ["room", nil], [nil, "London"], ["room", "London"],
    ] as [[String?]])
  func pagesCoverEveryHotelOnce(_ matching: HotelQuery.Matching, _ texts: [String?]) async throws {
    try await CatalogueFixture.run(rows: Self.rows) { fixture async throws in
      var ids: [String] = []
      var offset: Int? = 0
      while let from = offset {
        let page = try await fixture.catalogue.search(
          HotelQuery(
            description: texts[0], location: texts[1], matching: matching, limit: 10, offset: from))
        #expect(page.source == .upstream)
        ids += page.hotels.map(\.id.text)
        offset = page.next
      }
      #expect(ids.count == 57)
      #expect(Set(ids).count == 57)
      #expect(try await fixture.ids(texts[0], in: texts[1], matching) == ids)
    }
  }

  @Test func theLastFullPageHasNoNext() async throws {
    try await CatalogueFixture.run(rows: Self.rows) { fixture async throws in
      let all = try await fixture.catalogue.search(HotelQuery(limit: 57))
      #expect(all.hotels.count == 57 && all.next == nil)
      let most = try await fixture.catalogue.search(HotelQuery(limit: 56))
      #expect(most.hotels.count == 56 && most.next == 56)
      let beyond = try await fixture.catalogue.search(HotelQuery(limit: 10, offset: 100))
      #expect(beyond.hotels.isEmpty && beyond.next == nil)
    }
  }

  @Test func aHotelIsFoundByAnySpellingOfItsID() async throws {
    let rows = [
      #"{"id":10025,"name":"Number","geo":{"lat":51.20,"lon":1e0},"sign":"\u00e9"}"#,
      #"{"name":"No id"}"#, #"{"_id":"hotel_7","id":7,"name":"Own id"}"#,
      #"{"id":"hotelhotel_8","name":"Doubled"}"#, #"{"id":"villa","name":"Another"}"#,
    ]
    try await CatalogueFixture.run(rows: rows) { fixture async throws in
      for id in ["hotel_10025", "10025", "hotelhotel_10025"] {
        let hotel = try await fixture.hotel(id)
        #expect(hotel?.id.text == "hotel_10025")
        #expect(hotel?.body.bytes == Array(rows[0].utf8))
      }
      for (id, name) in [("7", "Own id"), ("hotel_8", "Doubled"), ("villa", "Another")] {
        let found = try await fixture.hotel(id)
        let hotel = try #require(found)
        let body = try ParsedJSON(hotel.body.bytes, limits: .document).root
        #expect(body["name"]?.stringEquals(name) == true)
      }
      let absent = try await fixture.hotel("hotel_9")
      #expect(absent == nil)
      let found = try await fixture.ids("No id")
      let made = try #require(found.first)
      #expect(made.utf8.count == 22 && made.hasPrefix("hotel_"))
    }
  }
}

extension CatalogueFixture {
  fileprivate func hotel(_ text: String) async throws -> Hotel? {
    let id = try #require(HotelID(text))
    return try await catalogue.hotel(id)
  }
}
