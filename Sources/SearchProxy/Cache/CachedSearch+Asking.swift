import Hotels
import Logging

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
