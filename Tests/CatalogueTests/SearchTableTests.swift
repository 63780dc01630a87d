import Catalogue
import Documents
import Foundation
import Hotels
import Testing

/// What people type and the hotels that it must find, and with which the answer begins: `Tests/Fixtures/searches.json`, for
/// the catalogue and for a person's own bookmarks. `Tests/Page/test_device_search.py` tests the same table on the device.
@Suite struct SearchTableTests {
  private struct Table {
    let hotels: [JSONNode]
    let cases: [JSONNode]

    init() throws {
      let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../Fixtures/searches.json")
      let root = try ParsedJSON([UInt8](Data(contentsOf: file)), limits: .request).root
      hotels = Array(try #require(root["hotels"]).elements)
      cases = Array(try #require(root["cases"]).elements)
    }

    static func query(_ search: JSONNode) throws -> HotelQuery {
      let text = try #require(search["query"]?.string)
      return search["field"]?.string == "location"
        ? HotelQuery(location: text)
        : HotelQuery(description: text, location: search["location"]?.string)
    }

    func row(_ hotel: Hotel) throws -> JSONNode {
      try #require(hotels.first { "hotel_\($0["id"]?.int ?? 0)" == hotel.id.text })
    }

    static func check(_ page: HotelPage, _ search: JSONNode) throws {
      let wanted = try #require(search["finds"]).elements.compactMap(\.int).map { "hotel_\($0)" }
      let query = search["query"]?.string ?? ""
      let first = search["begins"]?.elements.compactMap(\.int).map { "hotel_\($0)" } ?? []
      #expect(page.hotels.prefix(first.count).map(\.id.text) == first, "\(query)")
      #expect(page.hotels.map(\.id.text).sorted() == wanted.sorted(), "\(query)")
      #expect(page.hasMostOnly == (search["matched"]?.string == "most"), "\(query)")
    }
  }

  @Test func theCatalogueFindsWhatPeopleMean() async throws {
    let table = try Table()
    #expect(table.cases.count >= 200)
    let rows = table.hotels.map { hotel in
      var bytes: [UInt8] = []
      hotel.appendMinified(to: &bytes)
      return String(decoding: bytes, as: UTF8.self)
    }
    try await CatalogueFixture.run(rows: rows) { fixture async throws in
      for search in table.cases {
        try Table.check(try await fixture.catalogue.search(Table.query(search)), search)
      }
      for place in try await fixture.catalogue.places(beginning: "", limit: 50).places {
        // An address may name the place, too. Those that are there come first.
        let found = try await fixture.catalogue.search(HotelQuery(location: place.name))
        #expect(found.total ?? 0 >= place.hotels, "\(place.name)")
        let first = found.hotels.prefix(place.kind == .city ? place.hotels : 0)
        let cities = try first.map { try table.row($0)["city"]?.string }
        // A ward's name begins with its city's: 札幌市中央区 is in 札幌市.
        let isWard = { (city: String) in place.name.hasSuffix("市") && city.hasPrefix(place.name) }
        #expect(cities.allSatisfy { $0 == place.name || $0.map(isWard) ?? false }, "\(place.name)")
        for end in place.name.indices {
          let typed = String(place.name[...end])
          let names = try await fixture.catalogue.places(beginning: typed, limit: 50).places
            .map(\.name)
          #expect(names.contains(place.name), "\(typed) for \(place.name)")
        }
      }
    }
  }

  /// Each search of one's own bookmarks builds an index, so only some cases run; the rules are the catalogue's.
  @Test func ownBookmarksAreFoundByTheSameRules() async throws {
    let table = try Table()
    let hotels = try table.hotels.map { try Hotel($0, from: .upstream) }
    let mirror = ScratchCatalogue(limit: .seconds(600))
    for (index, search) in table.cases.enumerated() where index % 8 == 0 {
      try Table.check(try await mirror.search(Table.query(search), among: hotels), search)
    }
    await mirror.stop()
  }
}
