import Documents
import Hotels
package import Logging
import SQLite
package import Scheduling

/// A cache of upstreams' answers in one SQLite file of bounded size, so that they survive a restart. It contains
/// blocks by search, and the hotels in them by id.
///
/// Its contents can always be fetched again. So a file that is damaged or has another version is deleted and
/// replaced by a new one. While the file can't be read or written (full disk, no free file descriptor), searches
/// work without it and its contents stay. Its calls block, because SQLite does: it is confined to a thread.
package struct SearchCache {
  /// The most bytes of cached answers, and also of cached hotels: 32 MiB each. The least recently used answers and
  /// the least recently returned hotels are removed first.
  package static let defaultMaximumBytes: Int64 = 32 << 20
  /// The most hotels that are cached by id.
  package static let maximumHotels: Int64 = 20_000
  /// The most bytes of answers that are also kept in memory after a read from the file: 4 MiB. An answer that
  /// exceeds this replaces all others in memory.
  package static let recentBytes = 4 << 20

  /// A cached answer.
  typealias Kept = (block: HotelBlock, stored: Timestamp)

  /// The last use of an answer is stored only when the stored one is older than this, in milliseconds.
  private static let useInterval: Int64 = 60_000

  private let path: String
  private let maximumBytes: Int64
  private let recentBytes: Int
  private let logger: Logger
  private var file: SearchCacheFile?
  private var isClosed = false
  private var isFailing = false
  /// Answers that were read from the file, with their stored time of use, in milliseconds.
  private var recent: [String: (kept: Kept, used: Int64, size: Int)] = [:]
  private var recentSize = 0

  /// Makes a cache. Its file is opened at the first use.
  /// - Parameter path: the file; created if absent, in an existing directory.
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
  }

  /// The cached answer of a key; nil for none.
  mutating func block(_ key: String, at now: Timestamp) -> Kept? {
    if let known = recent[key], now.milliseconds - known.used <= Self.useInterval {
      return known.kept
    }
    let row = using { file in try file.block(key) } ?? nil
    guard let row, let block = HotelBlock(row.body) else { return nil }
    let kept: Kept = (block, row.stored)
    var used = row.used
    if now.milliseconds - used > Self.useInterval {
      _ = using { file in try file.note(useOf: key, at: now) }
      used = now.milliseconds
    }
    remember(kept, used: used, under: key, size: row.body.count)
    return kept
  }

  private mutating func remember(_ kept: Kept, used: Int64, under key: String, size: Int) {
    forgetRecent(key)
    if recentSize + size > recentBytes { forgetRecent() }
    recent[key] = (kept, used, size)
    recentSize += size
  }

  private mutating func forgetRecent(_ key: String) {
    recentSize -= recent.removeValue(forKey: key)?.size ?? 0
  }

  private mutating func forgetRecent() {
    recent = [:]
    recentSize = 0
  }

  /// Caches an answer.
  /// - Returns: whether it is cached now.
  mutating func keep(
    _ block: HotelBlock, of upstream: String, under key: String, at now: Timestamp
  ) -> Bool {
    let limit = maximumBytes
    forgetRecent(key)
    return using { file -> Bool in
      try file.keep(block, of: upstream, under: key, at: now)
      try file.shrink(to: limit, hotels: SearchCache.maximumHotels)
      return true
    } ?? false
  }

  /// Caches a hotel that was looked up by its id.
  mutating func keep(_ hotel: Hotel, of upstream: String, at now: Timestamp) {
    let limit = maximumBytes
    _ = using { file in
      try file.keep(hotel, of: upstream, at: now)
      try file.shrink(to: limit, hotels: SearchCache.maximumHotels)
    }
  }

  /// The last cached description of a hotel; nil when the upstream has not returned it recently.
  mutating func hotel(_ id: HotelID, of upstream: String) -> (hotel: Hotel, stored: Timestamp)? {
    let row = using { file in try file.hotel(id.text, of: upstream) } ?? nil
    guard let row, let body = try? DocumentBody(parsing: row.body) else { return nil }
    return (Hotel(id: id, body: body), row.stored)
  }

  /// The size of the cache; nil when the file can't be used.
  package mutating func usage() -> SearchCacheUsage? { using { $0.usage } }

  fileprivate mutating func close() {
    file = nil
    isClosed = true
  }

  /// Runs an operation on the file; nil when it fails. A damaged file is deleted.
  private mutating func using<Value>(_ body: (SearchCacheFile) throws -> Value) -> Value? {
    guard !isClosed else { return nil }
    do {
      let value = try body(try openFile())
      isFailing = false
      return value
    } catch {
      recover(from: error)
      return nil
    }
  }

  private mutating func openFile() throws -> SearchCacheFile {
    if let file { return file }
    let opened = try SearchCacheFile(path: path)
    file = opened
    return opened
  }

  private mutating func recover(from error: any Error) {
    let detail: Logger.Metadata = [UpstreamLogKey.detail.rawValue: "\(String(reflecting: error))"]
    let error = error as? SQLiteError
    // A lock or a full disk is temporary, and reads may still work.
    if let error, error.isStorageFull || error.code == .busy || error.code == .locked {
      return note("Search cache can't be written", detail)
    }
    file = nil
    guard !(error?.isUnavailable ?? false) else {
      return note("Search cache can't be used", detail)
    }
    SearchCacheFile.remove(path)
    forgetRecent()
    logger.warning("Search cache is made again", metadata: detail)
  }

  /// Logs the first failure only, and not one line for each search.
  private mutating func note(_ event: StaticString, _ detail: Logger.Metadata) {
    if !isFailing { logger.warning("\(event)", metadata: detail) }
    isFailing = true
  }
}

extension Confined<SearchCache> {
  /// Gives a cache a thread of its own.
  package convenience init(_ cache: sending SearchCache) {
    self.init(cache, to: ThreadPool(name: "search-cache"))
  }

  /// Closes the file and ends the thread.
  package func close() async {
    await run { $0.close() }
    await threads.stop()
  }
}

/// Counts the results of searches at the cache: `search_cache_total`, by `result`.
///
/// `fresh`: answered from the cache. `stale`: answered from an old answer while another is fetched or the upstream
/// recovers. `stale_if_error`: answered from an old answer because the upstream did not answer. `miss`: the
/// upstream was asked. `coalesced`: the search joined a running call.
enum SearchCacheOutcome: String, CaseIterable {
  case fresh, stale, miss, coalesced
  case staleIfError = "stale_if_error"
}
