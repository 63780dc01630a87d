import Hotels
import SearchProxy
import Testing

/// Several upstreams, tried in order.
@Suite struct FallbackSearchTests {
  @Test func nextUpstreamAnswersForOneThatCannot() async throws {
    let (first, second) = (try CountingSearch(hotels: 1), try CountingSearch(hotels: 2))
    first.fail(.nonsense)
    let search = fallback(first, second)
    for _ in 0..<20 {
      let page = try await search.search(HotelQuery())
      #expect(page.hotels.count == 2)
    }
    // The clock does not advance, so no probe is allowed.
    #expect(first.calls.count == 8)
    try await search.checkReady()
    second.fail(.nonsense)
    #expect(await code(search) == .badAnswer)
  }

  /// Regression: an upstream without look-ups by id answered instead of one that has them.
  @Test func hotelIsAskedForWhereIDsAreKnown() async throws {
    let first = try CountingSearch(hotels: 3, looksUpIDs: false)
    let second = try CountingSearch(hotels: 2)
    let search = fallback(first, second)
    let (known, unknown) = (try #require(HotelID("hotel_2")), try #require(HotelID("hotel_9")))
    #expect(try await search.hotel(known)?.id == known)
    #expect(try await search.hotel(unknown) == nil)
    #expect(first.lookUps.isEmpty)
  }

  @Test func hotelThatNobodyCouldLookUpIsNotSaidToBeAbsent() async throws {
    let (first, second) = (try CountingSearch(hotels: 3), try CountingSearch(hotels: 2))
    first.fail(.nonsense)
    let search = fallback(first, second)
    let (known, unknown) = (try #require(HotelID("hotel_2")), try #require(HotelID("hotel_3")))
    #expect(try await search.hotel(known)?.id == known)
    await #expect(throws: SearchError.nonsense) { try await search.hotel(unknown) }
  }

  private func fallback(_ upstreams: CountingSearch...) -> FallbackSearch {
    let start = ContinuousClock.now
    return FallbackSearch(
      upstreams.map { GuardedSearch($0, name: "test", settings: .patient, now: { start }) },
      deadline: .seconds(1_200))
  }
}
