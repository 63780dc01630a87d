package import Documents
import Synchronization

/// What the server did in the last hour: a sample for each ten seconds. The oldest is removed when there are too many.
/// It is a value without a clock.
package struct ServerHistory: Sendable {
  /// The time between samples, in seconds.
  package static let sampleSeconds = 10
  /// How many samples are kept: those of an hour.
  package static let maximumSamples = 360

  /// The counts since the start, and the present values.
  package struct Totals: Sendable, Equatable {
    /// Commits to stores.
    package var commits = 0
    /// Answers below 400.
    package var successes = 0
    /// Answers from 400 to 499.
    package var clientErrors = 0
    /// Answers from 500.
    package var serverErrors = 0
    /// Answers that report an exceeded limit, and connections and requests that were refused because of overload.
    package var limited = 0
    /// Processor time, in milliseconds.
    package var processorMilliseconds = 0
    /// Feeds that are open.
    package var feeds = 0
    /// Connections that are open.
    package var connections = 0
    /// Bytes of memory in use.
    package var memoryBytes = 0

    /// Makes totals of zero.
    package init() {}
  }

  /// The counts of one interval, and the values at its end.
  package struct Sample: Sendable, Equatable {
    /// When it was taken.
    package let at: Timestamp
    /// Counts since the previous sample; feeds, connections and memory at its end.
    package let counts: Totals
  }

  /// The samples, the oldest first.
  package private(set) var samples: [Sample] = []
  private var last: Totals?

  /// Adds the next sample. The first call only sets the starting point.
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

  /// The totals that grow from the start on. The others are present values.
  private static let grown: [any WritableKeyPath<Totals, Int> & Sendable] = [
    \.commits, \.successes, \.clientErrors, \.serverErrors, \.limited, \.processorMilliseconds,
  ]
}

/// Keeps the server's history, and takes a sample when one is due.
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
  /// - Parameter uptime: a clock that nobody sets.
  /// - Parameter now: the time of the sample.
  /// - Parameter totals: called only when a sample is due.
  package func sampleIfDue(
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

  /// The statuses that report an exceeded limit: content too large, too many requests, header fields too large, and
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

  /// Adds the counts to a history's totals.
  package func add(to totals: inout ServerHistory.Totals) {
    totals.successes = successes.load(ordering: .relaxed)
    totals.clientErrors = clientErrors.load(ordering: .relaxed)
    totals.serverErrors = serverErrors.load(ordering: .relaxed)
    totals.limited += limited.load(ordering: .relaxed)
  }
}
