package import Hotels
import Synchronization

/// An upstream that is asked over a network. It also says what it need not be asked. Such answers do not show that
/// the upstream is reachable, so a circuit breaker must not count them.
package protocol RemoteUpstream: HotelSearching {
  /// Whether it can look up a hotel by id; if not, ``HotelSearching/hotel(_:)`` always returns nil.
  var looksUpIDs: Bool { get }

  /// The answer to a search that can't match anything; nil for a search that must be sent.
  func answerWithoutAsking(_ query: HotelQuery) -> HotelPage?
}

extension RemoteUpstream {
  /// True by default.
  package var looksUpIDs: Bool { true }

  /// Nil by default: every search must be sent.
  package func answerWithoutAsking(_ query: HotelQuery) -> HotelPage? { nil }
}

/// The last result of a readiness check, cached for a while so that any number of readiness probes causes one call.
final class Readiness: Sendable {
  /// How long a result is cached.
  static let validity = Duration.seconds(5)

  private struct Check {
    let started: ContinuousClock.Instant
    let outcome: Task<SearchError?, Never>
  }

  private let probe: @Sendable () async -> SearchError?
  private let now: @Sendable () -> ContinuousClock.Instant
  private let last = Mutex<Check?>(nil)

  /// Makes a cache for the results of `probe`, which returns nil on success and must have a time limit of its own.
  init(
    now: @escaping @Sendable () -> ContinuousClock.Instant,
    probe: @escaping @Sendable () async -> SearchError?
  ) {
    self.now = now
    self.probe = probe
  }

  /// Checks the readiness, or joins a check that started within ``validity``.
  func check() async throws(SearchError) {
    let task = last.withLock { last in
      let time = now()
      if let last, time - last.started < Self.validity { return last.outcome }
      // The check has its own task, so that a caller that leaves does not cancel it for the others.
      let task = Task.detached { [probe] in await probe() }
      last = Check(started: time, outcome: task)
      return task
    }
    if let error = await task.value { throw error }
  }
}
