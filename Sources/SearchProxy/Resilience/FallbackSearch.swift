package import Hotels

/// Several upstreams in the order in which they are asked. The next one is asked when those before it can't answer,
/// because their circuit breaker is open or their call has failed.
package struct FallbackSearch: HotelSearching {
  private let upstreams: [any HotelSearching]
  private let deadline: Duration

  /// - Parameter upstreams: at least one, the preferred one first.
  /// - Parameter deadline: the time limit for all of them together; 2 s, as for a single one.
  package init(_ upstreams: [any HotelSearching], deadline: Duration = .seconds(2)) {
    self.upstreams = upstreams
    self.deadline = deadline
  }

  /// The orders that all upstreams support, because any of them may have to answer.
  package var orders: Set<HotelQuery.Order> {
    upstreams.reduce(Set(HotelQuery.Order.allCases)) { $0.intersection($1.orders) }
  }

  /// The answer of the first upstream that can give one.
  /// - Throws: the last upstream's error when none answers; `timeout` at the deadline.
  package func search(_ query: HotelQuery) async throws(SearchError) -> HotelPage {
    try await first { upstream throws(SearchError) in try await upstream.search(query) }
  }

  /// The hotel from the first upstream that has it; nil when all say that they have none or can't look up by id.
  /// - Throws: the error of the last upstream that failed, when no other has the hotel.
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

  /// The places of the first upstream that lists any.
  package func places(beginning prefix: String, limit: Int) async throws(SearchError) -> PlacePage {
    for upstream in upstreams {
      let page = try await upstream.places(beginning: prefix, limit: limit)
      if !page.places.isEmpty { return PlacePage(places: page.places, orders: orders) }
    }
    return PlacePage(places: [], orders: orders)
  }

  /// Succeeds when any upstream is ready.
  package func checkReady() async throws(SearchError) {
    try await first { upstream throws(SearchError) in try await upstream.checkReady() }
  }

  /// Asks one upstream after another. Each gets an equal share of the remaining time, so that a slow one leaves
  /// time for those after it.
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
        // "No such hotel" is the result only if no upstream has failed.
        if failure == nil || error != .absent { failure = error }
      }
      if Task.isCancelled { break }
    }
    throw failure ?? SearchError(.unavailable, "Hotel search can't be reached right now.")
  }
}

extension SearchError {
  /// An upstream has no such hotel. This error is only used in this file.
  fileprivate static let absent = SearchError(.badAnswer, "", detail: "no such hotel")
}
