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

  init() throws {
    let clock = clock
    cache = ProofCache(
      keys: try SigningKeys.temporary(now: clock.now), longest: .seconds(1),
      uptime: { clock.uptime })
    let id = try #require(AccountID(String(repeating: "1", count: 32)))
    guest = Principal(kind: .guest, id: id, store: .guest(id))
  }

  @Test func aLookCountsForASecond() {
    cache.noteLookup(of: guest, since: cache.moment)
    #expect(cache.wasLookedUp(guest))
    clock.advance(seconds: 2)
    #expect(!cache.wasLookedUp(guest))
  }
}
