import Hotels
import Scheduling
import SearchProxy
import Synchronization
import TestSupport

/// A cache over an upstream in memory, with a clock that the test controls.
final class CacheFixture: Sendable {
  let upstream: CountingSearch
  let path: String
  /// The clock of its upstream's guards.
  let instant = ManualInstant(.now)
  /// The upstream with its guards, if it has some.
  let guarded: GuardedSearch?
  private let search: CachedSearch
  private let cache: Confined<SearchCache>

  init(
    hotels: Int, path: String, maximumBytes: Int64, recentBytes: Int, isGuarded: Bool,
    isRecovering: @escaping @Sendable () -> Bool
  ) throws {
    let upstream = try CountingSearch(hotels: hotels)
    let instant = instant
    let guarded =
      isGuarded
      ? GuardedSearch(upstream, name: "test", settings: .patient, now: { instant.now }) : nil
    self.guarded = guarded
    let cache = Confined(
      SearchCache(path: path, maximumBytes: maximumBytes, recentBytes: recentBytes))
    let time = TestClock()
    self.upstream = upstream
    self.path = path
    self.cache = cache
    self.shared = time
    search = CachedSearch(
      guarded ?? upstream, upstream: "test", cache: cache,
      isRecovering: { isRecovering() || guarded?.isRecovering == true }, now: { time.now })
  }

  private let shared: TestClock

  func pass(seconds: Int64) {
    shared.step(seconds: seconds)
    if seconds > 0 { instant.set(instant.now + .seconds(seconds)) }
  }

  func hotel(_ id: HotelID) async throws -> Hotel? { try await search.hotel(id) }

  func search(
    description: String = "inn", limit: Int = 20, offset: Int = 0
  ) async throws -> HotelPage {
    try await search.search(
      HotelQuery(description: description, limit: limit, offset: offset))
  }

  /// A cached search of another process over the same file.
  /// - Parameter matching: the only way in which the upstream matches texts, whatever a query asks for.
  func restarted(
    upstream name: String = "test", matching: HotelQuery.Matching? = nil
  ) -> CachedSearch {
    let time = shared
    return CachedSearch(
      upstream, upstream: name, cache: Confined(SearchCache(path: path)), matching: matching,
      now: { time.now })
  }

  func close() async { await cache.close() }
}

/// Runs a test with a cache in its own directory.
func withCache(
  hotels: Int = 5, path: String? = nil, maximumBytes: Int64 = 1 << 20,
  recentBytes: Int = SearchCache.recentBytes, isGuarded: Bool = false,
  isRecovering: @escaping @Sendable () -> Bool = { false },
  _ body: (CacheFixture) async throws -> Void
) async throws {
  let directory = try TemporaryDirectory()
  let fixture = try CacheFixture(
    hotels: hotels, path: path ?? directory.file("cache.sqlite"),
    maximumBytes: maximumBytes, recentBytes: recentBytes, isGuarded: isGuarded,
    isRecovering: isRecovering)
  let outcome: Result<Void, any Error>
  do { outcome = .success(try await body(fixture)) } catch { outcome = .failure(error) }
  await fixture.close()
  try outcome.get()
}
