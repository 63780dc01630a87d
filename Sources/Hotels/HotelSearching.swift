/// The port that finds hotels, for example in the embedded catalogue or in an upstream over HTTP.
package protocol HotelSearching: Sendable {
  /// The orders that the implementation supports.
  var orders: Set<HotelQuery.Order> { get }

  /// Finds hotels, best match first. No match is an empty page. A failure throws and never returns an empty page.
  func search(_ query: HotelQuery) async throws(SearchError) -> HotelPage

  /// One hotel by its id; nil when the upstream has none, or can't look up by id.
  func hotel(_ id: HotelID) async throws(SearchError) -> Hotel?

  /// One hotel that a recent search returned, without a request to the upstream; nil when no search returned it.
  func shown(_ id: HotelID) async -> Hotel?

  /// The places of the hotels with a name that begins so, and the orders in which these hotels can be sorted.
  /// - Parameter limit: the most places, 1 to ``PlacePage/maximumLimit``.
  func places(beginning prefix: String, limit: Int) async throws(SearchError) -> PlacePage

  /// Throws when searches would fail now. Used for the readiness check.
  func checkReady() async throws(SearchError)
}

extension HotelSearching {
  /// `relevance` only.
  package var orders: Set<HotelQuery.Order> { [.relevance] }
  package func shown(_ id: HotelID) async -> Hotel? { nil }
  /// No places: an upstream over a network does not list them.
  package func places(beginning prefix: String, limit: Int) async throws(SearchError) -> PlacePage {
    PlacePage(places: [], orders: orders)
  }
}

/// The port that finds hotels among a person's own bookmarks by the same rules, when no upstream answers.
package protocol MirrorSearching: Sendable {
  /// The time limit of one search.
  var limit: Duration { get }
  /// Finds matching hotels among the given ones, best match first.
  /// - Parameter hotels: at most as many as a store holds. Two ids are equal when their bytes are equal.
  func search(_ query: HotelQuery, among hotels: [Hotel]) async throws(SearchError) -> HotelPage
}

/// Why a search has no answer. A client may see the reason.
package struct SearchError: Error, Sendable, Equatable, CustomDebugStringConvertible {
  /// What went wrong. A closed set, so that each adapter maps every case.
  package enum Code: String, Sendable, CaseIterable {
    /// The upstream can't be reached, or says that it can't answer now (503).
    case unavailable
    /// The upstream did not answer in time (504).
    case timeout
    /// The upstream's answer can't be parsed, or the upstream refused the request (502).
    case badAnswer
  }

  /// What went wrong.
  package let code: Code
  /// A sentence for the client.
  package let reason: String
  /// Details for an operator. Never shown to a client.
  package let detail: String
  /// Whether an immediate second attempt may succeed.
  package let mayRetry: Bool

  /// Makes an error.
  package init(_ code: Code, _ reason: String, detail: String = "", mayRetry: Bool = false) {
    self.code = code
    self.reason = reason
    self.detail = detail
    self.mayRetry = mayRetry
  }

  package var debugDescription: String { "SearchError(\(code.rawValue): \(reason) \(detail))" }
}
