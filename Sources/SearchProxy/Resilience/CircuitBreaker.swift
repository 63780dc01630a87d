import Lanes

/// Whether an upstream may be asked: a pure state machine, told of every call and of the time.
///
/// It is closed while calls succeed; opens when too many of the last seconds' failed, or the last ones in a
/// row; lets one call through after a pause, the probe; and closes when that one succeeds. The pause grows
/// while probes fail, never beyond ``Settings/longestPause``, so that a recovered upstream is noticed soon.
///
/// Source: Nygard, "Release It!", chapter 5, "Circuit Breaker".
package struct CircuitBreaker: Sendable {
  /// When it opens and for how long.
  package struct Settings: Sendable {
    /// How far back calls count: 10 s.
    package var window = Duration.seconds(10)
    /// Fewer calls than these within the window say nothing about their ratio: 20.
    package var minimumCalls = 20
    /// The share of failed calls that opens it: a half.
    package var failureRatio = 0.5
    /// So many failures in a row open it, however few the calls are: 8.
    package var failuresInARow = 8
    /// The pause before the first probe: 1 s.
    package var shortestPause = Duration.seconds(1)
    /// The longest pause between two probes, jitter included: 4 s.
    package var longestPause = Duration.seconds(4)
    /// How long after closing it counts as recovering: 10 s.
    package var recovery = Duration.seconds(10)

    /// The defaults.
    package init() {}
  }

  /// What a caller may do.
  package enum Admission: Sendable, Equatable {
    /// Ask. `spell` counts how often the breaker had opened before: what a call from before comes to says
    /// nothing of the time after.
    case call(spell: Int)
    /// Ask; all depends on the outcome, so once only.
    case probe
    /// Don't; a probe is let through after this time.
    case refused(Duration)
  }

  /// What a call came to.
  package enum Outcome: Sendable {
    /// The upstream answered.
    case success
    /// It did not, or not well.
    case failure
    /// Nobody can tell: the caller left.
    case abandoned
  }

  /// What it does now.
  package enum State: String, Sendable {
    /// Lets all calls through.
    case closed
    /// Lets none through.
    case open
    /// Waits for a probe's outcome.
    case halfOpen = "half-open"
  }

  private enum Phase: Sendable {
    case closed
    case open(until: ContinuousClock.Instant)
    case probing
  }

  private let settings: Settings
  private var phase = Phase.closed
  private var calls: SlidingCounts
  private var inARow = 0
  private var pause: Duration
  private var closedAt: ContinuousClock.Instant?
  private var spell = 0

  /// A closed breaker.
  package init(_ settings: Settings = Settings()) {
    self.settings = settings
    calls = SlidingCounts(window: settings.window)
    pause = settings.shortestPause
  }

  /// What it does at a moment.
  package var state: State {
    switch phase {
    case .closed: .closed
    case .open: .open
    case .probing: .halfOpen
    }
  }

  /// Whether it was closed again a short while ago: the time to ask a recovered upstream gently.
  package func isRecovering(at now: ContinuousClock.Instant) -> Bool {
    guard case .closed = phase, let closedAt else { return false }
    return now - closedAt < settings.recovery
  }

  /// Whether a call would be let through, the probe included.
  package func wouldAdmit(at now: ContinuousClock.Instant) -> Bool {
    switch phase {
    case .closed: true
    case .probing: false
    case .open(let until): now >= until
    }
  }

  /// Asks to call. Whoever is admitted tells the outcome by ``record(_:of:at:jitter:)``.
  package mutating func admit(at now: ContinuousClock.Instant) -> Admission {
    switch phase {
    case .closed: return .call(spell: spell)
    case .probing: return .refused(settings.shortestPause)
    case .open(let until):
      guard now >= until else { return .refused(until - now) }
      phase = .probing
      return .probe
    }
  }

  /// Takes note of an outcome.
  /// - Parameter jitter: 0 to 1, drawn by the caller; spreads probes of many servers.
  /// - Returns: the state it changed to; nil when it stayed as it was.
  package mutating func record(
    _ outcome: Outcome, of admission: Admission, at now: ContinuousClock.Instant, jitter: Double
  ) -> State? {
    switch (phase, admission, outcome) {
    case (_, .refused, _): return nil
    case (.probing, .probe, .success):
      phase = .closed
      calls = SlidingCounts(window: settings.window)
      (inARow, pause, closedAt) = (0, settings.shortestPause, now)
      return .closed
    case (.probing, .probe, _):
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
    case (.closed, _, _), (.open, _, _), (.probing, .call, _):
      // Nobody can tell, or a call from before it opened: too late to count.
      return nil
    }
  }

  private mutating func isTooMany(at now: ContinuousClock.Instant) -> Bool {
    if inARow >= settings.failuresInARow { return true }
    let (all, failed) = calls.totals(at: now)
    return all >= settings.minimumCalls
      && Double(failed) > Double(all) * settings.failureRatio
  }

  private mutating func open(at now: ContinuousClock.Instant, jitter: Double) {
    spell &+= 1
    // Between half of the pause and all of it, so that the longest pause holds.
    phase = .open(until: now + pause * (0.5 + 0.5 * min(max(jitter, 0), 1)))
  }
}

/// Calls and failures of the last seconds, in ten slices of the window.
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

  /// No calls.
  init(window: Duration) { sliceLength = window / Int(Self.sliceCount) }

  /// Adds a call.
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
