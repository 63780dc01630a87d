import Hotels
import Lanes
import SQLite
import TestSupport
import Testing

@testable import Catalogue

/// Searches on the caller's own thread.
@Suite struct InlineSearchTests {
  @Test func smallCatalogueIsSearchedOnTheCallersThread() async throws {
    try await CatalogueFixture.run(rows: Rows.some) { fixture async throws in
      let lane = Lane(name: "reader")
      let files = CatalogueFiles(directory: fixture.directory.path)
      let reader = CatalogueReader(files, on: lane, now: { .now })
      let query = HotelQuery(description: "bar pool")
      func found(within limit: Duration) -> HotelPage? {
        reader.searchInline(query, within: limit)
      }
      #expect(found(within: .seconds(60)) == nil, "the file is not open")
      try await reader.reload()
      #expect(found(within: .zero) == nil)
      let other = try await CatalogueReader(files, on: lane, now: { .now })
        .search(query, within: .seconds(9), or: InterruptionFlag())
      let page = found(within: .seconds(60))
      #expect(page?.hotels.map(\.id) == other.hotels.map(\.id))
      #expect(page?.total == other.total)
      #expect(found(within: .zero)?.total == other.total, "it is known from before")
      await reader.close()
      #expect(found(within: .seconds(60)) == nil)
      await lane.stop()
    }
  }
}
