package import Documents
import Synchronization

/// What the server did in the last hour: a sample for each ten seconds, the oldest of which goes when there are too
/// many. A value without a clock.
package struct ServerHistory: Sendable {
  /// How far apart samples are, in seconds.
  package static let sampleSeconds = 10
  /// Samples that are kept: an hour's.
  package static let maximumSamples = 360

  /// What was counted since the start, and what is there now.
  package struct Totals: Sendable, Equatable {
    /// Commits to stores.
    package var commits = 0
    /// Answers below 400.
    package var successes = 0
    /// Answers from 400 to 499.
    package var clientErrors = 0
    /// Answers from 500.
    package var serverErrors = 0
    /// Answers that say that a limit was met, and connections and requests that were refused for want of room.
    package var limited = 0
    /// Processor time, in milliseconds.
    package var processorMilliseconds = 0
    /// Feeds that are open now.
    package var feeds = 0
    /// Connections that are open now.
    package var connections = 0
    /// Bytes of memory that are in use now.
    package var memoryBytes = 0

    /// Nothing yet.
    package init() {}
  }

  /// What happened since the sample before, and what was there at its end.
  package struct Sample: Sendable, Equatable {
    /// When it was taken.
    package let at: Timestamp
    /// Counts since the sample before; feeds, connections and memory as they were.
    package let counts: Totals
  }

  /// The samples, the oldest first.
  package private(set) var samples: [Sample] = []
  private var last: Totals?

  /// No samples.
  package init() {}

  /// Takes the next sample. The first call only begins to count.
  package mutating func take(_ totals: Totals, at now: Timestamp) {
    defer { last = totals }
    guard let last else { return }
    var counts = totals
    for count in Self.grown {
      counts[keyPath: count] = totals[keyPath: count] - last[keyPath: count]
    }
    if samples.count >= Self.maximumSamples { samples.removeFirst() }
    samples.append(Sample(at: now, counts: counts))
  }

  /// What grows from the start on; the other totals are what they are at a moment.
  private static let grown: [any WritableKeyPath<Totals, Int> & Sendable] = [
    \.commits, \.successes, \.clientErrors, \.serverErrors, \.limited, \.processorMilliseconds,
  ]
}

/// Keeps the server's history, and takes a sample whenever it is time to.
package final class HistoryRecorder: Sendable {
  private struct State {
    var history = ServerHistory()
    var taken: ContinuousClock.Instant?
  }

  private let state = Mutex(State())

  /// A recorder without samples.
  package init() {}

  /// The samples, the oldest first.
  package var samples: [ServerHistory.Sample] { state.withLock { $0.history.samples } }

  /// Takes a sample if the last one is old enough.
  /// - Parameter uptime: the clock that nobody sets.
  /// - Parameter now: the time that the sample bears.
  /// - Parameter totals: asked only when a sample is due.
  package func look(
    at uptime: ContinuousClock.Instant, _ now: Timestamp, _ totals: () -> ServerHistory.Totals
  ) {
    let isDue = state.withLock { state in
      if let taken = state.taken, uptime - taken < .seconds(ServerHistory.sampleSeconds) {
        return false
      }
      state.taken = uptime
      return true
    }
    guard isDue else { return }
    let totals = totals()
    state.withLock { $0.history.take(totals, at: now) }
  }
}

/// Counts answers by class of status.
package final class AnswerCounts: Sendable {
  private let successes = Atomic(0)
  private let clientErrors = Atomic(0)
  private let serverErrors = Atomic(0)
  private let limited = Atomic(0)

  /// Nothing yet.
  package init() {}

  /// Statuses that say that a limit was met: content too large, too many requests, header fields too large, and
  /// insufficient storage.
  private static let limits: Set<Int> = [413, 429, 431, 507]

  /// Counts an answer.
  func count(_ status: Int) {
    switch status {
    case ..<400: successes.wrappingAdd(1, ordering: .relaxed)
    case 400..<500: clientErrors.wrappingAdd(1, ordering: .relaxed)
    default: serverErrors.wrappingAdd(1, ordering: .relaxed)
    }
    if status >= 400, Self.limits.contains(status) { limited.wrappingAdd(1, ordering: .relaxed) }
  }

  /// Puts the counts among a history's totals.
  package func add(to totals: inout ServerHistory.Totals) {
    totals.successes = successes.load(ordering: .relaxed)
    totals.clientErrors = clientErrors.load(ordering: .relaxed)
    totals.serverErrors = serverErrors.load(ordering: .relaxed)
    totals.limited += limited.load(ordering: .relaxed)
  }
}
