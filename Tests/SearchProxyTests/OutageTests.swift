import Hotels
import SearchProxy
import Synchronization
import Testing

/// An upstream that is unavailable for a long time and then returns.
@Suite struct OutageTests {
  /// FAULTS U10: an hour by clocks that the test controls. All searches are answered. The upstream gets little more
  /// than the necessary calls, and few calls at the same time when it returns.
  @Test(.bug(id: "U10")) func hourOfOutageIsAnsweredAndItsEndIsQuiet() async throws {
    try await withCache(isGuarded: true) { fixture in
      let texts = (0..<24).map { "d\($0)" }
      for text in texts { _ = try await fixture.search(description: text) }
      let calls = fixture.upstream.calls.count
      #expect(calls == texts.count)
      fixture.upstream.fail(.refused)
      for _ in 0..<60 {
        fixture.pass(seconds: 60)
        for text in texts {
          let page = try await fixture.search(description: text)
          #expect(page.hotels.count == 5)
          #expect(page.source == .stale || page.source == .cache)
        }
      }
      // Eight failures open the breaker. Meanwhile each text has at most one call in flight, and one of them may be a
      // retry. After that there is one probe per minute.
      let asked = fixture.upstream.calls.count - calls
      #expect(asked >= 50)
      #expect(asked <= texts.count + 2 + 60)
      #expect(fixture.guarded?.breakerState == .open)

      fixture.upstream.fail(nil)
      fixture.pass(seconds: 4)
      let before = fixture.upstream.calls.count
      // This search is the probe.
      #expect(try await fixture.search(description: texts[0]).source == .upstream)
      #expect(fixture.guarded?.isRecovering == true)
      fixture.upstream.hold()
      let sources = try await sourcesOfAll(texts.dropFirst(), fixture)
      #expect(fixture.upstream.highest <= CachedSearch.fetchesWhileRecovering)
      #expect(sources[.upstream] == CachedSearch.fetchesWhileRecovering)
      #expect(sources[.stale] == texts.count - 1 - CachedSearch.fetchesWhileRecovering)
      #expect(fixture.upstream.calls.count - before == 1 + CachedSearch.fetchesWhileRecovering)
    }
  }

  /// Searches for all texts while the upstream holds calls back. Releases them when the other searches are answered.
  private func sourcesOfAll(
    _ texts: ArraySlice<String>, _ fixture: CacheFixture
  ) async throws -> [HotelPage.Source: Int] {
    try await withThrowingTaskGroup(of: HotelPage.Source.self) { group in
      for text in texts {
        group.addTask { try await fixture.search(description: text).source }
      }
      var sources: [HotelPage.Source: Int] = [:]
      for _ in 0..<texts.count - CachedSearch.fetchesWhileRecovering {
        if let source = try await group.next() { sources[source, default: 0] += 1 }
      }
      fixture.upstream.release()
      for try await source in group { sources[source, default: 0] += 1 }
      return sources
    }
  }

  /// Regression: when the upstream returned, the number of background refreshes had no bound.
  @Test(.bug(id: "U10")) func refreshesBehindTheScenesAreFewWhileItRecovers() async throws {
    try await withCache(isRecovering: { true }) { fixture in
      let texts = (0..<40).map { "d\($0)" }
      for text in texts { _ = try await fixture.search(description: text) }
      let calls = fixture.upstream.calls.count
      fixture.pass(seconds: 100)
      fixture.upstream.hold()
      for text in texts {
        let page = try await fixture.search(description: text)
        #expect(page.cacheNote == "hit; ttl=-40; detail=revalidating")
      }
      while fixture.upstream.calls.count < calls + CachedSearch.fetchesWhileRecovering {
        try await Task.sleep(for: .milliseconds(5))
      }
      // Longer than the longest delay before a refresh.
      try await Task.sleep(for: .milliseconds(700))
      #expect(fixture.upstream.highest <= CachedSearch.fetchesWhileRecovering)
      #expect(fixture.upstream.calls.count == calls + CachedSearch.fetchesWhileRecovering)
      fixture.upstream.release()
    }
  }

  @Test func noteSaysWhetherTheUpstreamWasAsked() async throws {
    try await withCache(isGuarded: true) { fixture in
      _ = try await fixture.search()
      fixture.upstream.fail(.nonsense)
      fixture.pass(seconds: 400)
      for _ in 0..<8 {
        let asked = try await fixture.search()
        #expect(asked.cacheNote == "fwd=stale; ttl=-340; detail=upstream-bad-answer")
      }
      let unasked = try await fixture.search()
      #expect(unasked.cacheNote == "hit; ttl=-340; detail=breaker-open")
      #expect(unasked.age == 400 && unasked.source == .stale)
      fixture.upstream.fail(nil)
      fixture.pass(seconds: 4)
      #expect(try await fixture.search().cacheNote == "fwd=stale; stored")
      fixture.pass(seconds: 86_400)
      #expect(try await fixture.search().cacheNote == "fwd=stale; stored")
    }
  }

  @Test func searchThatJoinsACallSaysSo() async throws {
    try await withCache { fixture in
      fixture.upstream.hold()
      async let first = fixture.search().cacheNote
      while fixture.upstream.calls.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
      async let second = fixture.search().cacheNote
      try await Task.sleep(for: .milliseconds(20))
      fixture.upstream.release()
      let notes = Set([try await first ?? "", try await second ?? ""])
      // If the second search comes late, it finds the stored answer.
      #expect(
        notes == ["fwd=miss; stored", "fwd=miss; stored; collapsed"]
          || notes == ["fwd=miss; stored", "hit; ttl=60"])
    }
  }
}
