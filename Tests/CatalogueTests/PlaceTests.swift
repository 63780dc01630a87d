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
  ]

  @Test(arguments: [
    ("tok", ["東京都"]), ("東", ["東京都"]), ("jap", ["日本"]), ("JP", ["日本"]), ("copen", ["København"]),
    ("kobenh", ["København"]), ("zue", ["Zürich"]), ("zur", ["Zürich"]), ("Zür", ["Zürich"]),
    ("san fr", ["San Francisco"]), ("calif", ["California"]), ("USA", ["United States"]),
    ("copnhagen", ["København"]), ("san farncisco", ["San Francisco"]), ("denmark", ["Danmark"]),
    ("x", []), ("&", []), ("%", []), ("_", []),
  ])
  func aPlaceIsFoundByTheBeginningOfANameOfIt(_ text: String, _ names: [String]) async throws {
    try await CatalogueFixture.run(rows: Self.rows) { fixture async throws in
      let page = try await fixture.catalogue.places(beginning: text, limit: 10)
      #expect(page.places.map(\.name) == names)
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
