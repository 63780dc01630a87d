import Catalogue
import Documents
import Hotels
import Testing

/// The order and number of a search's hotels, and the similar words that also match in place of a rare word.
@Suite struct SearchOrderTests {
  private static let rows = [
    Rows.hotel(1, "Delta Pool", #""price":"£1,250.50 a night","geo":{"lat":51.5,"lon":-0.12}"#),
    Rows.hotel(2, "alpha Pool", #""price":80,"geo":{"lat":48.85,"lon":2.35}"#),
    Rows.hotel(3, "Charlie Pool", #""price":"From €35.","geo":{"lat":-33.9,"lon":151.2}"#),
    Rows.hotel(4, "Bravo Pool", #""price":null,"geo":{"lat":"north","lon":1}"#),
  ]

  private func ids(
    _ fixture: CatalogueFixture, _ text: String?, _ order: HotelQuery.Order,
    near: GeoPoint? = nil, limit: Int = 100, offset: Int = 0
  ) async throws -> [String] {
    try await fixture.catalogue.search(
      HotelQuery(description: text, order: order, near: near, limit: limit, offset: offset)
    ).hotels.map(\.id.text)
  }

  @Test(arguments: [nil, "pool"])
  func hotelsComeInTheOrderThatIsAskedFor(text: String?) async throws {
    try await CatalogueFixture.run(rows: Self.rows) { fixture async throws in
      #expect(
        try await ids(fixture, text, .name) == ["hotel_2", "hotel_4", "hotel_3", "hotel_1"])
      #expect(
        try await ids(fixture, text, .price) == ["hotel_3", "hotel_2", "hotel_1", "hotel_4"])
      let (london, sydney) = (GeoPoint("51.5,-0.1"), GeoPoint("-33.8,151"))
      #expect(
        try await ids(fixture, text, .distance, near: london)
          == ["hotel_1", "hotel_2", "hotel_3", "hotel_4"])
      #expect(try await ids(fixture, text, .distance, near: sydney).first == "hotel_3")
      var paged: [String] = []
      for offset in 0..<4 {
        paged += try await ids(fixture, text, .price, limit: 1, offset: offset)
      }
      #expect(paged == ["hotel_3", "hotel_2", "hotel_1", "hotel_4"])
    }
  }

  /// A price orders the hotels, but hides none: what costs so much, what has no price or costs less, and what costs more.
  @Test(arguments: [
    ("pool under 100", [2, 3, 4, 1]), ("50-100 € pool", [2, 3, 4, 1]),
    ("cheap pool", [3, 2, 1, 4]), ("pool over 1000", [1, 2, 3, 4]),
    ("pool max 20 km", [1, 2, 3, 4]), ("pool max 12 pax", [1, 2, 3, 4]), ("pool", [1, 2, 3, 4]),
  ])
  func whatASearchSaysAboutAPriceOrdersItsHotels(text: String, wanted: [Int]) async throws {
    try await CatalogueFixture.run(rows: Self.rows) { fixture async throws in
      #expect(try await ids(fixture, text, .relevance) == wanted.map { "hotel_\($0)" })
    }
  }

  /// A price alone finds what costs so much, the cheapest first; if nothing does, all hotels by their price.
  @Test(arguments: [
    ("under 100 €", [3, 2], false), ("hotels over 100", [1], false),
    ("cheap", [3, 2, 1, 4], false),
    ("cheap hotels", [3, 2, 1, 4], false), ("under 10 €", [3, 2, 1, 4], true),
    ("no pets under 100 €", [3, 2], false), ("2 guests, 3 nights", [2, 4, 3, 1], false),
  ])
  func aPriceAloneFindsWhatCostsSoMuch(text: String, wanted: [Int], isMost: Bool) async throws {
    try await CatalogueFixture.run(rows: Self.rows) { fixture async throws in
      let page = try await fixture.catalogue.search(HotelQuery(description: text))
      #expect(page.hotels.map(\.id.text) == wanted.map { "hotel_\($0)" })
      #expect(page.hasMostOnly == isMost && page.total == wanted.count)
      let second = HotelQuery(description: text, limit: 1, offset: 1)
      let id = try await fixture.catalogue.search(second).hotels.first?.id.text
      #expect(id == wanted.dropFirst().first.map { "hotel_\($0)" })
      #expect(
        try await ids(fixture, text, .name).filter { id in wanted.contains { "hotel_\($0)" == id } }
          == [2, 4, 3, 1].filter(wanted.contains).map { "hotel_\($0)" })
    }
  }

  @Test func theNamesOfAFamousCityDoNotPutItsHotelsLast() async throws {
    let rows = [
      Rows.hotel(1, "Rose Pool", #""city":"Paris","country":"France""#),
      Rows.hotel(2, "Lily Pool", #""city":"Dreux","country":"France""#),
    ]
    try await CatalogueFixture.run(rows: rows) { fixture async throws in
      #expect(try await ids(fixture, "pool", .relevance) == ["hotel_1", "hotel_2"])
    }
  }

  @Test(arguments: [
    "", "51", "51,", "51.5, 0", "5e1,0", "051,0", "5.,0", "+5,0", "--5,0", "0,00", ",1", "51,1,1",
    "91,0", "0,181", "-91,0", "x,y", "1e400,0", "NaN,0",
  ])
  func whatIsNoPlaceIsRefused(text: String) {
    #expect(GeoPoint(text) == nil)
  }

  @Test(arguments: [(nil, 6), ("pool", 3), ("zebra", 0), ("&", 0)] as [(String?, Int)])
  func thePageSaysHowManyMatch(text: String?, count: Int) async throws {
    try await CatalogueFixture.run(rows: Rows.some) { fixture async throws in
      let page = try await fixture.catalogue.search(HotelQuery(description: text, limit: 1))
      #expect(page.total == count)
    }
  }

  @Test(arguments: [
    ("pools", "swimming pool"), ("swiming", "swimming pool"), ("swimmnig pool", "swimming pool"),
    ("swimming pools", "swimming pool"), ("berakfast", "breakfast"), ("ferry", "ferries"),
    ("beaches", "beach"),
  ])
  func aPluralOrATypingErrorStillFinds(text: String, meant: String) async throws {
    let rows = ["swimming pool", "breakfast", "ferries", "beach"].enumerated().map {
      Rows.hotel($0 + 1, "Hotel \($0)", #""description":"\#($1)""#)
    }
    let expected = try #require(
      ["swimming pool", "breakfast", "ferries", "beach"].firstIndex(of: meant))
    try await CatalogueFixture.run(rows: rows) { fixture async throws in
      let page = try await fixture.catalogue.search(HotelQuery(description: text))
      #expect(page.hotels.map(\.id.text) == ["hotel_\(expected + 1)"])
      #expect(page.total == 1)
    }
  }

  @Test func whatHasTheWordsAsTheyAreComesFirst() async throws {
    var rows = (1...9).map { Rows.hotel($0, "Pool Pool Pool \($0)") }
    rows.append(Rows.hotel(10, "Quiet house of pools and much else that makes it a long name"))
    try await CatalogueFixture.run(rows: rows) { fixture async throws in
      #expect(try await fixture.ids("pools").first == "hotel_10")
      // In another order, all stand where they belong.
      #expect(try await ids(fixture, "pools", .name).last == "hotel_10")
      var paged: [String] = []
      for offset in 0..<10 { paged += try await fixture.ids("pools", limit: 1, offset: offset) }
      #expect(paged == (try await fixture.ids("pools")))
      #expect(Set(paged).count == 10)
      let page = try await fixture.catalogue.search(HotelQuery(description: "pools", limit: 3))
      #expect(page.total == 10)
      #expect(page.next == 3)
    }
  }

  @Test(arguments: [
    ("kent", ["hotel_2", "hotel_3", "hotel_5"]),
    ("the best hotels in kent", ["hotel_2", "hotel_3", "hotel_5"]), ("sauna in kent", ["hotel_2"]),
    ("hotels near tower bridge", ["hotel_4"]), ("hotel in kent house", ["hotel_5"]),
  ])
  func whatIsMeantComesBeforeWhatOnlyBeginsWithIt(text: String, first: [String]) async throws {
    let rows =
      [
        Rows.hotel(1, "Kentucky Inn Kentucky Sauna"),
        Rows.hotel(2, "White Hart", #""description":"With a sauna.","state":"Kent""#),
        Rows.hotel(3, "Oast House", #""description":"An inn.","city":"Kent""#),
        Rows.hotel(4, "City Inn", #""description":"Rooms at Tower Bridge.""#),
        Rows.hotel(5, "Bridge Tower Hotel in Kent House"),
      ] + (6...30).map { Rows.hotel($0, "Rooms \($0)") }
    try await CatalogueFixture.run(rows: rows) { fixture async throws in
      #expect(try await fixture.ids(text).prefix(first.count).sorted() == first)
    }
  }

  @Test(arguments: ["earls court", "Earl's Court hotels", "hotels near earl’s court"])
  func aPossessiveIsOnePhraseHoweverItIsWritten(text: String) async throws {
    let rows = [
      Rows.hotel(1, "Two Earls", #""description":"The earls of the court.","address":"Court Ln""#),
      Rows.hotel(2, "Earls Court Inn"), Rows.hotel(3, "K+K", #""address":"Earl's Court Sq""#),
    ]
    try await CatalogueFixture.run(rows: rows) { fixture async throws in
      #expect(try await fixture.ids(text).last == "hotel_1")
    }
  }

  @Test(arguments: [
    ("hotels in LA", ["hotel_1"]), ("LA hotels with pool", ["hotel_1"]),
    ("la rochette", ["hotel_2"]),
    ("パリのホテル", ["hotel_3"]), ("ロンドン ホテル", ["hotel_4"]), ("отель в Лондоне", ["hotel_4"]),
    ("런던 호텔", ["hotel_4"]), ("a place to stay near me in london", ["hotel_4"]),
    ("campsites", ["hotel_5", "hotel_6"]), ("campsites in scotland", ["hotel_5"]),
    ("B&Bs", ["hotel_7"]), ("hotel near Heathrow", ["hotel_4"]),
    ("auberge paris quux", ["hotel_3"]),
    ("cabin ohio", ["hotel_7"]), ("sands in london", ["hotel_4"]),
    ("vaison la", ["hotel_2"]), ("hotels in la", ["hotel_1"]),
  ])
  func wordsAroundAPlaceFindThePlace(text: String, found: [String]) async throws {
    let rows = [
      Rows.hotel(
        1, "Palms", #""description":"A pool.","city":"Los Angeles","country":"United States""#),
      Rows.hotel(2, "La Rochette", #""city":"Vaison-la-Romaine","country":"France""#),
      Rows.hotel(3, "Lion", #""city":"Paris","country":"France""#),
      Rows.hotel(4, "Bear", #""city":"London","country":"United Kingdom""#),
      Rows.hotel(5, "Kinloch", #""description":"A campsite.","state":"Scotland""#),
      Rows.hotel(6, "Campsites United", #""state":"California","country":"United States""#),
      Rows.hotel(7, "The B&B", #""state":"Ohio""#),
      Rows.hotel(8, "Auberge Cabin", #""title":"Chamonix Sands","city":"Chamonix""#),
    ]
    try await CatalogueFixture.run(rows: rows) { fixture async throws in
      let ids = try await fixture.ids(text).sorted()
      #expect(ids == found)
    }
  }

  @Test(arguments: [
    ("LA", ["hotel_1"]), ("Wales", ["hotel_2", "hotel_3"]), ("Venice", ["hotel_4"]),
  ])
  func placeIsFoundByItsNamesAndThenByTitles(place: String, found: [String]) async throws {
    let rows = [
      Rows.hotel(1, "Palms", #""city":"Los Angeles","country":"United States""#),
      Rows.hotel(
        2, "Harp",
        #""country":"United Kingdom","geo":{"lat":52.86,"lon":-4.11},"city":"Harlech""#),
      Rows.hotel(3, "Crown", #""address":"Prince of Wales Ter","city":"London""#),
      Rows.hotel(4, "Sands", #""title":"Los Angeles/Venice","city":"Marina""#),
      Rows.hotel(5, "Roman", #""city":"Vaison-la-Romaine""#),
    ]
    try await CatalogueFixture.run(rows: rows) { fixture async throws in
      let page = try await fixture.catalogue.search(HotelQuery(location: place, limit: 9))
      #expect(page.hotels.map(\.id.text) == found)
    }
  }

  @Test(arguments: [
    ("los angles", ["hotel_1"], false), ("hotels in los angles", ["hotel_1"], false),
    ("isle of skye", ["hotel_8"], true), ("brighton", [], false), ("st ives", [], false),
    ("family room manchester", ["hotel_11"], true), ("harpe", ["hotel_13"], false),
  ])
  func whatIsMeantIsFoundAndNotWhatLooksLikeIt(
    text: String, found: [String], isMost: Bool
  ) async throws {
    let rows =
      [Rows.hotel(1, "Palms", #""city":"Los Angeles","country":"United States""#)]
      + (2...7).map { Rows.hotel($0, "Harp \($0)", #""city":"Isle of Anglesey""#) } + [
        Rows.hotel(8, "Croft", #""description":"The ferry goes to Skye.""#),
        Rows.hotel(9, "Light", #""description":"Bright family beds.""#),
        Rows.hotel(10, "St. Henri IV"), Rows.hotel(11, "Mitre", #""city":"Manchester""#),
        Rows.hotel(12, "Manchester Grand", #""title":"Room","city":"San Diego""#),
        // Six hotels have "harp".
        Rows.hotel(13, "Mill", #""city":"Harpe""#),
      ]
    try await CatalogueFixture.run(rows: rows) { fixture async throws in
      let page = try await fixture.catalogue.search(HotelQuery(description: text, limit: 9))
      #expect(page.hotels.map(\.id.text) == found)
      #expect(page.hasMostOnly == isMost)
    }
  }

  @Test func aWordThatManyHaveStandsForItselfOnly() async throws {
    let rows = (1...4).map { Rows.hotel($0, "Hotel \($0)") } + [Rows.hotel(5, "Hostel 5")]
    try await CatalogueFixture.run(rows: rows) { fixture async throws in
      #expect(try await fixture.ids("hotel").count == 4)
    }
  }

  @Test func thePluralOfAWordThatManyHaveIsNoMistake() async throws {
    let rows =
      (1...40).map { Rows.hotel($0, "Hotels \($0)") }
      + (41...50).map { Rows.hotel($0, "Hostel \($0)") }
    try await CatalogueFixture.run(rows: rows) { fixture async throws in
      #expect(try await fixture.ids("hostels").count == 10)
    }
  }

  @Test func ownBookmarksAreSearchedByTheSameRules() async throws {
    let hotels = try Self.rows.map {
      try Hotel(ParsedJSON(Array($0.utf8), limits: .document).root, from: .upstream)
    }
    let mirror = ScratchCatalogue(limit: .seconds(600))
    let page = try await mirror.search(
      HotelQuery(description: "pools", order: .price, limit: 2), among: hotels)
    #expect(page.hotels.map(\.id.text) == ["hotel_3", "hotel_2"])
    #expect(page.total == 4)
    await mirror.stop()
  }
}
