import Documents
import Hotels
import Lanes
package import Logging
import Metrics
import SQLite

/// Answers of upstreams, kept in one bounded SQLite file so that they survive a restart. Blocks by search,
/// and the hotels in them by id.
///
/// It holds nothing that can't be asked for again: a file that is damaged, or of another version, is thrown
/// away and begun anew. Where it can't be read or written for now (a full disk, no descriptor left) searches
/// go on without it, and what is in it stays. Confined to a lane, because SQLite blocks.
package actor SearchCache {
  /// Bytes of answers kept, at most, and of hotels by id as much again: 32 MiB each. The answers used least
  /// recently and the hotels shown least recently go first.
  package static let defaultMaximumBytes: Int64 = 32 << 20
  /// Hotels kept by id, at most.
  package static let maximumHotels: Int64 = 20_000
  /// Bytes of answers, 4 MiB, that are kept in memory too once they were read from the file. An answer that goes beyond
  /// that takes the place of all others.
  package static let recentBytes = 4 << 20
  /// An answer's last use is noted when the noted one is older than this, in milliseconds.
  private static let useInterval: Int64 = 60_000

  /// An answer as it was kept.
  struct Kept: Sendable {
    /// The answer.
    let block: HotelBlock
    /// When it came.
    let stored: Timestamp
  }

  private let path: String
  private let maximumBytes: Int64
  private let recentBytes: Int
  private let lane: Lane
  private let logger: Logger
  private var file: SearchCacheFile?
  private var isClosed = false
  private var isFailing = false
  /// Answers that were read from the file, with the use that it knows of, in milliseconds.
  private var recent: [String: (kept: Kept, used: Int64, size: Int)] = [:]
  private var recentSize = 0

  package nonisolated var unownedExecutor: UnownedSerialExecutor {
    lane.asUnownedSerialExecutor()
  }

  /// A cache in a file, which is opened at the first use.
  /// - Parameter path: the file; made if absent, in a directory that exists.
  /// - Parameter maximumBytes: see ``defaultMaximumBytes``.
  /// - Parameter recentBytes: see ``recentBytes``.
  package init(
    path: String, maximumBytes: Int64 = SearchCache.defaultMaximumBytes,
    recentBytes: Int = SearchCache.recentBytes,
    logger: Logger = Logger(label: "hotel-bookmarks.search-cache")
  ) {
    self.path = path
    self.maximumBytes = maximumBytes
    self.recentBytes = recentBytes
    self.logger = logger
    lane = Lane(name: "search-cache")
  }

  /// The answer that is kept under a key; nil for none.
  func block(_ key: String, at now: Timestamp) -> Kept? {
    if let known = recent[key], now.milliseconds - known.used <= Self.useInterval {
      return known.kept
    }
    let row = using { file in try file.block(key) } ?? nil
    guard let row, let block = HotelBlock(row.body) else { return nil }
    let kept = Kept(block: block, stored: row.stored)
    var used = row.used
    if now.milliseconds - used > Self.useInterval {
      _ = using { file in try file.note(useOf: key, at: now) }
      used = now.milliseconds
    }
    remember(kept, used: used, under: key, size: row.body.count)
    return kept
  }

  private func remember(_ kept: Kept, used: Int64, under key: String, size: Int) {
    forgetRecent(key)
    if recentSize + size > recentBytes { forgetRecent() }
    recent[key] = (kept, used, size)
    recentSize += size
  }

  private func forgetRecent(_ key: String) {
    recentSize -= recent.removeValue(forKey: key)?.size ?? 0
  }

  private func forgetRecent() {
    recent = [:]
    recentSize = 0
  }

  /// Keeps an answer.
  /// - Returns: whether it is kept now.
  func keep(
    _ block: HotelBlock, of upstream: String, under key: String, at now: Timestamp
  ) -> Bool {
    let limit = maximumBytes
    forgetRecent(key)
    return using { file -> Bool in
      try file.keep(block, of: upstream, under: key, at: now)
      try file.shrink(to: limit, hotels: Self.maximumHotels)
      return true
    } ?? false
  }

  /// Keeps a hotel that an upstream was asked for by its id.
  func keep(_ hotel: Hotel, of upstream: String, at now: Timestamp) {
    let limit = maximumBytes
    _ = using { file in
      try file.keep(hotel, of: upstream, at: now)
      try file.shrink(to: limit, hotels: Self.maximumHotels)
    }
  }

  /// A hotel as an upstream has shown it last; nil for one that it has not shown lately.
  func hotel(_ id: HotelID, of upstream: String) -> (hotel: Hotel, stored: Timestamp)? {
    let row = using { file in try file.hotel(id.text, of: upstream) } ?? nil
    guard let row, let body = try? DocumentBody(parsing: row.body) else { return nil }
    return (Hotel(id: id, body: body), row.stored)
  }

  /// How much is kept; nil where the file can't be used.
  package func usage() -> SearchCacheUsage? { using { $0.usage } }

  /// Closes the file and ends the lane.
  package func close() async {
    file = nil
    isClosed = true
    await lane.stop()
  }

  /// Runs something on the file; nil when it fails. A damaged file is thrown away.
  private func using<Value>(
    _ body: (SearchCacheFile) throws -> Value
  ) -> Value? {
    guard !isClosed else { return nil }
    do {
      let value = try body(try opened())
      isFailing = false
      return value
    } catch {
      recover(from: error)
      return nil
    }
  }

  private func opened() throws -> SearchCacheFile {
    if let file { return file }
    let opened = try SearchCacheFile(path: path)
    file = opened
    return opened
  }

  private func recover(from error: any Error) {
    let detail: Logger.Metadata = [
      UpstreamLogKey.detail.rawValue: "\(String(reflecting: error))"
    ]
    let error = error as? SQLiteError
    // A lock or a full disk passes, and reads may work all the while.
    if let error, error.isStorageFull || error.code == .busy || error.code == .locked {
      return note("Search cache can't be written", detail)
    }
    file = nil
    guard !(error?.isUnavailable ?? false) else {
      return note("Search cache can't be used", detail)
    }
    SearchCacheFile.remove(path)
    forgetRecent()
    logger.warning("Search cache begins anew", metadata: detail)
  }

  /// One line when it begins, not one for each search.
  private func note(_ event: StaticString, _ detail: Logger.Metadata) {
    if !isFailing { logger.warning("\(event)", metadata: detail) }
    isFailing = true
  }
}

/// Counts what became of searches at the cache: `search_cache_total`, by `result`.
///
/// `fresh`: answered without asking; `stale`: answered from an old answer while another is fetched or the
/// upstream recovers; `stale_if_error`: answered from an old answer because the upstream did not; `miss`:
/// asked; `coalesced`: joined a call that was under way.
struct SearchCacheMeter: Sendable {
  /// What became of a search.
  enum Outcome: String, CaseIterable {
    case fresh, stale, miss, coalesced
    case staleIfError = "stale_if_error"
  }

  private let counters: [Outcome: Counter]

  /// A meter.
  init() {
    counters = Dictionary(
      uniqueKeysWithValues: Outcome.allCases.map {
        ($0, Counter(label: "search_cache_total", dimensions: [("result", $0.rawValue)]))
      })
  }

  /// Counts a search.
  func count(_ outcome: Outcome) { counters[outcome]?.increment() }
}
