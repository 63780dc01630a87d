import Documents
import Hotels
import SearchProxy
import Testing

/// Answers that are remembered.
@Suite struct CachedSearchTests {
  @Test func answerIsGivenAgainForAMinute() async throws {
    try await withCache { rig in
      let first = try await rig.search()
      #expect(first.source == .upstream && first.age == nil)
      #expect(first.cacheNote == "fwd=miss; stored")
      rig.pass(seconds: 59)
      let second = try await rig.search()
      #expect(second.source == .cache && second.age == 59)
      #expect(second.cacheNote == "hit; ttl=1")
      #expect(rig.upstream.calls.count == 1)
    }
  }

  /// `/api` was 503 while `/v1` held a fresh answer to the same question.
  @Test(arguments: [(HotelQuery.Matching.phrase, 1), (nil, 2)])
  func upstreamThatKnowsOneWayIsAskedOnceForBoth(
    matching: HotelQuery.Matching?, calls: Int
  ) async throws {
    try await withCache { rig in
      let search = rig.restarted(matching: matching)
      for matching in [HotelQuery.Matching.words, .phrase] {
        let query = HotelQuery(description: "inn", matching: matching)
        let page = try await search.search(query)
        #expect(page.hotels.count == 5)
      }
      #expect(rig.upstream.calls.count == calls)
    }
  }

  @Test func staleAnswerIsGivenWhileAnotherIsFetched() async throws {
    try await withCache { rig in
      _ = try await rig.search()
      try rig.upstream.change(hotels: 3, name: "New")
      rig.pass(seconds: 61)
      let stale = try await rig.search()
      #expect(stale.source == .stale && stale.hotels.count == 5)
      while rig.upstream.calls.count < 2 { try await Task.sleep(for: .milliseconds(5)) }
      var page = try await rig.search()
      while page.source != .cache {
        try await Task.sleep(for: .milliseconds(5))
        page = try await rig.search()
      }
      #expect(page.hotels.count == 3)
      #expect(rig.upstream.calls.count == 2)
    }
  }

  @Test func oldAnswerStandsInForADeadUpstreamForADay() async throws {
    try await withCache { rig in
      _ = try await rig.search()
      rig.upstream.fail(.refused)
      rig.pass(seconds: 86_399)
      let page = try await rig.search()
      #expect(page.source == .stale && page.age == 86_399 && page.hotels.count == 5)
      #expect(page.cacheNote == "fwd=stale; ttl=-86339; detail=upstream-unavailable")
      rig.pass(seconds: 1)
      await #expect(throws: SearchError.self) { try await rig.search() }
    }
  }

  @Test func nothingFoundIsBelievedForFiveSecondsAndNeverStandsInForAFailure() async throws {
    try await withCache(hotels: 0) { rig in
      _ = try await rig.search()
      rig.pass(seconds: 4)
      let cached = try await rig.search()
      #expect(cached.source == .cache)
      rig.pass(seconds: 1)
      rig.upstream.fail(.refused)
      await #expect(throws: SearchError.self) { try await rig.search() }
    }
  }

  @Test func failureIsNotRemembered() async throws {
    try await withCache { rig in
      rig.upstream.fail(.nonsense)
      await #expect(throws: SearchError.self) { try await rig.search() }
      rig.upstream.fail(nil)
      let again = try await rig.search()
      #expect(again.source == .upstream)
    }
  }

  /// FAULTS U03.
  @Test func U03_thousandIdenticalSearchesMakeOneCall() async throws {
    try await withCache { rig in
      rig.upstream.hold()
      try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0..<1_000 { group.addTask { try await rig.search().hotels.count } }
        while rig.upstream.calls.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
        // Those who come later find the answer kept, or a call that has just ended.
        rig.upstream.release()
        for try await count in group { #expect(count == 5) }
      }
      #expect(rig.upstream.calls.count == 1)
    }
  }

  @Test func pagesOfAnySizeAreCutFromOneAnswer() async throws {
    try await withCache(hotels: 250) { rig in
      for limit in [1, 7, 30, 100] {
        var ids: [String] = []
        var offset: Int? = 0
        while let start = offset {
          let page = try await rig.search(limit: limit, offset: start)
          ids += page.hotels.map(\.id.text)
          offset = page.next
        }
        #expect(ids == (1...250).map { "hotel_\($0)" })
      }
      #expect(rig.upstream.calls.map(\.offset) == [0, 100, 200])
    }
  }

}
