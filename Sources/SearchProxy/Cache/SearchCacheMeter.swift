import Metrics

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
