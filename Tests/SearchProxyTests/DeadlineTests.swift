import Hotels
import SearchProxy
import Testing

/// Time limits of calls, and callers that cancel.
@Suite struct DeadlineTests {
  @Test func deadlineEndsAnUpstreamThatHangs() async throws {
    let upstream = try CountingSearch(hotels: 1)
    upstream.hold()
    #expect(await code(guarded(upstream, deadline: .milliseconds(50))) == .timeout)
  }

  @Test func upstreamThatHangsOpensTheBreaker() async throws {
    let upstream = try CountingSearch(hotels: 1)
    upstream.hold()
    let guarded = guarded(upstream, deadline: .milliseconds(20))
    // On a busy machine, the limit may end a search before the call begins.
    while guarded.breakerState != .open { #expect(await code(guarded) == .timeout) }
    #expect(upstream.calls.count >= 8)
  }

  /// Regression: each cancelled call counted as a failure of the upstream.
  @Test func callersWhoLeaveDoNotOpenTheBreaker() async throws {
    let upstream = try CountingSearch(hotels: 1)
    upstream.hold()
    let guarded = guarded(upstream)
    for number in 1...12 {
      let search = Task { await code(guarded) }
      while upstream.calls.count < number { try await Task.sleep(for: .milliseconds(1)) }
      search.cancel()
      _ = await search.value
    }
    #expect(guarded.breakerState == .closed)
    upstream.release()
    #expect(await code(guarded) == nil)
  }

  @Test func probeWhoseCallerLeavesIsGivenToTheNext() async throws {
    let upstream = try CountingSearch(hotels: 1)
    let time = ManualInstant(.now)
    let guarded = guarded(upstream, time: time)
    upstream.fail(.nonsense)
    for _ in 0..<8 { _ = await code(guarded) }
    upstream.fail(nil)
    upstream.hold()
    time.set(time.now + .seconds(4))
    let probe = Task { await code(guarded) }
    while upstream.calls.count < 9 { try await Task.sleep(for: .milliseconds(1)) }
    #expect(guarded.breakerState == .halfOpen)
    probe.cancel()
    _ = await probe.value
    #expect(guarded.breakerState == .open)
    upstream.release()
    time.set(time.now + .seconds(4))
    #expect(await code(guarded) == nil)
    #expect(guarded.breakerState == .closed)
  }

  /// With a fallback, the limit for all upstreams together ends a call first.
  @Test func upstreamThatHangsOpensTheBreakerBehindAFallback() async throws {
    let (first, second) = (try CountingSearch(hotels: 1), try CountingSearch(hotels: 2))
    first.hold()
    let slow = guarded(first)
    let hasty = FallbackSearch([slow, guarded(second)], deadline: .milliseconds(100))
    // On a busy machine, the limit may end a search before the call begins.
    while slow.breakerState != .open { _ = await code(hasty) }
    let calls = first.calls.count
    #expect(calls >= 8)
    let search = FallbackSearch([slow, guarded(second)], deadline: .seconds(1_200))
    let page = try await search.search(HotelQuery())
    #expect(page.hotels.count == 2)
    #expect(first.calls.count == calls)
  }

  private func guarded(
    _ upstream: CountingSearch, deadline: Duration = .seconds(600),
    time: ManualInstant = ManualInstant(.now)
  ) -> GuardedSearch {
    var settings = GuardedSearch.Settings.patient
    settings.deadline = deadline
    return GuardedSearch(upstream, name: "test", settings: settings, now: { time.now })
  }
}
