import Stores
import Synchronization

/// The sweeper's counts since the start, for `/metrics`.
final class SweepCounts: Sendable {
  private struct State {
    var removed: [Remains.Kind: Int] = [:]
    var kept: [Remains.Kind: Int] = [:]
    var stores = 0
    var rounds = 0
    var failures = 0
  }

  private let state = Mutex(State())

  init() {}

  var storeCount: Int { state.withLock { $0.stores } }

  func countVisit(_ remains: Remains) {
    state.withLock { $0.stores += 1 }
    countRemoved(remains)
  }

  func countRemoved(_ remains: Remains) {
    state.withLock { $0.removed.merge(remains.removed, uniquingKeysWith: +) }
  }

  func fail() { state.withLock { $0.failures += 1 } }

  /// Counts a finished round, and stores what it has kept.
  func end(_ remains: Remains) {
    state.withLock { state in
      state.rounds += 1
      state.kept = remains.kept
    }
  }

  func report(to metrics: PrometheusRegistry) {
    metrics.collect { [self] in
      let state = state.withLock { $0 }
      return Remains.Kind.allCases.flatMap { kind in
        [
          Self.sample("sweep_removed_total", .counter, kind, state.removed),
          Self.sample("sweep_kept", .gauge, kind, state.kept),
        ]
      } + [
        PrometheusSample("sweep_stores_total", .counter, Double(state.stores)),
        PrometheusSample("sweep_rounds_total", .counter, Double(state.rounds)),
        PrometheusSample("sweep_failures_total", .counter, Double(state.failures)),
      ]
    }
  }

  private static func sample(
    _ family: String, _ metric: PrometheusSample.Kind, _ kind: Remains.Kind,
    _ counts: [Remains.Kind: Int]
  ) -> PrometheusSample {
    PrometheusSample(family, metric, labels: "kind=\"\(kind.rawValue)\"", Double(counts[kind] ?? 0))
  }
}
