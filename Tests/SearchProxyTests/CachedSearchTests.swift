import Hotels
import SearchProxy
import Testing

@Suite struct CachedSearchTests {
  @Test func answerIsGivenAgainForAMinute() async throws {
    try await withCache { fixture in
      let first = try await fixture.search()
      #expect(first.source == .upstream && first.age == nil)
      #expect(first.cacheNote == "fwd=miss; stored")
      fixture.pass(seconds: 59)
      let second = try await fixture.search()
      #expect(second.source == .cache && second.age == 59)
      #expect(second.cacheNote == "hit; ttl=1")
      #expect(fixture.upstream.calls.count == 1)
    }
  }

  /// Regression: `/api` answered 503 while `/v1` had a fresh answer to the same query.
  @Test(arguments: [(HotelQuery.Matching.phrase, 1), (nil, 2)])
  func upstreamThatKnowsOneWayIsAskedOnceForBoth(
    matching: HotelQuery.Matching?, calls: Int
  ) async throws {
    try await withCache { fixture in
      let search = fixture.restarted(matching: matching)
      for matching in [HotelQuery.Matching.words, .phrase] {
        let query = HotelQuery(description: "inn", matching: matching)
        let page = try await search.search(query)
        #expect(page.hotels.count == 5)
      }
      #expect(fixture.upstream.calls.count == calls)
    }
  }

  @Test func staleAnswerIsGivenWhileAnotherIsFetched() async throws {
    try await withCache { fixture in
      _ = try await fixture.search()
      try fixture.upstream.change(hotels: 3, name: "New")
      fixture.pass(seconds: 61)
      let stale = try await fixture.search()
      #expect(stale.source == .stale && stale.hotels.count == 5)
      while fixture.upstream.calls.count < 2 { try await Task.sleep(for: .milliseconds(5)) }
      var page = try await fixture.search()
      while page.source != .cache {
        try await Task.sleep(for: .milliseconds(5))
        page = try await fixture.search()
      }
      #expect(page.hotels.count == 3)
      #expect(fixture.upstream.calls.count == 2)
    }
  }

  @Test func oldAnswerStandsInForADeadUpstreamForADay() async throws {
    try await withCache { fixture in
      _ = try await fixture.search()
      fixture.upstream.fail(.refused)
      fixture.pass(seconds: 86_399)
      let page = try await fixture.search()
      #expect(page.source == .stale && page.age == 86_399 && page.hotels.count == 5)
      #expect(page.cacheNote == "fwd=stale; ttl=-86339; detail=upstream-unavailable")
      fixture.pass(seconds: 1)
      await #expect(throws: SearchError.self) { try await fixture.search() }
    }
  }

  @Test func nothingFoundIsBelievedForFiveSecondsAndNeverStandsInForAFailure() async throws {
    try await withCache(hotels: 0) { fixture in
      _ = try await fixture.search()
      fixture.pass(seconds: 4)
      let cached = try await fixture.search()
      #expect(cached.source == .cache)
      fixture.pass(seconds: 1)
      fixture.upstream.fail(.refused)
      await #expect(throws: SearchError.self) { try await fixture.search() }
    }
  }

  @Test func failureIsNotRemembered() async throws {
    try await withCache { fixture in
      fixture.upstream.fail(.nonsense)
      await #expect(throws: SearchError.self) { try await fixture.search() }
      fixture.upstream.fail(nil)
      let again = try await fixture.search()
      #expect(again.source == .upstream)
    }
  }

  /// FAULTS U03.
  @Test(.bug(id: "U03")) func thousandIdenticalSearchesMakeOneCall() async throws {
    try await withCache { fixture in
      fixture.upstream.hold()
      try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<1_000 { group.addTask { try await fixture.search().hotels.count } }
        while fixture.upstream.calls.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
        // Later callers find the stored answer, or a call that has just ended.
        fixture.upstream.release()
        for try await count in group { #expect(count == 5) }
      }
      #expect(fixture.upstream.calls.count == 1)
    }
  }

  @Test func pagesOfAnySizeAreCutFromOneAnswer() async throws {
    try await withCache(hotels: 250) { fixture in
      for limit in [1, 7, 30, 100] {
        var ids: [String] = []
        var offset: Int? = 0
        while let start = offset {
          let page = try await fixture.search(limit: limit, offset: start)
          ids += page.hotels.map(\.id.text)
          offset = page.next
        }
        #expect(ids == (1...250).map { "hotel_\($0)" })
      }
      #expect(fixture.upstream.calls.map(\.offset) == [0, 100, 200])
    }
  }

}
