import Catalogue
import Documents
import Hotels
import TestSupport
import Testing

@Suite struct SearchLimitTests {
  private func code(_ body: () async throws(SearchError) -> HotelPage) async -> SearchError.Code? {
    do { _ = try await body() } catch { return error.code }
    return nil
  }

  @Test func searchBeyondItsTimeFailsAndTheNextOneIsAnswered() async throws {
    try await CatalogueFixture.run(rows: Rows.some) { fixture async throws in
      let hurried = HotelCatalogue(directory: fixture.directory.path, limit: .zero)
      #expect(
        await code { () throws(SearchError) in try await hurried.search(HotelQuery()) } == .timeout)
      await hurried.stop()
      #expect(try await fixture.ids("bar pool") == ["hotel_1"])
    }
  }

  @Test func searchWhoseTaskIsCancelledFails() async throws {
    try await CatalogueFixture.run(rows: Rows.some) { fixture async throws in
      let catalogue = fixture.catalogue
      let search = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return await code { () throws(SearchError) in try await catalogue.search(HotelQuery()) }
      }
      #expect(await search.value == .timeout)
      #expect(try await fixture.ids("bar pool") == ["hotel_1"])
    }
  }

  @Test func mirrorBeyondItsTimeFails() async throws {
    let node = try ParsedJSON(Array(#"{"id":1,"name":"One Pool"}"#.utf8), limits: .document).root
    let hotels = [try Hotel(node, from: .upstream)]
    let (mirror, hurried) = (
      ScratchCatalogue(limit: .seconds(600)), ScratchCatalogue(limit: .zero)
    )
    let query = HotelQuery(description: "pool")
    #expect(try await mirror.search(query, among: hotels).hotels.count == 1)
    let failure = await code { () throws(SearchError) in
      try await hurried.search(query, among: hotels)
    }
    #expect(failure == .timeout)
    await mirror.stop()
    await hurried.stop()
  }

  @Test(arguments: ["pool", "bar pool", "POOL garden"])
  func repeatedWordsFindTheSame(text: String) async throws {
    try await CatalogueFixture.run(rows: Rows.some) { fixture async throws in
      let repeated = [String](repeating: text, count: 40).joined(separator: " ")
      #expect(try await fixture.ids(repeated).sorted() == fixture.ids(text).sorted())
    }
  }
}
