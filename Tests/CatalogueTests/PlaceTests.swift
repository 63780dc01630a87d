import Catalogue
import Hotels
import Testing

@Suite struct PlaceTests {
  private static let rows = [
    Rows.hotel(1, "A", #""city":"東京都","country":"日本""#),
    Rows.hotel(2, "B", #""city":"東京都","country":"日本","price":"£5""#),
    Rows.hotel(3, "C", #""city":"København","country":"Danmark""#),
    Rows.hotel(4, "D", #""city":"Zürich","country":"Schweiz""#),
    Rows.hotel(
      5, "E", #""city":"San Francisco","state":"California","country":"United States""#),
    Rows.hotel(6, "F", #""city":" ","country":null"#),
    Rows.hotel(7, "G", #""city":"New York","state":"NY""#),
    Rows.hotel(8, "H", #""city":"Newcastle""#),
    Rows.hotel(9, "I", #""city":"Isle of Anglesey""#),
    Rows.hotel(10, "J", #""city":"Los Angeles""#),
  ]

  @Test(arguments: [
    ("tok", ["東京都"]), ("東", ["東京都"]), ("jap", ["日本"]), ("JP", ["日本"]), ("copen", ["København"]),
    ("kobenh", ["København"]), ("zue", ["Zürich"]), ("zur", ["Zürich"]), ("Zür", ["Zürich"]),
    ("san fr", ["San Francisco"]), ("calif", ["California"]), ("USA", ["United States"]),
    ("copnhagen", ["København"]), ("san farncisco", ["San Francisco"]), ("denmark", ["Danmark"]),
    ("コペン", ["København"]), ("kopenha", ["København"]), ("カリフォ", ["California"]),
    ("加利福尼亚州", ["California"]), ("californie", ["California"]), ("Londres", []),
    ("san f", ["San Francisco"]), ("francisco", ["San Francisco"]), ("zurich ch", ["Zürich"]),
    ("Kaliforn", ["California"]), ("york", ["New York"]),
    ("new y", ["New York"]), ("Zurich, Switzerland", ["Zürich"]),
    ("los angles", ["Los Angeles"]), ("angles", ["Isle of Anglesey"]),
    ("x", []), ("&", []), ("%", []), ("_", []),
  ])
  func aPlaceIsFoundByTheBeginningOfANameOfIt(_ text: String, _ names: [String]) async throws {
    try await CatalogueFixture.run(rows: Self.rows) { fixture async throws in
      let page = try await fixture.catalogue.places(beginning: text, limit: 10)
      #expect(page.places.map(\.name) == names)
    }
  }

  @Test(
    arguments: [
      (51.48, -3.18, "United Kingdom", "Wales"), (51.45, -2.59, "United Kingdom", "England"),
      (53.19, -2.89, "UK", "England"), (53.05, -2.99, "UK", "Wales"),
      (53.39, -3.18, "UK", "England"), (53.3, -4.63, "UK", "Wales"),
      (55.77, -2.005, "Great Britain", "England"), (55.87, -2.09, "GB", "Scotland"),
      (60.15, -1.14, "Scotland", "Scotland"), (54.6, -5.93, "UK", "Northern Ireland"),
      (55.42, -5.6, "UK", "Scotland"), (49.92, -6.31, "UK", "England"),
      (48.14, 11.58, "Deutschland", "Bavaria"), (47.99, 7.85, "Germany", "Baden-Württemberg"),
      (41.39, 2.15, "Spain", "Catalonia"), (36.51, -4.88, "España", "Andalusia"),
      (28.1, -15.43, "Spain", "Canary Islands"), (43.77, 11.25, "Italia", "Tuscany"),
      (42.81, 10.32, "Italy", "Tuscany"), (37.85, 15.29, "Italy", "Sicily"),
      (38.11, 15.65, "Italy", nil), (48.65, -2.03, "France", "Brittany"),
      (41.92, 8.74, "France", "Corsica"), (51.21, 3.22, "Belgium", "Flanders"),
      (50.85, 4.35, "Belgium", "Brussels"),
      (47.27, 11.39, "Austria", "Tyrol"), (35.34, 25.13, "Greece", "Crete"),
      (48.86, 2.35, "France", nil), (48.14, 11.58, "France", nil), (51.48, -3.18, "", nil),
    ] as [(Double, Double, String, String?)])
  func aHotelIsInThePartOfItsCountryWhereItStands(
    _ latitude: Double, _ longitude: Double, _ country: String, _ name: String?
  ) async throws {
    let geo = #""geo":{"lat":\#(latitude),"lon":\#(longitude)}"#
    let row = Rows.hotel(1, "A", #""city":"B","country":"\#(country)",\#(geo)"#)
    try await CatalogueFixture.run(rows: [row]) { fixture async throws in
      let page = try await fixture.catalogue.places(beginning: "", limit: 10)
      #expect(page.places.first { $0.kind == .state }?.name == name)
      if let name { #expect(try await fixture.ids(in: name) == ["hotel_1"]) }
    }
  }

  @Test func aPartOfACountryFindsOnlyItsHotelsByAllItsNames() async throws {
    let rows = [
      Rows.hotel(1, "A", #""city":"Cardiff","country":"UK","geo":{"lat":51.48,"lon":-3.18}"#),
      Rows.hotel(2, "B", #""city":"London","country":"UK","geo":{"lat":51.5,"lon":-0.1}"#),
      Rows.hotel(3, "C", #""city":"Leith","country":"UK""#),
    ]
    try await CatalogueFixture.run(rows: rows) { fixture async throws in
      for name in ["Wales", "cymru", "Pays de Galles", "cardiff wales"] {
        let found = try await fixture.ids(in: name)
        #expect(found.contains("hotel_1") && !found.contains("hotel_2"), "\(name)")
      }
      // Nobody knows where it stands.
      #expect(try await fixture.ids(in: "scotland") == ["hotel_3"])
      for text in ["wal", "Cymru"] {
        let places = try await fixture.catalogue.places(beginning: text, limit: 10).places
        #expect(places.map(\.name) == ["Wales"], "\(text)")
      }
      // Not Brixton, which is in London.
      #expect(try await fixture.ids(in: "Brighton").isEmpty)
      let country = try await fixture.catalogue.places(beginning: "scotl", limit: 10).places
      #expect(country.map(\.kind) == [.country])
    }
  }

  @Test func withoutABeginningThePlacesWithMostHotelsCome() async throws {
    try await CatalogueFixture.run(rows: Self.rows) { fixture async throws in
      let page = try await fixture.catalogue.places(beginning: "", limit: 3)
      #expect(
        page.places == [
          Place(kind: .country, name: "日本", state: "", country: "", hotels: 2),
          Place(kind: .city, name: "東京都", state: "", country: "日本", hotels: 2),
          Place(kind: .country, name: "Danmark", state: "", country: "", hotels: 1),
        ])
      #expect(page.orders == [.relevance, .name, .price])
    }
  }

  @Test func aPlaceOfJustThatNameComesFirst() async throws {
    let rows = [
      Rows.hotel(1, "A", #""city":"Yorkville""#), Rows.hotel(2, "B", #""city":"Yorkville""#),
      Rows.hotel(3, "C", #""city":"York""#),
    ]
    try await CatalogueFixture.run(rows: rows) { fixture async throws in
      let page = try await fixture.catalogue.places(beginning: "york", limit: 10)
      #expect(page.places.map(\.name) == ["York", "Yorkville"])
    }
  }

  @Test func aPlaceWhoseOwnNameBeginsSoComesBeforeOneWithASightOfThatName() async throws {
    let london = #""city":"London","country":"UK","geo":{"lat":51.5,"lon":-0.1}"#
    let rows = [
      Rows.hotel(1, "A", london), Rows.hotel(2, "B", london),
      Rows.hotel(3, "C", #""city":"Bayeux""#), Rows.hotel(4, "D", #""city":"Liverpool""#),
    ]
    try await CatalogueFixture.run(rows: rows) { fixture async throws in
      for (text, name) in [("bay", "Bayeux"), ("liverpol", "Liverpool")] {
        let page = try await fixture.catalogue.places(beginning: text, limit: 10)
        #expect(page.places.map(\.name) == [name, "London"])
      }
    }
  }

  /// All forms of all of its words together would be more than a million names.
  @Test(arguments: [11, 40])
  func aCityOfManyAbbreviationsHasFewNames(_ count: Int) async throws {
    let city = String(repeating: "St ", count: count) + "Ives"
    try await CatalogueFixture.run(rows: [Rows.hotel(1, "A", #""city":"\#(city)""#)]) {
      fixture async throws in
      let places = try await fixture.catalogue.places(beginning: "st st", limit: 10).places
      #expect(places.map(\.name) == [city])
    }
  }

  /// "ha", as Portuguese asks for what there is, begins names in Vietnam.
  @Test func aWordThatBeginsNamesOfPlacesIsNoStopWord() async throws {
    try await CatalogueFixture.run(rows: [Rows.hotel(1, "A", #""city":"Hạ Long""#)]) {
      fixture async throws in
      let places = try await fixture.catalogue.places(beginning: "ha lo", limit: 10).places
      #expect(places.map(\.name) == ["Hạ Long"])
      #expect(try await fixture.catalogue.places(beginning: "lon", limit: 10).places.isEmpty)
    }
  }

  @Test func aDeviceKnowsACityByTheNamesOfAllLists() {
    let lines = String(decoding: PlaceNames.lines, as: UTF8.self).split(separator: "\n")
    let found = lines.filter { $0.hasPrefix("t|CN|") }.map { line in
      Set(line.split { $0 == " " || $0 == "|" })
    }
    #expect(found.contains { $0.isSuperset(of: ["makao", "macau", "macao"]) })
  }

  @Test func aReplacedHotelCountsInItsNewPlaceOnly() async throws {
    let rows = [
      Rows.hotel(1, "A", #""city":"Bath","geo":{"lat":51.4,"lon":-2.4}"#),
      Rows.hotel(1, "A", #""city":"Wells","geo":{"lat":51.2,"lon":-2.6}"#),
    ]
    try await CatalogueFixture.run(rows: rows) { fixture async throws in
      let page = try await fixture.catalogue.places(beginning: "", limit: 10)
      #expect(page.places.map(\.name) == ["Wells"])
      #expect(page.orders == [.relevance, .name, .distance])
    }
  }
}
