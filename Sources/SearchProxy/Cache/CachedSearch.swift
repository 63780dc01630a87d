package import Documents
package import Hotels
package import Logging

/// A search that remembers: a fresh answer is given again without asking, a stale one while another is
/// fetched, and an old one when the upstream does not answer. Identical searches in flight share one call.
///
/// Only whole, valid answers are kept (the upstream's client lets nothing else through), and nothing of a
/// person is in the key.
package final class CachedSearch: HotelSearching {
  /// Answers of a time just after an outage that may be fetched at once where an old answer will do: a
  /// tenth of the calls that an upstream gets in good times, so that it is not overrun on its return.
  package static let fetchesWhileRecovering = 6
  /// The longest wait before a stale answer is fetched anew, in milliseconds; each waits a random part of
  /// it, so that answers that grew stale together are not fetched together.
  static let longestRefreshWait = 500

  let base: any HotelSearching
  let upstream: String
  let cache: SearchCache
  let freshness: Freshness
  let isRecovering: @Sendable () -> Bool
  let now: @Sendable () -> Timestamp
  let logger: Logger
  let meter = SearchCacheMeter()
  let flights = SharedFlights<String, Result<Fetched, SearchError>>()
  let lookUps = SharedFlights<HotelID, Result<Hotel?, SearchError>>()
  let recoveryGate = Bulkhead(
    limit: CachedSearch.fetchesWhileRecovering, waitingLimit: 0, patience: .zero)

  /// - Parameter base: asks the upstream.
  /// - Parameter upstream: names the upstream in keys: another one's answers are not given for its.
  /// - Parameter isRecovering: whether the upstream was away until a short while ago.
  /// - Parameter now: the wall clock, as answers outlive the process.
  package init(
    _ base: any HotelSearching, upstream: String, cache: SearchCache,
    freshness: Freshness = Freshness(), isRecovering: @escaping @Sendable () -> Bool = { false },
    now: @escaping @Sendable () -> Timestamp,
    logger: Logger = Logger(label: "hotel-bookmarks.search-cache")
  ) {
    self.base = base
    self.upstream = upstream
    self.cache = cache
    self.freshness = freshness
    self.isRecovering = isRecovering
    self.now = now
    self.logger = logger
  }

  /// Finds hotels; the page says where they came from and how old they are.
  package func search(_ query: HotelQuery) async throws(SearchError) -> HotelPage {
    var answers: [BlockAnswer] = []
    for number in query.blocks {
      let answer = try await block(query.block(number))
      answers.append(answer)
      guard answer.block.hasMore else { break }
    }
    return BlockAnswer.page(of: answers, for: query)
  }

  /// The hotel as a search has shown it within a day, else as the upstream knows it.
  package func hotel(_ id: HotelID) async throws(SearchError) -> Hotel? {
    let canonical = HotelID(Hotel.canonical(id.text)) ?? id
    if let kept = await cache.hotel(canonical, of: upstream),
      Freshness.age(of: kept.stored, at: now()) < freshness.ifError
    {
      return kept.hotel
    }
    return try await lookUps.run(canonical) { await self.lookUp(canonical) }.value.get()
  }

  /// Whether the upstream is ready; what is kept makes it no readier.
  package func checkReady() async throws(SearchError) { try await base.checkReady() }

  private func block(_ query: HotelQuery) async throws(SearchError) -> BlockAnswer {
    let key = query.key(upstream: upstream)
    guard let kept = await cache.block(key, at: now()) else {
      return try await fetch(query, key, .miss, instead: nil)
    }
    let age = Freshness.age(of: kept.stored, at: now())
    switch freshness.judge(age: age, isEmpty: kept.block.hotels.isEmpty) {
    case .fresh(let left):
      meter.count(.fresh)
      return BlockAnswer(
        kept.block, source: .cache, age: Int(clamping: max(0, age)), note: CacheNote.hit(ttl: left))
    case .stale(let over):
      meter.count(.stale)
      refresh(query, key)
      return OldAnswer(kept.block, age: age, over: over).answer(
        CacheNote.hit(ttl: -over, detail: "revalidating"))
    case .ifError(let over):
      let old = OldAnswer(kept.block, age: age, over: over)
      return try await fetch(query, key, .stale, instead: old)
    case .expired:
      return try await fetch(query, key, .stale, instead: nil)
    }
  }
}
