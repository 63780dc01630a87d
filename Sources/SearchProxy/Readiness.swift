package import Hotels
import Synchronization

/// The last word on whether an upstream can be reached, kept for a while so that probes of
/// readiness, however many, make one call.
final class Readiness: Sendable {
  /// How long a word stands.
  static let validity = Duration.seconds(5)

  private struct Check {
    let started: ContinuousClock.Instant
    let outcome: Task<SearchError?, Never>
  }

  private let probe: @Sendable () async -> SearchError?
  private let now: @Sendable () -> ContinuousClock.Instant
  private let last = Mutex<Check?>(nil)

  /// Keeps what `probe` says: nil when all is well. A probe must end by itself.
  init(
    now: @escaping @Sendable () -> ContinuousClock.Instant,
    probe: @escaping @Sendable () async -> SearchError?
  ) {
    self.now = now
    self.probe = probe
  }

  /// Asks, or joins those who asked within ``validity``.
  func check() async throws(SearchError) {
    let task = last.withLock { last in
      let time = now()
      if let last, time - last.started < Self.validity { return last.outcome }
      // Its own task, because one caller who leaves must not take the answer from the others.
      let task = Task { [probe] in await probe() }
      last = Check(started: time, outcome: task)
      return task
    }
    if let error = await task.value { throw error }
  }
}

/// An upstream that is asked over a network, and says what it need not be asked: such an answer tells nothing
/// of whether anybody is there, so a circuit breaker must not hear of it.
package protocol RemoteUpstream: HotelSearching {
  /// Whether it can be asked for a hotel by its id; if not, ``HotelSearching/hotel(_:)`` is nil always.
  var looksUpIDs: Bool { get }

  /// The answer to a search that nothing can match; nil for one that has to be asked.
  func answerWithoutAsking(_ query: HotelQuery) -> HotelPage?
}

extension RemoteUpstream {
  /// It can.
  package var looksUpIDs: Bool { true }

  /// It has to be asked everything.
  package func answerWithoutAsking(_ query: HotelQuery) -> HotelPage? { nil }
}
