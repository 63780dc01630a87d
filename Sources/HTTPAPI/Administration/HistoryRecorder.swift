package import Documents
import Synchronization

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
