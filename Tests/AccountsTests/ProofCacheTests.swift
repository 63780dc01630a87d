import Documents
import Stores
import TestSupport
import Testing

@testable import Accounts

/// For how long a look at the system store counts where other processes change accounts.
@Suite struct ProofCacheTests {
  private let clock = TestClock()
  private let cache: ProofCache
  private let guest: Principal
  private let here = StorePosition(epoch: "a", mark: 1)
  private let elsewhere = StorePosition(epoch: "a", mark: 2)

  init() throws {
    let clock = clock
    cache = ProofCache(
      keys: try SigningKeys.temporary(now: clock.now), longest: .seconds(1),
      uptime: { clock.uptime })
    let id = try #require(AccountID(String(repeating: "1", count: 32)))
    guest = Principal(kind: .guest, id: id, store: .guest(id))
  }

  /// After a part of a second, the system store is found at a position.
  private func find(_ position: StorePosition?) {
    clock.advanceUptime(by: .milliseconds(700))
    cache.confirm(position, asked: clock.uptime)
  }

  @Test func aLookCountsForASecond() {
    cache.noteLookup(of: guest, since: cache.moment)
    #expect(cache.wasLookedUp(guest))
    clock.advance(seconds: 2)
    #expect(!cache.wasLookedUp(guest))
  }

  @Test func itCountsForLongerWhileNothingChanges() {
    find(here)
    cache.noteLookup(of: guest, since: cache.moment)
    for _ in 0..<9 { find(here) }
    #expect(cache.wasLookedUp(guest))
    clock.advance(seconds: 2)
    #expect(!cache.wasLookedUp(guest))
  }

  @Test func anAbsentStoreThatIsCreatedHasChanged() {
    find(nil)
    cache.noteLookup(of: guest, since: cache.moment)
    for _ in 0..<3 { find(nil) }
    #expect(cache.wasLookedUp(guest))
    find(here)
    #expect(!cache.wasLookedUp(guest))
  }

  @Test func aChangeLeavesIndividualLooksTheirSecond() {
    find(here)
    cache.noteLookup(of: guest, since: cache.moment)
    find(elsewhere)
    #expect(cache.wasLookedUp(guest))
    find(elsewhere)
    #expect(!cache.wasLookedUp(guest))
  }

  @Test func aLookThatBeganBeforeAChangeIsNotConfirmedAfterIt() {
    find(here)
    let began = cache.moment
    find(elsewhere)
    cache.noteLookup(of: guest, since: began)
    for _ in 0..<2 { find(elsewhere) }
    #expect(!cache.wasLookedUp(guest))
  }

  @Test func lateAnswerDoesNotShortenTheTime() {
    find(here)
    cache.noteLookup(of: guest, since: cache.moment)
    let early = clock.uptime
    for _ in 0..<3 { find(here) }
    cache.confirm(here, asked: early)
    #expect(cache.wasLookedUp(guest))
  }
}
