import Hotels
import Logging
import Metrics

/// Counts and times the calls to one upstream.
///
/// - `upstream_calls_total`, by `upstream` and `outcome`: searches that were sent. Each counts once, however many
///   requests it took.
/// - `upstream_call_duration_seconds`, by `upstream`: how long such a search took, failures included.
/// - `ssrf_blocked_total`, by `upstream`: redirects away from the upstream's origin, and connections to an address
///   that is not permitted.
/// - `upstream_rows_skipped_total`, by `upstream`: rows of answers that are not valid hotels.
struct UpstreamMeter: Sendable {
  enum Outcome: String, CaseIterable {
    case ok, unavailable, timeout, cancelled
    case badAnswer = "bad_answer"

    /// The outcome of a call that threw an error. It must be called in the call's own task: a call that a time
    /// limit has cancelled counts as `timeout`, any other cancelled call as `cancelled`.
    init(_ error: SearchError) {
      guard !Task.isCancelled else {
        self = Deadline.hasPassed ? .timeout : .cancelled
        return
      }
      switch error.code {
      case .unavailable: self = .unavailable
      case .timeout: self = .timeout
      case .badAnswer: self = .badAnswer
      }
    }
  }

  private let upstream: String
  private let calls: CounterTable<Outcome>
  private let duration: Timer
  private let blocked: Counter
  private let skipped: Counter

  init(upstream name: String) {
    self.upstream = name
    let upstream = ("upstream", name)
    calls = CounterTable("upstream_calls_total", by: "outcome", of: Outcome.allCases, upstream)
    duration = Timer(label: "upstream_call_duration_seconds", dimensions: [upstream])
    blocked = Counter(label: "ssrf_blocked_total", dimensions: [upstream])
    skipped = Counter(label: "upstream_rows_skipped_total", dimensions: [upstream])
  }

  func count(_ outcome: Outcome, started: ContinuousClock.Instant) {
    calls.count(outcome)
    let (seconds, attoseconds) = (ContinuousClock.now - started).components
    duration.recordNanoseconds(seconds &* 1_000_000_000 &+ attoseconds / 1_000_000_000)
  }

  /// Runs a search within a time limit and counts it. A failed one is logged unless its caller left.
  func search<Value: Sendable>(
    within limit: Duration, _ logger: Logger,
    _ search: @escaping @Sendable () async throws(SearchError) -> Value
  ) async throws(SearchError) -> Value {
    let started = ContinuousClock.now
    do throws(SearchError) {
      let value = try await Deadline.within(limit, search)
      count(.ok, started: started)
      return value
    } catch {
      let outcome = Outcome(error)
      count(outcome, started: started)
      guard outcome != .cancelled else { throw error }
      logger.warning(
        "Upstream search failed",
        metadata: [
          UpstreamLogKey.upstream.rawValue: "\(upstream)",
          UpstreamLogKey.code.rawValue: "\(error.code.rawValue)",
          UpstreamLogKey.detail.rawValue: "\(error.detail)",
        ])
      throw error
    }
  }

  /// Counts a redirect that was not followed because it leaves the origin, or a connection that was not used
  /// because of its address.
  func countBlocked() { blocked.increment() }

  func countSkipped(rows: Int) { skipped.increment(by: rows) }
}

/// The counters of one metric, one for each value of a dimension.
struct CounterTable<Value: RawRepresentable<String> & Hashable & Sendable>: Sendable {
  private let counters: [Value: Counter]

  /// Makes the counters, so that all of them are shown before their first event.
  /// - Parameter dimension: the name of the dimension that has the values.
  /// - Parameter others: the dimensions that all of them have.
  init(
    _ label: String, by dimension: String, of values: some Sequence<Value>,
    _ others: (String, String)...
  ) {
    counters = Dictionary(
      uniqueKeysWithValues: values.map { value in
        (value, Counter(label: label, dimensions: others + [(dimension, value.rawValue)]))
      })
  }

  func count(_ value: Value) { counters[value]?.increment() }
}
