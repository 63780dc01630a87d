package import Documents
package import Hotels
package import Logging
package import Scheduling

/// A search with a cache. A fresh answer is returned without a call. A stale answer is returned while a new one is
/// fetched in the background. An older answer is returned when the upstream does not answer. Identical simultaneous
/// searches share one call.
///
/// Only complete, valid answers are cached (the upstream's client returns no others). The cache key contains
/// nothing about a person.
package final class CachedSearch: HotelSearching {
  /// How many searches may call the upstream at once shortly after an outage, when an old answer could be used
  /// instead. It is about a tenth of the usual calls, so that the recovering upstream is not overloaded.
  package static let fetchesWhileRecovering = 6
  /// The longest wait before a stale answer is fetched again, in milliseconds. Each fetch waits a random part of
  /// it, so that answers that became stale together are not fetched together.
  static let longestRefreshWait = 500

  let base: any HotelSearching
  let upstream: String
  let cache: Confined<SearchCache>
  let freshness = Freshness()
  let matching: HotelQuery.Matching?
  let isRecovering: @Sendable () -> Bool
  let now: @Sendable () -> Timestamp
  let logger: Logger
  let meter = CounterTable("search_cache_total", by: "result", of: SearchCacheOutcome.allCases)
  let searches = RequestCoalescer<String, Result<Fetched, SearchError>>()
  let lookUps = RequestCoalescer<HotelID, Result<Hotel?, SearchError>>()
  let recoveryBulkhead = Bulkhead(
    limit: CachedSearch.fetchesWhileRecovering, waitingLimit: 0, timeout: .zero)

  /// - Parameter base: asks the upstream.
  /// - Parameter upstream: the upstream's name in cache keys, so that answers of another upstream are not used.
  /// - Parameter matching: how the upstream matches texts if it ignores the query's setting; nil if it follows the
  ///   query. With a value, both settings share the cached answers.
  /// - Parameter isRecovering: whether the upstream was unavailable until a short while ago.
  /// - Parameter now: the wall clock, because cached answers outlive the process.
  package init(
    _ base: any HotelSearching, upstream: String, cache: Confined<SearchCache>,
    matching: HotelQuery.Matching? = nil,
    isRecovering: @escaping @Sendable () -> Bool = { false },
    now: @escaping @Sendable () -> Timestamp,
    logger: Logger = Logger(label: "hotel-bookmarks.search-cache")
  ) {
    self.base = base
    self.upstream = upstream
    self.cache = cache
    self.matching = matching
    self.isRecovering = isRecovering
    self.now = now
    self.logger = logger
  }

  /// Finds hotels. The page contains its source and its age.
  package func search(_ query: HotelQuery) async throws(SearchError) -> HotelPage {
    var answers: [BlockAnswer] = []
    for number in query.blocks {
      let answer = try await block(query.block(number, matching: matching))
      answers.append(answer)
      guard answer.block.hasMore else { break }
    }
    return BlockAnswer.page(of: answers, for: query)
  }

  /// The hotel from a search within the last day, or else from the upstream.
  package func hotel(_ id: HotelID) async throws(SearchError) -> Hotel? {
    if let hotel = await shown(id) { return hotel }
    let canonical = HotelID(Hotel.canonical(id.text)) ?? id
    return try await lookUps.run(canonical) { await self.lookUp(canonical) }.value.get()
  }

  /// The hotel from a search within the last day.
  package func shown(_ id: HotelID) async -> Hotel? {
    let canonical = HotelID(Hotel.canonical(id.text)) ?? id
    guard let kept = await cache.run({ $0.hotel(canonical, of: self.upstream) }),
      Freshness.age(of: kept.stored, at: now()) < freshness.ifError
    else { return nil }
    return kept.hotel
  }

  package func places(beginning prefix: String, limit: Int) async throws(SearchError) -> PlacePage {
    try await base.places(beginning: prefix, limit: limit)
  }

  /// Whether the upstream is ready. Cached answers do not count.
  package func checkReady() async throws(SearchError) { try await base.checkReady() }

  private func block(_ query: HotelQuery) async throws(SearchError) -> BlockAnswer {
    let key = query.key(upstream: upstream)
    guard let kept = await cache.run({ $0.block(key, at: self.now()) }) else {
      return try await fetch(query, key, .miss, instead: nil)
    }
    let age = Freshness.age(of: kept.stored, at: now())
    switch freshness.judge(age: age, isEmpty: kept.block.hotels.isEmpty) {
    case .fresh(let left):
      meter.count(.fresh)
      return BlockAnswer(kept.block, .cache, age: age, note: CacheNote.hit(ttl: left))
    case .stale(let over):
      meter.count(.stale)
      refresh(query, key)
      let note = CacheNote.hit(ttl: -over, detail: "revalidating")
      return BlockAnswer(kept.block, .stale, age: age, note: note)
    case .ifError(let over):
      return try await fetch(query, key, .stale, instead: (kept.block, age, over))
    case .expired: return try await fetch(query, key, .stale, instead: nil)
    }
  }

  /// Asks the upstream, or joins a running call for the same search.
  /// - Parameter old: the answer to return if the upstream does not answer.
  func fetch(
    _ query: HotelQuery, _ key: String, _ reason: CacheNote.Reason, instead old: OldAnswer?
  ) async throws(SearchError) -> BlockAnswer {
    var (result, isJoined) = await searches.run(key) {
      await self.ask(query, key, mayYield: old != nil)
    }
    // The joined call may have yielded, because its caller had an old answer. This caller has none, so it asks
    // again.
    if old == nil, case .failure(let error) = result, error == .yielded {
      (result, isJoined) = await searches.run(key) { await self.ask(query, key, mayYield: false) }
    }
    switch result {
    case .success(let fetched):
      let isCollapsed = isJoined || !fetched.wasAsked
      meter.count(isCollapsed ? .coalesced : .miss)
      let note = CacheNote.asked(reason, isStored: fetched.isStored, isCollapsed: isCollapsed)
      return BlockAnswer(fetched.block, .upstream, note: note)
    case .failure(let error):
      guard let old else {
        meter.count(isJoined ? .coalesced : .miss)
        throw error
      }
      meter.count(error == .yielded ? .stale : .staleIfError)
      if error != .yielded {
        logger.info(
          "Search answered with an old cached answer",
          metadata: [UpstreamLogKey.code.rawValue: "\(error.code.rawValue)"])
      }
      let note = CacheNote.old(ttl: -old.over, because: error)
      return BlockAnswer(old.block, .stale, age: old.age, note: note)
    }
  }

  /// Fetches an answer in the background after a short wait.
  func refresh(_ query: HotelQuery, _ key: String) {
    searches.startAlone(key) {
      try? await Task.sleep(for: .milliseconds(Int.random(in: 0...Self.longestRefreshWait)))
      return await self.ask(query, key, mayYield: true)
    }
  }

  /// Asks the upstream for a hotel by its id and caches it.
  func lookUp(_ id: HotelID) async -> Result<Hotel?, SearchError> {
    do throws(SearchError) {
      guard let hotel = try await base.hotel(id) else { return .success(nil) }
      await cache.run { $0.keep(hotel, of: self.upstream, at: self.now()) }
      return .success(hotel)
    } catch { return .failure(error) }
  }

  /// - Parameter mayYield: whether this call may give up when the upstream is recovering and enough other calls are
  ///   running.
  private func ask(
    _ query: HotelQuery, _ key: String, mayYield: Bool
  ) async -> Result<Fetched, SearchError> {
    // Another call may have ended after the caller read the cache and before this call began.
    if let kept = await cache.run({ $0.block(key, at: self.now()) }),
      case .fresh = freshness.judge(
        age: Freshness.age(of: kept.stored, at: now()), isEmpty: kept.block.hotels.isEmpty)
    {
      return .success((kept.block, isStored: true, wasAsked: false))
    }
    let isGentle = mayYield && isRecovering()
    guard !isGentle || recoveryBulkhead.tryAcquire() else { return .failure(.yielded) }
    defer { if isGentle { recoveryBulkhead.release() } }
    do throws(SearchError) {
      let block = HotelBlock(try await base.search(query))
      let isStored = await cache.run {
        $0.keep(block, of: self.upstream, under: key, at: self.now())
      }
      return .success((block, isStored, wasAsked: true))
    } catch { return .failure(error) }
  }
}

/// The result of a call to the upstream, and whether this call asked it. Another call may have cached the answer in the
/// meantime.
typealias Fetched = (block: HotelBlock, isStored: Bool, wasAsked: Bool)

/// A cached answer that is no longer fresh, its age in seconds, and for how many seconds it has not been fresh.
typealias OldAnswer = (block: HotelBlock, age: Int64, over: Int64)

struct BlockAnswer: Sendable {
  let block: HotelBlock
  let source: HotelPage.Source
  /// The age of the answer in seconds; nil for a new one.
  let age: Int?
  /// What the cache did, for `Cache-Status`.
  let note: String

  init(_ block: HotelBlock, _ source: HotelPage.Source, age: Int64? = nil, note: String) {
    (self.block, self.source, self.note) = (block, source, note)
    self.age = age.map { Int(clamping: max(0, $0)) }
  }

  /// The page of a query, cut from its blocks. The first block begins at or before the page. The page has the age
  /// of its oldest block.
  static func page(of answers: [BlockAnswer], for query: HotelQuery) -> HotelPage {
    let hotels = answers.flatMap(\.block.hotels)
    let start = query.offset % HotelBlock.size
    let end = start + query.limit
    let hasMore = end < hotels.count || (answers.last?.block.hasMore ?? false)
    let next = query.offset + query.limit
    let oldest = answers.max { ($0.age ?? -1) < ($1.age ?? -1) }
    return HotelPage(
      hotels: Array(hotels.dropFirst(start).prefix(query.limit)),
      next: hasMore && next <= HotelQuery.maximumOffset ? next : nil,
      source: oldest?.source ?? .upstream, age: oldest?.age, cacheNote: oldest?.note)
  }
}
