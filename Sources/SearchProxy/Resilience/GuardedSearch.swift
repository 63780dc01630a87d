package import Hotels
package import Logging
import Metrics
import Scheduling
import Synchronization

/// An upstream with protection in both directions: a deadline for the whole search, a limit on simultaneous calls,
/// a circuit breaker, and a budget for second attempts.
package final class GuardedSearch: HotelSearching {
  /// The limits. The book's Search page lists each of them.
  package struct Settings: Sendable {
    /// The time limit of a whole search, including waiting and a second attempt: 2 s, about as long as a person
    /// waits for a list.
    package var deadline = Duration.seconds(2)
    /// The most simultaneous calls: 64, which is the client's number of connections.
    package var callsAtOnce = 64
    /// The most searches that wait for a call: 256.
    package var waiting = 256
    /// How long each waits: 100 ms. A longer wait would only make the queue longer.
    package var queueTimeout = Duration.milliseconds(100)
    /// The wait before a second attempt, in milliseconds: 20 to 50, random each time.
    package var retryWait = 20...50
    package var breaker = CircuitBreaker.Settings()

    package init() {}

    /// Settings for a search that may take this long. It waits for a call for a twentieth of it.
    package init(deadline: Duration) {
      self.deadline = deadline
      queueTimeout = deadline / 20
    }
  }

  /// The upstream's name in metrics and logs.
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

  /// - Parameter base: the upstream's client.
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
      limit: settings.callsAtOnce, waitingLimit: settings.waiting, timeout: settings.queueTimeout)
    state = Mutex(State(breaker: CircuitBreaker(settings.breaker)))
  }

  package var breakerState: CircuitBreaker.State { state.withLock { $0.breaker.state } }

  /// Whether the upstream was unavailable until a short while ago.
  package var isRecovering: Bool { state.withLock { $0.breaker.isRecovering(at: now()) } }

  /// Finds hotels.
  /// - Throws: what the upstream throws; `unavailable` while the breaker is open or no call becomes free in time;
  ///   `timeout` at the deadline.
  package func search(_ query: HotelQuery) async throws(SearchError) -> HotelPage {
    if let page = base.answerWithoutAsking(query) { return page }
    return try await guardCall { [base] () throws(SearchError) in try await base.search(query) }
  }

  /// One hotel by its id; see ``search(_:)``. Returns nil without a call when the upstream can't look up by id.
  package func hotel(_ id: HotelID) async throws(SearchError) -> Hotel? {
    guard base.looksUpIDs else { return nil }
    return try await guardCall { [base] () throws(SearchError) in try await base.hotel(id) }
  }

  /// Checks whether the upstream is ready. While the breaker is open, it fails without a call, until the breaker
  /// would allow a probe: a server without searches must notice a recovered upstream too. The breaker does not
  /// count the outcome, because an upstream that answers this request may still fail to answer searches.
  package func checkReady() async throws(SearchError) {
    let isOpen = state.withLock { !$0.breaker.wouldAdmit(at: now()) }
    guard !isOpen else { throw .breakerOpen }
    try await base.checkReady()
  }

  private func guardCall<Value: Sendable>(
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
        try await self.run(admission, progress, call)
      }
    } catch {
      switch progress.owed.withLock({ $0 }) {
      case .nothing: break
      // Without this report, a probe that was admitted and never sent would leave the breaker half open for ever.
      case .unasked: settle(.abandoned, of: admission)
      // A call that reached a time limit counts as the upstream's failure. A call whose caller left does not.
      case .outcome:
        settle(Task.isCancelled && !Deadline.hasPassed ? .abandoned : .failure, of: admission)
      }
      throw error
    }
  }

  private func run<Value: Sendable>(
    _ admission: CircuitBreaker.Admission, _ progress: CallProgress,
    _ call: @escaping @Sendable () async throws(SearchError) -> Value
  ) async throws(SearchError) -> Value {
    guard await bulkhead.acquire() else {
      meter.count(.crowded)
      throw .crowded
    }
    defer { bulkhead.release() }
    do throws(SearchError) {
      return try await attempt(admission, progress, call)
    } catch {
      guard error.mayRetry, admission != .probe, !Task.isCancelled,
        state.withLock({ $0.breaker.state == .closed && $0.budget.withdraw() })
      else { throw error }
      let pause = Duration.milliseconds(Int.random(in: settings.retryWait))
      await Work.waiting { try? await Task.sleep(for: pause) }
      guard !Task.isCancelled else { throw error }
      meter.count(.retried)
      logger.info("Upstream call repeated", metadata: [UpstreamLogKey.upstream.rawValue: "\(name)"])
      return try await attempt(admission, progress, call)
    }
  }

  private func attempt<Value: Sendable>(
    _ admission: CircuitBreaker.Admission, _ progress: CallProgress,
    _ call: @Sendable () async throws(SearchError) -> Value
  ) async throws(SearchError) -> Value {
    progress.owed.withLock { $0 = .outcome }
    do throws(SearchError) {
      let value = try await call()
      progress.owed.withLock { $0 = .nothing }
      state.withLock { $0.budget.deposit() }
      settle(.success, of: admission)
      return value
    } catch {
      // Only the caller knows whether the cancellation came from a time limit.
      guard !Task.isCancelled else { throw error }
      progress.owed.withLock { $0 = .nothing }
      settle(.failure, of: admission)
      throw error
    }
  }

  private func settle(_ outcome: CircuitBreaker.Outcome, of admission: CircuitBreaker.Admission) {
    let change = state.withLock { state in
      state.breaker.record(outcome, of: admission, at: now(), jitter: Double.random(in: 0...1))
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
  /// The upstream was not asked, because no call became free in time.
  static let crowded = SearchError(
    .unavailable, "Hotel search is busy right now.", detail: "no free call in time")
}

/// What an admitted call must still report to its circuit breaker. It ensures that each attempt is reported exactly
/// once, however the call ends.
final class CallProgress: Sendable {
  /// What must still be reported.
  enum Owed: Sendable {
    /// That the upstream was not asked.
    case unasked
    /// The outcome of an attempt that has started.
    case outcome
    case nothing
  }

  /// What must still be reported now.
  let owed = Mutex(Owed.unasked)
}

/// Counts decisions about calls to one upstream.
///
/// - `upstream_guard_total`, by `upstream` and `decision`: `refused` searches, because the breaker was open;
///   `crowded` searches, because no call became free in time; `retried` calls.
/// - `upstream_breaker_changes_total`, by `upstream` and `state`: the new states of the breaker.
/// - `upstream_breaker_open`, by `upstream`: 1 while the breaker is not closed.
struct ResilienceMeter: Sendable {
  enum Decision: String, CaseIterable {
    case refused, crowded, retried
  }

  private let decisions: CounterTable<Decision>
  private let changes: CounterTable<CircuitBreaker.State>
  private let isOpen: Gauge

  init(upstream name: String) {
    let upstream = ("upstream", name)
    decisions = CounterTable(
      "upstream_guard_total", by: "decision", of: Decision.allCases, upstream)
    changes = CounterTable(
      "upstream_breaker_changes_total", by: "state", of: [.open, .closed], upstream)
    isOpen = Gauge(label: "upstream_breaker_open", dimensions: [upstream])
    isOpen.record(0)
  }

  func count(_ decision: Decision) { decisions.count(decision) }

  func note(_ state: CircuitBreaker.State) {
    changes.count(state)
    isOpen.record(state == .closed ? 0 : 1)
  }
}

/// Limits second attempts: a token bucket that successful calls fill, so that a failing upstream does not get extra
/// calls. A value.
///
/// Source: Google, "Site Reliability Engineering", chapter 22, "Retry budgets".
package struct RetryBudget: Sendable {
  /// The deposit of a successful call: at most a tenth of the calls are second attempts.
  package static let deposit = 0.1
  /// The capacity: one second attempt. Savings from a period without failures must not be spent at once when an
  /// outage begins.
  package static let capacity = 1.0

  private var tokens = RetryBudget.capacity

  /// Makes a full bucket.
  package init() {}

  /// Records a successful call.
  package mutating func deposit() { tokens = min(tokens + Self.deposit, Self.capacity) }

  /// Takes a token for a second attempt.
  /// - Returns: false when there is none.
  package mutating func withdraw() -> Bool {
    // Ten deposits of 0.1 do not add up to exactly 1.
    guard tokens >= 1 - 1e-9 else { return false }
    tokens = max(0, tokens - 1)
    return true
  }
}
