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
  let matching: HotelQuery.Matching?
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
  /// - Parameter matching: how the upstream understands texts whatever it is asked; nil where it does as asked. What
  ///   it answers one way is then kept for the other.
  /// - Parameter isRecovering: whether the upstream was away until a short while ago.
  /// - Parameter now: the wall clock, as answers outlive the process.
  package init(
    _ base: any HotelSearching, upstream: String, cache: SearchCache,
    freshness: Freshness = Freshness(), matching: HotelQuery.Matching? = nil,
    isRecovering: @escaping @Sendable () -> Bool = { false },
    now: @escaping @Sendable () -> Timestamp,
    logger: Logger = Logger(label: "hotel-bookmarks.search-cache")
  ) {
    self.base = base
    self.upstream = upstream
    self.cache = cache
    self.freshness = freshness
    self.matching = matching
    self.isRecovering = isRecovering
    self.now = now
    self.logger = logger
  }

  /// Finds hotels; the page says where they came from and how old they are.
  package func search(_ query: HotelQuery) async throws(SearchError) -> HotelPage {
    var answers: [BlockAnswer] = []
    for number in query.blocks {
      let answer = try await block(query.block(number, matching: matching))
      answers.append(answer)
      guard answer.block.hasMore else { break }
    }
    return BlockAnswer.page(of: answers, for: query)
  }

  /// The hotel as a search has shown it within a day, else as the upstream knows it.
  package func hotel(_ id: HotelID) async throws(SearchError) -> Hotel? {
    if let hotel = await shown(id) { return hotel }
    let canonical = HotelID(Hotel.canonical(id.text)) ?? id
    return try await lookUps.run(canonical) { await self.lookUp(canonical) }.value.get()
  }

  /// The hotel as a search has shown it within a day.
  package func shown(_ id: HotelID) async -> Hotel? {
    let canonical = HotelID(Hotel.canonical(id.text)) ?? id
    guard let kept = await cache.hotel(canonical, of: upstream),
      Freshness.age(of: kept.stored, at: now()) < freshness.ifError
    else { return nil }
    return kept.hotel
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

/// What a call to the upstream has brought.
struct Fetched: Sendable {
  /// The answer.
  let block: HotelBlock
  /// Whether it is kept now.
  let isStored: Bool
  /// Whether this call asked; another may have, between the look into the cache and the call.
  let wasAsked: Bool
}

/// A kept answer that is past its time.
struct OldAnswer: Sendable {
  private let block: HotelBlock
  private let age: Int
  /// For how many seconds more it is fresh: none, so never above zero.
  let ttl: Int64

  /// - Parameter over: how many seconds it is past its time.
  init(_ block: HotelBlock, age: Int64, over: Int64) {
    self.block = block
    self.age = Int(clamping: max(0, age))
    ttl = -over
  }

  /// It as an answer, with what the cache did.
  func answer(_ note: String) -> BlockAnswer {
    BlockAnswer(block, source: .stale, age: age, note: note)
  }
}

extension CachedSearch {
  /// Asks the upstream, together with whoever asks the same now.
  /// - Parameter old: what to answer if it does not.
  func fetch(
    _ query: HotelQuery, _ key: String, _ reason: CacheNote.Reason, instead old: OldAnswer?
  ) async throws(SearchError) -> BlockAnswer {
    var (result, isJoined) = await flights.run(key) {
      await self.ask(query, key, mayYield: old != nil)
    }
    // Those whose old answer would do may have left it to others; this one has none.
    if old == nil, case .failure(let error) = result, error == .yielded {
      (result, isJoined) = await flights.run(key) { await self.ask(query, key, mayYield: false) }
    }
    switch result {
    case .success(let fetched):
      let isCollapsed = isJoined || !fetched.wasAsked
      meter.count(isCollapsed ? .coalesced : .miss)
      return BlockAnswer(
        fetched.block, source: .upstream, age: nil,
        note: CacheNote.asked(reason, isStored: fetched.isStored, isCollapsed: isCollapsed))
    case .failure(let error):
      guard let old else {
        meter.count(isJoined ? .coalesced : .miss)
        throw error
      }
      meter.count(error == .yielded ? .stale : .staleIfError)
      if error != .yielded {
        logger.info(
          "Search answered from an old answer",
          metadata: [UpstreamLogKey.code.rawValue: "\(error.code.rawValue)"])
      }
      return old.answer(CacheNote.old(ttl: old.ttl, because: error))
    }
  }

  /// Fetches an answer behind the scenes, a little later.
  func refresh(_ query: HotelQuery, _ key: String) {
    flights.startAlone(key) {
      try? await Task.sleep(for: .milliseconds(Int.random(in: 0...Self.longestRefreshWait)))
      return await self.ask(query, key, mayYield: true)
    }
  }

  /// Asks for a hotel by its id and keeps it.
  func lookUp(_ id: HotelID) async -> Result<Hotel?, SearchError> {
    do throws(SearchError) {
      guard let hotel = try await base.hotel(id) else { return .success(nil) }
      await cache.keep(hotel, of: upstream, at: now())
      return .success(hotel)
    } catch {
      return .failure(error)
    }
  }

  /// - Parameter mayYield: whether an upstream that has just come back can be left to others.
  private func ask(
    _ query: HotelQuery, _ key: String, mayYield: Bool
  ) async -> Result<Fetched, SearchError> {
    // Another call may have ended after the caller looked and before this one began.
    if let kept = await cache.block(key, at: now()),
      case .fresh = freshness.judge(
        age: Freshness.age(of: kept.stored, at: now()), isEmpty: kept.block.hotels.isEmpty)
    {
      return .success(Fetched(block: kept.block, isStored: true, wasAsked: false))
    }
    let isGentle = mayYield && isRecovering()
    guard !isGentle || recoveryGate.enterAtOnce() else { return .failure(.yielded) }
    defer { if isGentle { recoveryGate.leave() } }
    do throws(SearchError) {
      let block = HotelBlock(try await base.search(query))
      let isStored = await cache.keep(block, of: upstream, under: key, at: now())
      return .success(Fetched(block: block, isStored: isStored, wasAsked: true))
    } catch {
      return .failure(error)
    }
  }
}

/// A block with where it came from.
struct BlockAnswer: Sendable {
  /// The hotels.
  let block: HotelBlock
  /// Where they came from.
  let source: HotelPage.Source
  /// How old the answer is, in seconds; nil for one of just now.
  let age: Int?
  /// What the cache did, for `Cache-Status`.
  let note: String?

  /// A block and its story.
  init(_ block: HotelBlock, source: HotelPage.Source, age: Int?, note: String? = nil) {
    self.block = block
    self.source = source
    self.age = age
    self.note = note
  }

  /// The page that a query asks for, cut from its blocks, the first of which begins at or before it. It is
  /// as old as its oldest block.
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
