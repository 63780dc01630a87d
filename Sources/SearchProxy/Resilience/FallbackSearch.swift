package import Hotels
import Synchronization

/// Several upstreams in the order in which they are to be asked: the next one answers when those before it
/// can't, because their breakers are open or their call has just failed.
package struct FallbackSearch: HotelSearching {
  private let upstreams: [any HotelSearching]
  private let deadline: Duration

  /// - Parameter upstreams: at least one, the preferred one first.
  /// - Parameter deadline: for all of them together, 2 s as for one.
  package init(_ upstreams: [any HotelSearching], deadline: Duration = .seconds(2)) {
    self.upstreams = upstreams
    self.deadline = deadline
  }

  /// What all of them can do, as any of them may have to.
  package var orders: Set<HotelQuery.Order> {
    upstreams.reduce(Set(HotelQuery.Order.allCases)) { $0.intersection($1.orders) }
  }

  /// The first answer.
  /// - Throws: what the last upstream threw when none answers; `timeout` at the deadline.
  package func search(_ query: HotelQuery) async throws(SearchError) -> HotelPage {
    try await first { upstream throws(SearchError) in try await upstream.search(query) }
  }

  /// The hotel as the first upstream that has it knows it; nil when all say that they have none, or can't be
  /// asked by id.
  /// - Throws: what the last upstream threw that could not say, where no other has the hotel.
  package func hotel(_ id: HotelID) async throws(SearchError) -> Hotel? {
    do throws(SearchError) {
      return try await first { upstream throws(SearchError) in
        guard let hotel = try await upstream.hotel(id) else { throw .absent }
        return hotel
      }
    } catch {
      guard error == .absent else { throw error }
      return nil
    }
  }

  /// Ready when any is.
  package func checkReady() async throws(SearchError) {
    try await first { upstream throws(SearchError) in try await upstream.checkReady() }
  }

  /// Asks one after the other. Each has a fair share of the time that is left, so that one which hangs or
  /// drips leaves time to ask those behind it.
  private func first<Value: Sendable>(
    _ ask: @escaping @Sendable (any HotelSearching) async throws(SearchError) -> Value
  ) async throws(SearchError) -> Value {
    let end = ContinuousClock.now + deadline
    var failure: SearchError?
    for (number, upstream) in upstreams.enumerated() {
      let share = (end - .now) / (upstreams.count - number)
      guard share > .zero else { throw failure ?? .timeout("no time is left") }
      do throws(SearchError) {
        return try await Deadline.within(share) { () throws(SearchError) in try await ask(upstream)
        }
      } catch {
        // That one has no such hotel is the answer only if none has failed.
        if failure == nil || error != .absent { failure = error }
      }
      if Task.isCancelled { break }
    }
    throw failure ?? SearchError(.unavailable, "Hotel search can't be reached right now.")
  }
}

extension SearchError {
  /// An upstream has no such hotel; never leaves this file.
  fileprivate static let absent = SearchError(.badAnswer, "", detail: "no such hotel")
}

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
