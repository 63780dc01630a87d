import Catalogue
import Documents
import Foundation
import Hotels
import Testing

/// Compares the catalogue with recorded answers of a travel-sample, if they are available: a
/// directory with `hotels.json` and `golden-searches.json`.
@Suite struct GoldenSearchTests {
  private static let directory = ProcessInfo.processInfo.environment["GOLDEN_SEARCHES_DIR"]

  @Test(.enabled(if: directory != nil))
  func phrasesFindWhatTheTravelSampleFound() async throws {
    let directory = try #require(Self.directory)
    let searches = try ParsedJSON(
      [UInt8](Data(contentsOf: URL(fileURLWithPath: directory + "/golden-searches.json"))),
      limits: .request)
    try await CatalogueFixture.run { fixture async throws in
      let summary = try await fixture.importing(file: directory + "/hotels.json")
      #expect(summary.progress.badRows == 0 && summary.progress.replaced == 0)
      var count = 0
      for search in searches.root.elements {
        let description = try #require(search["description"]?.string)
        let location = try #require(search["location"]?.string)
        let golden = try #require(search["ids"]).elements.compactMap(\.string)
        let all = try await fixture.all(description, location)
        #expect(all == golden, "\(description) / \(location)")
        #expect(all.count == search["matches"]?.int)
        #expect(min(all.count, 100) == search["returned_at_limit_100"]?.int)
        count += 1
      }
      #expect(count > 0)
      for (text, matches) in [("the", 0), ("Rue d'Alger", 0), ("café", 1)] {
        #expect(try await fixture.all(text, "*").count == matches)
      }
    }
  }
}

extension CatalogueFixture {
  /// The ids of all hotels that match, read page by page; `*` matches any text.
  fileprivate func all(_ description: String, _ location: String) async throws -> [String] {
    var ids: [String] = []
    var offset: Int? = 0
    while let from = offset {
      let page = try await catalogue.search(
        HotelQuery(
          description: description == "*" ? nil : description,
          location: location == "*" ? nil : location, matching: .phrase, limit: 100, offset: from))
      ids += page.hotels.map(\.id.text)
      offset = page.next
    }
    return ids
  }
}
