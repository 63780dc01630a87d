package import Hotels
package import Logging
import Metrics
import Synchronization

/// One upstream behind everything that keeps its troubles from becoming ours, and ours from becoming its: a
/// deadline over the whole search, a bound on calls at once, a circuit breaker, and a budget for second
/// attempts.
package final class GuardedSearch: HotelSearching {
  /// The bounds; each stands on the book's Search page.
  package struct Settings: Sendable {
    /// A whole search, waiting and second attempt included: 2 s, as long as a person waits for a list.
    package var deadline = Duration.seconds(2)
    /// Calls at once: 64, as many as the client keeps connections.
    package var callsAtOnce = 64
    /// Searches that may wait for their call: 256.
    package var waiting = 256
    /// How long each waits: 100 ms. Longer would only make the queue longer.
    package var patience = Duration.milliseconds(100)
    /// The wait before a second attempt: 20 to 50 ms, drawn anew each time.
    package var retryWait = 20...50
    /// When the breaker opens and for how long.
    package var breaker = CircuitBreaker.Settings()

    /// The defaults.
    package init() {}
  }

  /// What metrics and logs call the upstream.
  package let name: String
  private let base: any RemoteUpstream
  private let settings: Settings
  private let bulkhead: Bulkhead
  private let meter: ResilienceMeter
  private let logger: Logger
  private let now: @Sendable () -> ContinuousClock.Instant
  private let state: Mutex<State>

  private struct State {
    var breaker: CircuitBreaker
    var budget = RetryBudget()
  }

  /// - Parameter base: the upstream's own client.
  package init(
    _ base: any RemoteUpstream, name: String, settings: Settings = Settings(),
    logger: Logger = Logger(label: "hotel-bookmarks.upstream"),
    now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) {
    self.base = base
    self.name = name
    self.settings = settings
    self.logger = logger
    self.now = now
    meter = ResilienceMeter(upstream: name)
    bulkhead = Bulkhead(
      limit: settings.callsAtOnce, waitingLimit: settings.waiting, patience: settings.patience)
    state = Mutex(State(breaker: CircuitBreaker(settings.breaker)))
  }

  /// What the breaker does now.
  package var breakerState: CircuitBreaker.State { state.withLock { $0.breaker.state } }

  /// Whether the upstream was away until a short while ago.
  package var isRecovering: Bool {
    state.withLock { $0.breaker.isRecovering(at: now()) }
  }

  /// Finds hotels.
  /// - Throws: besides what the upstream throws, `unavailable` while the breaker is open or all calls are
  ///   taken, `timeout` at the deadline.
  package func search(_ query: HotelQuery) async throws(SearchError) -> HotelPage {
    if let page = base.answerWithoutAsking(query) { return page }
    return try await guarded { [base] () throws(SearchError) in try await base.search(query) }
  }

  /// One hotel by its id; see ``search(_:)``. Nil without a call where the upstream can't be asked that.
  package func hotel(_ id: HotelID) async throws(SearchError) -> Hotel? {
    guard base.looksUpIDs else { return nil }
    return try await guarded { [base] () throws(SearchError) in try await base.hotel(id) }
  }

  /// Asks nothing of an upstream whose breaker is open, until it would let a probe through: a server that
  /// nobody searches with must notice a recovered upstream too. The breaker does not hear of the outcome, as
  /// an upstream that answers at all need not answer searches.
  package func checkReady() async throws(SearchError) {
    let isOpen = state.withLock { !$0.breaker.wouldAdmit(at: now()) }
    guard !isOpen else { throw .breakerOpen }
    try await base.checkReady()
  }

  private func guarded<Value: Sendable>(
    _ call: @escaping @Sendable () async throws(SearchError) -> Value
  ) async throws(SearchError) -> Value {
    let admission = state.withLock { $0.breaker.admit(at: now()) }
    if case .refused = admission {
      meter.count(.refused)
      throw .breakerOpen
    }
    let progress = CallProgress()
    do throws(SearchError) {
      return try await Deadline.within(settings.deadline) { () throws(SearchError) in
        try await self.admitted(admission, progress, call)
      }
    } catch {
      switch progress.owed {
      case .nothing: break
      // Who was let through and never came to ask would hold the breaker half open for ever.
      case .unasked: settle(.abandoned, of: admission)
      // A limit that ends a call is the upstream's doing; a caller who leaves is not.
      case .outcome:
        settle(Task.isCancelled && !Deadline.hasPassed ? .abandoned : .failure, of: admission)
      }
      throw error
    }
  }

  private func admitted<Value: Sendable>(
    _ admission: CircuitBreaker.Admission, _ progress: CallProgress,
    _ call: @escaping @Sendable () async throws(SearchError) -> Value
  ) async throws(SearchError) -> Value {
    guard await bulkhead.enter() else {
      meter.count(.crowded)
      throw .crowded
    }
    defer { bulkhead.leave() }
    do throws(SearchError) {
      return try await attempt(admission, progress, call)
    } catch {
      guard error.mayRetry, admission != .probe, !Task.isCancelled,
        state.withLock({ $0.breaker.state == .closed && $0.budget.withdraw() })
      else { throw error }
      try? await Task.sleep(for: .milliseconds(Int.random(in: settings.retryWait)))
      guard !Task.isCancelled else { throw error }
      meter.count(.retried)
      logger.info(
        "Upstream call made again", metadata: [UpstreamLogKey.upstream.rawValue: "\(name)"])
      return try await attempt(admission, progress, call)
    }
  }

  private func attempt<Value: Sendable>(
    _ admission: CircuitBreaker.Admission, _ progress: CallProgress,
    _ call: @Sendable () async throws(SearchError) -> Value
  ) async throws(SearchError) -> Value {
    progress.begin()
    do throws(SearchError) {
      let value = try await call()
      progress.end()
      state.withLock { $0.budget.deposit() }
      settle(.success, of: admission)
      return value
    } catch {
      // Who cancelled is known outside only.
      guard !Task.isCancelled else { throw error }
      progress.end()
      settle(.failure, of: admission)
      throw error
    }
  }

  private func settle(_ outcome: CircuitBreaker.Outcome, of admission: CircuitBreaker.Admission) {
    let change = state.withLock { state in
      state.breaker.record(
        outcome, of: admission, at: now(), jitter: Double.random(in: 0...1))
    }
    guard let change else { return }
    meter.note(change)
    logger.notice(
      "Circuit breaker changed",
      metadata: [
        UpstreamLogKey.upstream.rawValue: "\(name)", UpstreamLogKey.state.rawValue: "\(change)",
      ])
  }
}

extension SearchError {
  /// The upstream was not asked, because its circuit breaker is open.
  static let breakerOpen = SearchError(
    .unavailable, "Hotel search can't be reached right now.", detail: "circuit breaker open")
  /// The upstream was not asked, because no call came free in time.
  static let crowded = SearchError(
    .unavailable, "Hotel search is busy right now.", detail: "no free call in time")
}

/// What one admitted call still owes its circuit breaker, so that each attempt is told of exactly once however
/// the call ends.
final class CallProgress: Sendable {
  /// What is owed.
  enum Owed: Sendable {
    /// That the upstream was never asked.
    case unasked
    /// What came of an attempt that has begun.
    case outcome
    /// All was told.
    case nothing
  }

  private let state = Mutex(Owed.unasked)

  /// What is owed now.
  var owed: Owed { state.withLock { $0 } }

  /// An attempt begins.
  func begin() { state.withLock { $0 = .outcome } }

  /// An attempt's outcome is told.
  func end() { state.withLock { $0 = .nothing } }
}

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

/// How many calls may be made again: a token bucket that successes fill, so that an upstream in trouble is
/// not asked more often than it would be anyway. A value.
///
/// Source: Google, "Site Reliability Engineering", chapter 22, "Retry budgets".
package struct RetryBudget: Sendable {
  /// What a success puts in: retries are a tenth of the calls at most.
  package static let deposit = 0.1
  /// What fits in: one retry. What was saved in good times must not be spent at once when an outage begins.
  package static let capacity = 1.0

  private var tokens = RetryBudget.capacity

  /// A full bucket.
  package init() {}

  /// A call has succeeded.
  package mutating func deposit() {
    tokens = min(tokens + Self.deposit, Self.capacity)
  }

  /// Asks to make a failed call again.
  package mutating func withdraw() -> Bool {
    // A sum of tenths is not exactly one.
    guard tokens >= 1 - 1e-9 else { return false }
    tokens = max(0, tokens - 1)
    return true
  }
}
