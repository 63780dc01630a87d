/// The port that finds hotels: the embedded catalogue, an upstream over HTTP, a person's own mirror.
package protocol HotelSearching: Sendable {
  /// The orders in which it can answer.
  var orders: Set<HotelQuery.Order> { get }

  /// Finds hotels, best match first. Nothing found is an empty page; a failure is never one.
  func search(_ query: HotelQuery) async throws(SearchError) -> HotelPage

  /// One hotel by its id; nil when the upstream has none, or can't be asked by id.
  func hotel(_ id: HotelID) async throws(SearchError) -> Hotel?

  /// One hotel as a search has shown it lately, without asking anybody; nil for one that none has.
  func shown(_ id: HotelID) async -> Hotel?

  /// Whether searches would be answered now; for readiness.
  func checkReady() async throws(SearchError)
}

extension HotelSearching {
  /// As well as they match, and in no other.
  package var orders: Set<HotelQuery.Order> { [.relevance] }
  package func shown(_ id: HotelID) async -> Hotel? { nil }
}

/// The port that finds hotels among a person's own, by the same rules, when no upstream answers.
package protocol MirrorSearching: Sendable {
  /// Finds hotels among some, best match first.
  /// - Parameter hotels: at most as many as a store holds; ids differ by bytes.
  func search(_ query: HotelQuery, among hotels: [Hotel]) async throws(SearchError) -> HotelPage
}

/// Some of the hotels that match.
package struct HotelPage: Sendable {
  /// Where an answer came from.
  package enum Source: String, Sendable {
    /// The upstream answered just now.
    case upstream
    /// An earlier answer that is still fresh.
    case cache
    /// An earlier answer that is past its time, because the upstream does not answer.
    case stale
    /// The person's own bookmarked hotels.
    case mirror
  }

  /// The hotels, best match first.
  package let hotels: [Hotel]
  /// The offset of the next page; nil at the end.
  package let next: Int?
  /// How many hotels match on all pages together; nil where that is not known.
  package let total: Int?
  /// Where the answer came from.
  package let source: Source
  /// How old the answer is, in seconds; nil for one that was made just now.
  package let age: Int?
  /// What the cache did, as RFC 9211 puts it (`hit; ttl=42`); nil where none was asked.
  package let cacheNote: String?

  /// A page.
  package init(
    hotels: [Hotel], next: Int?, total: Int? = nil, source: Source = .upstream, age: Int? = nil,
    cacheNote: String? = nil
  ) {
    self.hotels = hotels
    self.next = next
    self.total = total
    self.source = source
    self.age = age
    self.cacheNote = cacheNote
  }
}

/// Why a search has no answer. The reason may be shown to a client.
package struct SearchError: Error, Sendable, Equatable, CustomDebugStringConvertible {
  /// What went wrong; closed, so that each adapter maps every case.
  package enum Code: String, Sendable, CaseIterable {
    /// The upstream can't be reached, or says that it can't answer now (503).
    case unavailable
    /// The upstream did not answer in time (504).
    case timeout
    /// The upstream answered what can't be understood, or refused the request (502).
    case badAnswer
  }

  /// What went wrong.
  package let code: Code
  /// A sentence for the client.
  package let reason: String
  /// What an operator needs. Never shown to a client.
  package let detail: String
  /// Whether the same call, made again at once, may well succeed.
  package let mayRetry: Bool

  /// An error with its words.
  package init(_ code: Code, _ reason: String, detail: String = "", mayRetry: Bool = false) {
    self.code = code
    self.reason = reason
    self.detail = detail
    self.mayRetry = mayRetry
  }

  package var debugDescription: String { "SearchError(\(code.rawValue): \(reason) \(detail))" }
}
