import Documents
package import Hotels
package import Logging
import Synchronization

/// The travel-sample back end as an upstream: both generations, and the ports to other languages.
///
/// It treats a text as a phrase, whatever ``HotelQuery/matching`` says, and can't look up by id (see
/// ``CachedSearch``). It returns at most 100 rows; pages are cut from them here.
package final class TravelSampleUpstream: RemoteUpstream {
  let client: UpstreamClient
  let baseURL: UpstreamURL
  let meter: UpstreamMeter
  private let name: String
  private let logger: Logger
  private let remembered = Mutex<TravelSampleGeneration?>(nil)
  private let readiness: Readiness

  /// Makes an upstream.
  /// - Parameters:
  ///   - client: sends the requests; the caller shuts it down.
  ///   - baseURL: the upstream's base URL.
  ///   - name: its name in metrics and logs.
  ///   - logger: gets a line for each failed search.
  ///   - now: the clock for the age of the cached readiness result.
  package init(
    client: UpstreamClient, baseURL: UpstreamURL, name: String = "travel-sample",
    logger: Logger = Logger(label: "hotel-bookmarks.upstream"),
    now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) {
    self.client = client
    self.baseURL = baseURL
    self.name = name
    self.logger = logger
    self.meter = UpstreamMeter(upstream: name)
    self.readiness = Readiness(now: now) {
      // The second generation answers it without a search, the first with 404. Both show that the upstream is running.
      await client.readiness(of: baseURL.url(of: TravelSampleGeneration.v2.path))
    }
  }

  package func search(_ query: HotelQuery) async throws(SearchError) -> HotelPage {
    if let page = answerWithoutAsking(query) { return page }
    let (description, location) = (SearchTerm(query.description), SearchTerm(query.location))
    let answer = try await meter.search(within: client.timeouts.total, logger) {
      () throws(SearchError) in try await self.ask(description, location)
    }
    note(skippedRows: answer.skippedRows)
    return Self.page(of: answer.hotels, for: query)
  }

  /// An empty page for a text that has no word which a path can contain (`.`, `..`, `*`). Such a text matches no
  /// hotel, so nothing is sent.
  package func answerWithoutAsking(_ query: HotelQuery) -> HotelPage? {
    let isNothing = [query.description, query.location].contains { SearchTerm($0).first == nil }
    return isNothing ? HotelPage(hotels: [], next: nil) : nil
  }

  /// False: this upstream can't look up by id.
  package var looksUpIDs: Bool { false }

  /// Nil: this upstream can't look up by id.
  package func hotel(_ id: HotelID) async throws(SearchError) -> Hotel? { nil }

  /// Whether the upstream answers HTTP at all, within ``UpstreamTimeouts/firstByte``. A status that means overload
  /// or a gateway without its server counts as not ready. The result is cached for 5 seconds.
  package func checkReady() async throws(SearchError) { try await readiness.check() }

  /// Asks one generation after the other until one knows the path, the one that answered last first.
  private func ask(
    _ description: SearchTerm, _ location: SearchTerm
  ) async throws(SearchError) -> TravelSampleAnswer {
    let isFirst = remembered.withLock { $0 } == .v1
    for generation in isFirst ? [TravelSampleGeneration.v1, .v2] : [.v2, .v1] {
      for path in Self.paths(description, location, generation) {
        guard let answer = try await answer(to: path) else { continue }
        remembered.withLock { $0 = generation }
        return answer
      }
    }
    throw .badAnswer("not found")
  }

  /// The paths of a search. The second one is for upstreams that decode `%2F` before they look for a route.
  private static func paths(
    _ description: SearchTerm, _ location: SearchTerm, _ generation: TravelSampleGeneration
  ) -> [String] {
    guard let first = description.first, let second = location.first else { return [] }
    let path = generation.path(description: first, location: second)
    guard description.second != nil || location.second != nil else { return [path] }
    return [
      path,
      generation.path(
        description: description.second ?? first, location: location.second ?? second),
    ]
  }

  private static func page(of hotels: [Hotel], for query: HotelQuery) -> HotelPage {
    let end = query.offset + query.limit
    return HotelPage(
      hotels: Array(hotels.dropFirst(query.offset).prefix(query.limit)),
      next: end < hotels.count ? end : nil)
  }

  private func note(skippedRows: Int) {
    guard skippedRows > 0 else { return }
    meter.countSkipped(rows: skippedRows)
    logger.notice(
      "Upstream rows skipped",
      metadata: [
        UpstreamLogKey.upstream.rawValue: "\(name)",
        UpstreamLogKey.rows.rawValue: "\(skippedRows)",
      ])
  }

  /// Sends one search and reads its rows; nil when the upstream does not know the path (404). Follows one redirect
  /// on the same origin, which Flask sends for a missing slash at the end.
  func answer(to path: String) async throws(SearchError) -> TravelSampleAnswer? {
    var answer = try await client.get(baseURL.url(of: path))
    if answer.isRedirect {
      guard let location = answer.location else { throw .badAnswer("redirect without a location") }
      guard let url = baseURL.origin.redirect(to: location) else {
        meter.countBlocked()
        throw .badAnswer("redirect away from the upstream")
      }
      answer = try await client.get(url)
    }
    if answer.status == 404 { return nil }
    try answer.requireJSON()
    return try TravelSampleAnswer(
      answer.body, limits: JSONLimits(maximumBytes: client.maximumAnswerBytes))
  }
}

/// The two generations of the travel-sample back end. They differ in the path and in the rows.
enum TravelSampleGeneration: String, Sendable {
  /// `/api/hotel/{description}/{location}/`: rows with an `id` and one field for each part of the address.
  case v1 = "/api/hotel/"
  /// `/api/hotels/{description}/{location}/`: rows with name, description and one joined address, without an `id`.
  case v2 = "/api/hotels/"

  /// The collection's path, with a slash at both ends.
  var path: String { rawValue }

  /// The path of a search. The slash at the end avoids a redirect by Flask.
  /// - Parameter description: an encoded path segment.
  /// - Parameter location: an encoded path segment.
  func path(description: String, location: String) -> String {
    "\(path)\(description)/\(location)/"
  }
}
