import Hotels
import SearchProxy
import Testing

/// One upstream with its guards.
@Suite struct GuardedSearchTests {
  @Test func connectFailureIsTriedOnceMore() async throws {
    let upstream = try CountingSearch(hotels: 1)
    upstream.fail(.refused)
    #expect(await code(guarded(upstream)) == .unavailable)
    #expect(upstream.calls.count == 2)
  }

  @Test func nonsenseIsNotAskedForAgain() async throws {
    let upstream = try CountingSearch(hotels: 1)
    upstream.fail(.nonsense)
    #expect(await code(guarded(upstream)) == .badAnswer)
    #expect(upstream.calls.count == 1)
  }

  /// FAULTS U02.
  @Test(.bug(id: "U02")) func deadUpstreamIsAskedTwentyTimesAtMostAndSeldomTwice() async throws {
    let upstream = try CountingSearch(hotels: 1)
    upstream.fail(.refused)
    let guarded = guarded(upstream)
    for _ in 0..<500 { #expect(await code(guarded) == .unavailable) }
    // The clock does not advance, so no probe is allowed.
    #expect(upstream.calls.count == 8)
    #expect(guarded.breakerState == .open)
  }

  /// FAULTS U02, issue "Done when": a minute with one search every 10 ms.
  @Test(.bug(id: "U02")) func stormOfAMinuteIsAskedLittleMoreThanItHadToBe() async throws {
    let upstream = try CountingSearch(hotels: 1)
    upstream.fail(.refused)
    let time = ManualInstant(.now)
    let guarded = guarded(upstream, time)
    for _ in 0..<6_000 {
      time.set(time.now + .milliseconds(10))
      _ = await code(guarded)
    }
    // Eight calls open the breaker. Probes follow after at least 0.5, 1 and 2 s.
    #expect(upstream.calls.count >= 8 + 15)
    #expect(upstream.calls.count <= 8 + 2 + 30)
    // One of the eight calls was a retry.
    let first = Double(upstream.calls.count - 1)
    #expect(Double(upstream.calls.count) / first <= 1.1)
  }

  @Test func recoveredUpstreamIsFoundByTheNextProbe() async throws {
    let upstream = try CountingSearch(hotels: 1)
    let time = ManualInstant(.now)
    let guarded = guarded(upstream, time)
    upstream.fail(.nonsense)
    for _ in 0..<8 { _ = await code(guarded) }
    upstream.fail(nil)
    #expect(await code(guarded) == .unavailable)
    time.set(time.now + .seconds(4))
    #expect(await code(guarded) == nil)
    #expect(guarded.breakerState == .closed)
    #expect(guarded.isRecovering)
  }

  /// Regression: answers that needed no call closed the breaker and hid failures from it.
  @Test func answerWithoutACallTellsTheBreakerNothing() async throws {
    let upstream = try CountingSearch(hotels: 1, looksUpIDs: false)
    let time = ManualInstant(.now)
    let guarded = guarded(upstream, time)
    let id = try #require(HotelID("hotel_1"))
    upstream.fail(.nonsense)
    for _ in 0..<8 {
      _ = await code(guarded)
      #expect(try await guarded.hotel(id) == nil)
      #expect(try await guarded.search(HotelQuery(description: "nothing")).hotels.isEmpty)
    }
    #expect(guarded.breakerState == .open)
    time.set(time.now + .seconds(4))
    #expect(try await guarded.hotel(id) == nil)
    #expect(try await guarded.search(HotelQuery(description: "nothing")).hotels.isEmpty)
    #expect(guarded.breakerState == .open)
    #expect(upstream.lookUps.isEmpty)
  }

  /// Regression: without searches, a server never became ready again.
  @Test func readinessAsksAgainWhenAProbeIsDue() async throws {
    let upstream = try CountingSearch(hotels: 1)
    let time = ManualInstant(.now)
    let guarded = guarded(upstream, time)
    upstream.fail(.nonsense)
    for _ in 0..<8 { _ = await code(guarded) }
    upstream.fail(nil)
    await #expect(throws: SearchError.self) { try await guarded.checkReady() }
    time.set(time.now + .seconds(4))
    try await guarded.checkReady()
    #expect(guarded.breakerState == .open)
    upstream.fail(.nonsense)
    await #expect(throws: SearchError.self) { try await guarded.checkReady() }
    upstream.fail(nil)
    #expect(await code(guarded) == nil)
    #expect(guarded.breakerState == .closed)
  }

  @Test func callsAtOnceAreBounded() async throws {
    let upstream = try CountingSearch(hotels: 1)
    upstream.hold()
    var settings = GuardedSearch.Settings.patient
    settings.callsAtOnce = 3
    let guarded = guarded(upstream, settings: settings)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<30 { group.addTask { #expect(await code(guarded) == nil) } }
      group.addTask {
        while upstream.calls.count < 3 { try? await Task.sleep(for: .milliseconds(1)) }
        upstream.release()
      }
    }
    #expect(upstream.highest == 3)
    #expect(upstream.calls.count == 30)
  }

  @Test func whoFindsNoFreeCallInTimeIsTurnedAway() async throws {
    let upstream = try CountingSearch(hotels: 1)
    upstream.hold()
    var settings = GuardedSearch.Settings.patient
    settings.callsAtOnce = 1
    settings.queueTimeout = .milliseconds(10)
    let guarded = guarded(upstream, settings: settings)
    async let first = code(guarded)
    while upstream.calls.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
    #expect(await code(guarded) == .unavailable)
    upstream.release()
    let outcome = await first
    #expect(outcome == nil)
    #expect(upstream.calls.count == 1)
  }

  private func guarded(
    _ upstream: CountingSearch, _ time: ManualInstant = ManualInstant(.now),
    settings: GuardedSearch.Settings = .patient
  ) -> GuardedSearch {
    GuardedSearch(upstream, name: "test", settings: settings, now: { time.now })
  }
}

/// The code of the error that a search throws; nil if it returns a page.
func code(_ search: any HotelSearching) async -> SearchError.Code? {
  do throws(SearchError) {
    _ = try await search.search(HotelQuery())
    return nil
  } catch { return error.code }
}
