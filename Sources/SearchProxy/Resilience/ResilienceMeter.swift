import Metrics

/// Counts what is decided about calls to one upstream.
///
/// - `upstream_guard_total`, by `upstream` and `decision`: searches that were `refused` because the breaker
///   was open, `crowded` out because no call came free, calls that were `retried`.
/// - `upstream_breaker_changes_total`, by `upstream` and `state`: what the breaker changed to.
/// - `upstream_breaker_open`, by `upstream`: 1 while the breaker is not closed.
struct ResilienceMeter: Sendable {
  /// What was decided.
  enum Decision: String, CaseIterable {
    case refused, crowded, retried
  }

  private let decisions: [Decision: Counter]
  private let changes: [CircuitBreaker.State: Counter]
  private let isOpen: Gauge

  /// A meter for the upstream of that name.
  init(upstream name: String) {
    let upstream = ("upstream", name)
    decisions = Dictionary(
      uniqueKeysWithValues: Decision.allCases.map {
        (
          $0,
          Counter(label: "upstream_guard_total", dimensions: [upstream, ("decision", $0.rawValue)])
        )
      })
    changes = Dictionary(
      uniqueKeysWithValues: [CircuitBreaker.State.open, .closed].map {
        let dimensions = [upstream, ("state", $0.rawValue)]
        return ($0, Counter(label: "upstream_breaker_changes_total", dimensions: dimensions))
      })
    isOpen = Gauge(label: "upstream_breaker_open", dimensions: [upstream])
    isOpen.record(0)
  }

  /// Counts a decision.
  func count(_ decision: Decision) { decisions[decision]?.increment() }

  /// Takes note of what a breaker changed to.
  func note(_ state: CircuitBreaker.State) {
    changes[state]?.increment()
    isOpen.record(state == .closed ? 0 : 1)
  }
}
