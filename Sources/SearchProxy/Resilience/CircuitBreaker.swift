/// Decides whether an upstream may be asked: a pure state machine that receives the outcome of every call and the
/// time.
///
/// It is closed while calls succeed. It opens when too many calls of the last seconds have failed, or too many in a
/// row. After a pause it lets one call through, the probe, and closes when the probe succeeds. The pause doubles
/// with each failed probe, up to ``Settings/longestPause``, so that the breaker soon notices when the upstream has
/// recovered.
///
/// Source: Nygard, "Release It!", chapter 5, "Circuit Breaker".
package struct CircuitBreaker: Sendable {
  /// When the breaker opens and for how long.
  package struct Settings: Sendable {
    /// How long calls are counted: 10 s.
    package var window = Duration.seconds(10)
    /// The failure ratio counts only from this number of calls in the window: 20.
    package var minimumCalls = 20
    /// The breaker opens when more than this share of the calls has failed: one half.
    package var failureRatio = 0.5
    /// The breaker also opens after this many failures in a row, however few calls there are: 8.
    package var failuresInARow = 8
    /// The pause before the first probe: 1 s.
    package var shortestPause = Duration.seconds(1)
    /// The longest pause between two probes, jitter included: 4 s.
    package var longestPause = Duration.seconds(4)
    /// How long after closing the upstream counts as recovering: 10 s.
    package var recovery = Duration.seconds(10)
  }

  /// What a caller may do.
  package enum Admission: Sendable, Equatable {
    /// Make the call. `spell` counts how often the breaker has opened. The outcome of a call from before the
    /// breaker opened is ignored.
    case call(spell: Int)
    /// Make the call as a probe, without a second attempt: its outcome decides about the state.
    case probe
    /// Don't call. A probe is allowed after this time.
    case refused(Duration)
  }

  package enum Outcome: Sendable {
    /// The upstream answered.
    case success
    /// The upstream did not answer, or its answer can't be used.
    case failure
    /// Unknown: the caller left.
    case abandoned
  }

  package enum State: String, Sendable {
    /// All calls are allowed.
    case closed
    /// No call is allowed.
    case open
    /// The breaker waits for a probe's outcome.
    case halfOpen = "half-open"
  }

  package private(set) var state = State.closed

  private let settings: Settings
  /// When the first probe is allowed, while the breaker is open.
  private var openUntil = ContinuousClock.now
  private var calls: SlidingCounts
  private var inARow = 0
  private var pause: Duration
  private var closedAt: ContinuousClock.Instant?
  private var spell = 0

  /// Makes a closed breaker.
  package init(_ settings: Settings = Settings()) {
    self.settings = settings
    calls = SlidingCounts(window: settings.window)
    pause = settings.shortestPause
  }

  /// Whether the breaker has closed a short while ago. A recovered upstream should then get few requests.
  package func isRecovering(at now: ContinuousClock.Instant) -> Bool {
    guard state == .closed, let closedAt else { return false }
    return now - closedAt < settings.recovery
  }

  /// Whether a call would be allowed, be it as a probe.
  package func wouldAdmit(at now: ContinuousClock.Instant) -> Bool {
    state == .closed || state == .open && now >= openUntil
  }

  /// Asks for permission to call. A caller that is admitted must report the outcome by ``record(_:of:at:jitter:)``.
  package mutating func admit(at now: ContinuousClock.Instant) -> Admission {
    switch state {
    case .closed: return .call(spell: spell)
    case .halfOpen: return .refused(settings.shortestPause)
    case .open:
      guard now >= openUntil else { return .refused(openUntil - now) }
      state = .halfOpen
      return .probe
    }
  }

  /// Records an outcome.
  /// - Parameter jitter: 0 to 1, a random number from the caller. It spreads the probes of many servers.
  /// - Returns: the new state; nil when it has not changed.
  package mutating func record(
    _ outcome: Outcome, of admission: Admission, at now: ContinuousClock.Instant, jitter: Double
  ) -> State? {
    switch (state, admission, outcome) {
    case (_, .refused, _): return nil
    case (.halfOpen, .probe, .success):
      state = .closed
      calls = SlidingCounts(window: settings.window)
      (inARow, pause, closedAt) = (0, settings.shortestPause, now)
      return .closed
    case (.halfOpen, .probe, _):
      if case .failure = outcome { pause = min(pause * 2, settings.longestPause) }
      open(at: now, jitter: jitter)
      return .open
    case (.closed, .call(let spell), .success), (.closed, .call(let spell), .failure):
      guard spell == self.spell else { return nil }
      if case .failure = outcome { inARow += 1 } else { inARow = 0 }
      calls.add(failed: inARow > 0, at: now)
      guard isTooMany(at: now) else { return nil }
      pause = settings.shortestPause
      open(at: now, jitter: jitter)
      return .open
    case (.closed, _, _), (.open, _, _), (.halfOpen, .call, _):
      // The outcome is unknown, or the call is from before the breaker opened.
      return nil
    }
  }

  private mutating func isTooMany(at now: ContinuousClock.Instant) -> Bool {
    if inARow >= settings.failuresInARow { return true }
    let (all, failed) = calls.totals(at: now)
    return all >= settings.minimumCalls && Double(failed) > Double(all) * settings.failureRatio
  }

  private mutating func open(at now: ContinuousClock.Instant, jitter: Double) {
    spell &+= 1
    // Half of the pause to all of it, so that the longest pause is never exceeded.
    (state, openUntil) = (.open, now + pause * (0.5 + 0.5 * min(max(jitter, 0), 1)))
  }
}

/// The numbers of calls and failures of the last seconds, in ten slices of the window.
struct SlidingCounts: Sendable {
  private struct Slice: Sendable {
    var number: Int64
    var all = 0
    var failed = 0
  }

  private static let sliceCount: Int64 = 10
  private let sliceLength: Duration
  private var origin: ContinuousClock.Instant?
  private var slices: [Slice] = []

  init(window: Duration) { sliceLength = window / Int(Self.sliceCount) }

  mutating func add(failed: Bool, at now: ContinuousClock.Instant) {
    let number = slice(of: now)
    if slices.last?.number != number { slices.append(Slice(number: number)) }
    slices[slices.count - 1].all += 1
    if failed { slices[slices.count - 1].failed += 1 }
  }

  /// The calls within the window.
  mutating func totals(at now: ContinuousClock.Instant) -> (all: Int, failed: Int) {
    let oldest = slice(of: now) - Self.sliceCount + 1
    slices.removeAll { $0.number < oldest }
    return slices.reduce(into: (0, 0)) { sums, slice in
      sums.0 += slice.all
      sums.1 += slice.failed
    }
  }

  private mutating func slice(of now: ContinuousClock.Instant) -> Int64 {
    let origin = self.origin ?? now
    self.origin = origin
    return Int64((now - origin) / sliceLength)
  }
}
