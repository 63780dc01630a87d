import Hotels
import SearchProxy
import Synchronization
import Testing

/// An upstream that is away for long, and comes back.
@Suite struct OutageTests {
  /// FAULTS U10: an hour by clocks that the test turns. All searches are answered, the upstream is asked little
  /// more often than once for each that had to be, and is not overrun when it returns.
  @Test func U10_hourOfOutageIsAnsweredAndItsEndIsQuiet() async throws {
    try await withCache(isGuarded: true) { rig in
      let texts = (0..<24).map { "d\($0)" }
      for text in texts { _ = try await rig.search(description: text) }
      let calls = rig.upstream.calls.count
      #expect(calls == texts.count)
      rig.upstream.fail(.refused)
      for _ in 0..<60 {
        rig.pass(seconds: 60)
        for text in texts {
          let page = try await rig.search(description: text)
          #expect(page.hotels.count == 5)
          #expect(page.source == .stale || page.source == .cache)
        }
      }
      // Eight failures open the breaker, while each text has at most one call in flight; one of them may be a second
      // attempt. After that a probe each minute.
      let asked = rig.upstream.calls.count - calls
      #expect(asked >= 50)
      #expect(asked <= texts.count + 2 + 60)
      #expect(rig.guarded?.breakerState == .open)

      rig.upstream.fail(nil)
      rig.pass(seconds: 4)
      let before = rig.upstream.calls.count
      // The probe.
      #expect(try await rig.search(description: texts[0]).source == .upstream)
      #expect(rig.guarded?.isRecovering == true)
      rig.upstream.hold()
      let sources = try await sourcesOfAll(texts.dropFirst(), rig)
      #expect(rig.upstream.highest <= CachedSearch.fetchesWhileRecovering)
      #expect(sources[.upstream] == CachedSearch.fetchesWhileRecovering)
      #expect(sources[.stale] == texts.count - 1 - CachedSearch.fetchesWhileRecovering)
      #expect(rig.upstream.calls.count - before == 1 + CachedSearch.fetchesWhileRecovering)
    }
  }

  /// Searches for all at once while the upstream holds them, and lets go when all others are answered.
  private func sourcesOfAll(
    _ texts: ArraySlice<String>, _ rig: CacheRig
  ) async throws -> [HotelPage.Source: Int] {
    try await withThrowingTaskGroup(of: HotelPage.Source.self) { group in
      for text in texts {
        group.addTask { try await rig.search(description: text).source }
      }
      var sources: [HotelPage.Source: Int] = [:]
      for _ in 0..<texts.count - CachedSearch.fetchesWhileRecovering {
        if let source = try await group.next() { sources[source, default: 0] += 1 }
      }
      rig.upstream.release()
      for try await source in group { sources[source, default: 0] += 1 }
      return sources
    }
  }

  /// Those behind the scenes had been asked for without a bound when the upstream came back.
  @Test func U10_refreshesBehindTheScenesAreFewWhileItRecovers() async throws {
    try await withCache(isRecovering: { true }) { rig in
      let texts = (0..<40).map { "d\($0)" }
      for text in texts { _ = try await rig.search(description: text) }
      let calls = rig.upstream.calls.count
      rig.pass(seconds: 100)
      rig.upstream.hold()
      for text in texts {
        let page = try await rig.search(description: text)
        #expect(page.cacheNote == "hit; ttl=-40; detail=revalidating")
      }
      while rig.upstream.calls.count < calls + CachedSearch.fetchesWhileRecovering {
        try await Task.sleep(for: .milliseconds(5))
      }
      // Longer than the longest wait before a refresh.
      try await Task.sleep(for: .milliseconds(700))
      #expect(rig.upstream.highest <= CachedSearch.fetchesWhileRecovering)
      #expect(rig.upstream.calls.count == calls + CachedSearch.fetchesWhileRecovering)
      rig.upstream.release()
    }
  }

  @Test func noteSaysWhetherTheUpstreamWasAsked() async throws {
    try await withCache(isGuarded: true) { rig in
      _ = try await rig.search()
      rig.upstream.fail(.nonsense)
      rig.pass(seconds: 400)
      for _ in 0..<8 {
        let asked = try await rig.search()
        #expect(asked.cacheNote == "fwd=stale; ttl=-340; detail=upstream-bad-answer")
      }
      let unasked = try await rig.search()
      #expect(unasked.cacheNote == "hit; ttl=-340; detail=breaker-open")
      #expect(unasked.age == 400 && unasked.source == .stale)
      rig.upstream.fail(nil)
      rig.pass(seconds: 4)
      #expect(try await rig.search().cacheNote == "fwd=stale; stored")
      rig.pass(seconds: 86_400)
      #expect(try await rig.search().cacheNote == "fwd=stale; stored")
    }
  }

  @Test func searchThatJoinsACallSaysSo() async throws {
    try await withCache { rig in
      rig.upstream.hold()
      async let first = rig.search().cacheNote
      while rig.upstream.calls.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
      async let second = rig.search().cacheNote
      try await Task.sleep(for: .milliseconds(20))
      rig.upstream.release()
      let notes = Set([try await first ?? "", try await second ?? ""])
      // A second one that comes late finds the answer kept.
      #expect(
        notes == ["fwd=miss; stored", "fwd=miss; stored; collapsed"]
          || notes == ["fwd=miss; stored", "hit; ttl=60"])
    }
  }
}
