import Catalogue
import Hotels
import Testing

@Suite struct WordSearchTests {
  @Test(arguments: [
    ("pool", ["hotel_1", "hotel_2", "hotel_4"]), ("bar pool", ["hotel_1"]),
    ("POOL garden", ["hotel_2"]), ("poo", ["hotel_1", "hotel_2", "hotel_4"]),
    ("garden poo", ["hotel_2"]), ("cafe", ["hotel_1"]), ("CAFÉ", ["hotel_1"]),
    ("cafe\u{301}", ["hotel_1"]), ("etoile", ["hotel_5"]), ("hotel etoile", ["hotel_5"]),
    ("wi-fi", ["hotel_3"]), ("b&b", ["hotel_4", "hotel_6"]), ("crown & b&b", ["hotel_6"]),
    ("rochester", ["hotel_6"]), ("spa", ["hotel_4"]), ("free breakfast", ["hotel_5"]),
    ("pets", []), ("paris", ["hotel_1"]), ("pool in brighton", ["hotel_4"]),
    ("the sea", ["hotel_4"]), ("zebra", []),
  ])
  func descriptionWordsAreFoundInAnyOrderAndFolded(_ text: String, _ ids: [String]) async throws {
    try await CatalogueFixture.run(rows: Rows.some) { fixture async throws in
      #expect(try await fixture.ids(text).sorted() == ids)
    }
  }

  @Test(arguments: [
    ("San Francisco", ["hotel_2", "hotel_5"]), ("francisco CALIFORNIA", ["hotel_2"]),
    ("france", ["hotel_1", "hotel_5"]), ("united king", ["hotel_3", "hotel_4", "hotel_6"]),
    ("alger", ["hotel_1"]), ("Rue d'Alger", ["hotel_1"]), ("pool", []), ("remo", []),
    ("England", ["hotel_3", "hotel_4", "hotel_6"]), ("usa", ["hotel_2"]), ("the us", ["hotel_2"]),
    ("near me", (1...6).map { "hotel_\($0)" }),
  ])
  func locationWordsAreFoundInThePlaceOnly(_ text: String, _ ids: [String]) async throws {
    try await CatalogueFixture.run(rows: Rows.some) { fixture async throws in
      #expect(try await fixture.ids(in: text).sorted() == ids)
    }
  }

  @Test(arguments: [
    ("pool zebra", ["hotel_1", "hotel_2", "hotel_4"]), ("poo garden", ["hotel_2"]),
    ("bar garden breakfast", ["hotel_1", "hotel_2", "hotel_4", "hotel_5", "hotel_6"]),
    ("pool bar garden", ["hotel_1", "hotel_2"]),
  ])
  func ifNoHotelHasAllWordsThoseWithMostAreFound(_ text: String, _ ids: [String]) async throws {
    try await CatalogueFixture.run(rows: Rows.some) { fixture async throws in
      let query = HotelQuery(description: text)
      let page = try await fixture.catalogue.search(query)
      #expect(page.hotels.map(\.id.text).sorted() == ids)
      #expect(page.hasMostOnly && page.total == ids.count)
      var paged: [String] = []
      for offset in ids.indices { paged += try await fixture.ids(text, limit: 1, offset: offset) }
      #expect(paged == page.hotels.map(\.id.text))
    }
  }

  @Test func whatHasTheWholeTextComesFirst() async throws {
    let rows = [
      Rows.hotel(1, "York House New Inn", #""title":"New York""#), Rows.hotel(2, "York, New Inn"),
      Rows.hotel(3, "Inn", #""description":"On a long road that leads to New York.""#),
    ]
    try await CatalogueFixture.run(rows: rows) { fixture async throws in
      #expect(try await fixture.ids("new york") == ["hotel_1", "hotel_3", "hotel_2"])
    }
  }

  @Test(arguments: ["LA, CA", "la ca", "LA, California", "L.A., CA 90001", "LA, USA", "la,ca"])
  func laBeforeItsStateOrCountryIsLosAngeles(_ text: String) async throws {
    let state = #""state":"California","country":"United States""#
    let rows = [
      Rows.hotel(1, "A", #""city":"San Francisco",\#(state)"#),
      Rows.hotel(2, "B", #""city":"Los Angeles","address":"90001",\#(state)"#),
    ]
    try await CatalogueFixture.run(rows: rows) { fixture async throws in
      #expect(try await fixture.ids(in: text) == ["hotel_2"])
      #expect(try await fixture.ids(text) == ["hotel_2"])
    }
  }

  @Test func laBeforeCaliforniaInTheNameOfAHotelIsAnArticle() async throws {
    let rows = [
      Rows.hotel(1, "A", #""city":"Los Angeles","state":"California","country":"United States""#),
      Rows.hotel(2, "La California", #""city":"Turin","country":"Italy""#),
    ]
    try await CatalogueFixture.run(rows: rows) { fixture async throws in
      #expect(try await fixture.ids("Hotel La California").contains("hotel_2"))
    }
  }

  @Test func bothTextsMustMatch() async throws {
    try await CatalogueFixture.run(rows: Rows.some) { fixture async throws in
      #expect(try await fixture.ids("pool", in: "kingdom") == ["hotel_4"])
      #expect(
        try await fixture.ids("a hotel", in: "kingdom").sorted() == [
          "hotel_3", "hotel_4", "hotel_6",
        ])
    }
  }

  @Test func aWordInTheNameCountsMost() async throws {
    try await CatalogueFixture.run(rows: Rows.some) { fixture async throws in
      #expect(try await fixture.ids("pool").first == "hotel_2")
    }
  }

  @Test(arguments: [
    "hotel\" OR 1", "NEAR(pool bar)", "name:pool", "pool OR bar", "pool NOT bar",
    "pool AND bar AND",
    "\"", "\"\"\" pool", "{name} : pool", "^pool zebra", "pool\0bar\"", "(pool", "pool)",
    "-pool NOT",
    "';DROP TABLE hotel;--", "pool AND ((((",
  ])
  func whatLooksLikeSyntaxIsText(_ text: String) async throws {
    try await CatalogueFixture.run(rows: Rows.some) { fixture async throws in
      for matching in [HotelQuery.Matching.words, .phrase] {
        // No text may cause an error or match more than its words together match.
        let ids = try await fixture.ids(text, in: nil, matching)
        #expect(ids.count < 6, "\(ids)")
        _ = try await fixture.ids(in: text, matching)
      }
      // They have words that no hotel has, so that hotels with the others are found.
      #expect(try await fixture.ids("pool OR bar") == ["hotel_1"])
      // People say so, too.
      #expect(try await fixture.ids("pool NOT bar").sorted() == ["hotel_2", "hotel_4"])
      #expect(try await fixture.ids("name:pool").isEmpty)
    }
  }

  @Test(arguments: ["*", "\"", "& - .", "…"])
  func aTextWithoutAWordFindsNothing(_ text: String) async throws {
    try await CatalogueFixture.run(rows: Rows.some) { fixture async throws in
      for matching in [HotelQuery.Matching.words, .phrase] {
        #expect(try await fixture.ids(text, in: nil, matching).isEmpty)
        #expect(try await fixture.ids("pool", in: text, matching).isEmpty)
      }
    }
  }

  @Test func aTextOfManyWordsIsAnswered() async throws {
    try await CatalogueFixture.run(rows: Rows.some) { fixture async throws in
      let text = String(repeating: "a ", count: HotelQuery.maximumTextBytes / 2)
      _ = try await fixture.ids(text, in: text)
      #expect(try await fixture.ids(String(repeating: "pool ", count: 102)).count == 3)
    }
  }

  @Test func withoutTextAllHotelsComeByName() async throws {
    try await CatalogueFixture.run(rows: Rows.some) { fixture async throws in
      #expect(
        try await fixture.ids() == [
          "hotel_6", "hotel_1", "hotel_5", "hotel_2", "hotel_4", "hotel_3",
        ])
    }
  }
}
