package import Hotels
import JSON
package import Logging
import Synchronization

/// The travel-sample back end as an upstream: both generations, and what its ports to other
/// languages made of them.
///
/// It understands a text as a phrase whatever ``HotelQuery/matching`` says, knows no look-up by id
/// (see ``CachedSearch``), and answers 100 rows at most, of which a page is cut here.
package final class TravelSampleUpstream: RemoteUpstream {
  /// Sends the requests.
  let client: UpstreamClient
  /// Where the upstream lives.
  let baseURL: UpstreamURL
  /// Counts the calls.
  let meter: UpstreamMeter
  private let setting: TravelSampleGeneration.Setting
  private let name: String
  private let logger: Logger
  private let remembered = Mutex<TravelSampleGeneration?>(nil)
  private let readiness: Readiness

  /// An upstream.
  /// - Parameters:
  ///   - client: sends the requests; the caller shuts it down.
  ///   - baseURL: where the upstream lives.
  ///   - generation: which of the two it is.
  ///   - name: what metrics and logs call it.
  ///   - logger: takes a line for each search that failed.
  ///   - now: the clock that lets the last word on readiness grow old.
  package init(
    client: UpstreamClient, baseURL: UpstreamURL,
    generation: TravelSampleGeneration.Setting = .automatic, name: String = "travel-sample",
    logger: Logger = Logger(label: "hotel-bookmarks.upstream"),
    now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) {
    self.client = client
    self.baseURL = baseURL
    self.setting = generation
    self.name = name
    self.logger = logger
    self.meter = UpstreamMeter(upstream: name)
    self.readiness = Readiness(now: now) {
      await Self.probe(client, baseURL, setting: generation)
    }
  }

  /// Finds hotels.
  package func search(_ query: HotelQuery) async throws(SearchError) -> HotelPage {
    if let page = answerWithoutAsking(query) { return page }
    let (description, location) = (SearchTerm(query.description), SearchTerm(query.location))
    let started = ContinuousClock.now
    do throws(SearchError) {
      let answer = try await Deadline.within(client.timeouts.total) { () throws(SearchError) in
        try await self.ask(description, location)
      }
      meter.count(.ok, started: started)
      note(skippedRows: answer.skippedRows)
      return Self.page(of: answer.hotels, for: query)
    } catch {
      let outcome = UpstreamMeter.Outcome(error)
      meter.count(outcome, started: started)
      if outcome != .cancelled { note(error) }
      throw error
    }
  }

  /// A text without any word that the path could carry (`.`, `..`, `*`) matches no hotel, so nothing is sent.
  package func answerWithoutAsking(_ query: HotelQuery) -> HotelPage? {
    let isNothing = [query.description, query.location].contains { SearchTerm($0) == .nothing }
    return isNothing ? HotelPage(hotels: [], next: nil) : nil
  }

  /// It can't be asked by id.
  package var looksUpIDs: Bool { false }

  /// Nil: this upstream can't be asked by id.
  package func hotel(_ id: HotelID) async throws(SearchError) -> Hotel? {
    nil
  }

  /// Whether the upstream answers HTTP at all, within ``UpstreamTimeouts/firstByte``; a status of
  /// overload or of a gateway without its server is a no. The word stands for 5 seconds.
  package func checkReady() async throws(SearchError) {
    try await readiness.check()
  }

  /// Asks one generation after the other until one has such a path.
  private func ask(
    _ description: SearchTerm, _ location: SearchTerm
  ) async throws(SearchError) -> TravelSampleAnswer {
    let order = setting.order(remembered: remembered.withLock { $0 })
    for generation in order {
      for path in Self.paths(description, location, generation) {
        guard let answer = try await answer(to: path) else { continue }
        remembered.withLock { $0 = generation }
        return answer
      }
    }
    throw .badAnswer("not found")
  }

  /// The paths of a search, the second for upstreams that resolve `%2F` before they look for a
  /// route.
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

  private func note(_ error: SearchError) {
    logger.warning(
      "Upstream search failed",
      metadata: [
        UpstreamLogKey.upstream.rawValue: "\(name)",
        UpstreamLogKey.code.rawValue: "\(error.code.rawValue)",
        UpstreamLogKey.detail.rawValue: "\(error.detail)",
      ])
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
}

extension TravelSampleUpstream {
  /// Sends one search and reads its rows; nil when the upstream has no such path (404). One
  /// redirect on the same origin is followed, as Flask sends for a missing slash.
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
    if answer.meansUnavailable {
      throw .unavailable("status \(answer.status)", mayRetry: answer.mayBeAskedAgain)
    }
    guard (200..<300).contains(answer.status) else { throw .badAnswer("status \(answer.status)") }
    guard answer.mayBeJSON else { throw .badAnswer("the answer is no JSON") }
    return try TravelSampleAnswer(
      answer.body, limits: JSONLimits(maximumBytes: client.maximumAnswerBytes))
  }

  /// One cheap request: the second generation answers it without a search, the first says 404, and
  /// either means that somebody is there.
  static func probe(
    _ client: UpstreamClient, _ baseURL: UpstreamURL, setting: TravelSampleGeneration.Setting
  ) async -> SearchError? {
    let path = (setting.order(remembered: nil).first ?? .v2).path
    let url = baseURL.url(of: path)
    do throws(SearchError) {
      let status = try await Deadline.within(client.timeouts.firstByte) { () throws(SearchError) in
        try await client.status(of: url)
      }
      let answer = UpstreamAnswer(status: status, mediaType: nil, location: nil, body: [])
      return answer.meansUnavailable ? .unavailable("status \(status)") : nil
    } catch {
      return error
    }
  }
}

/// The two generations of the travel-sample back end, which differ in path and rows.
package enum TravelSampleGeneration: String, Sendable, CaseIterable {
  /// `/api/hotel/{description}/{location}/`: rows with an `id` and one field for each part of the
  /// address.
  case v1
  /// `/api/hotels/{description}/{location}/`: rows with name, description and one joined address,
  /// no `id`.
  case v2

  /// Which generation an upstream is of, as far as the configuration says.
  package enum Setting: String, Sendable, CaseIterable {
    /// Found out by asking: ``TravelSampleGeneration/v2`` first, the other when that is not found.
    case automatic
    /// ``TravelSampleGeneration/v1`` only.
    case v1
    /// ``TravelSampleGeneration/v2`` only.
    case v2

    /// The generations to ask, the one that answered last first.
    func order(remembered: TravelSampleGeneration?) -> [TravelSampleGeneration] {
      switch self {
      case .automatic: remembered == .v1 ? [.v1, .v2] : [.v2, .v1]
      case .v1: [.v1]
      case .v2: [.v2]
      }
    }
  }

  /// The collection's path, with a slash at both ends.
  var path: String {
    switch self {
    case .v1: "/api/hotel/"
    case .v2: "/api/hotels/"
    }
  }

  /// The path of a search. The slash at the end spares Flask its redirect.
  /// - Parameters: segments, encoded.
  func path(description: String, location: String) -> String {
    "\(path)\(description)/\(location)/"
  }
}
