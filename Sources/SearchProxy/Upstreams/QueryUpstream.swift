import Documents
package import Hotels
package import Logging

/// A search engine as an upstream, with any dialect.
package struct QueryUpstream: RemoteUpstream {
  private let client: UpstreamClient
  private let baseURL: UpstreamURL
  private let dialect: any QueryDialect
  private let path: String
  private let authorization: String?
  private let logger: Logger
  private let meter: UpstreamMeter
  private let readiness: Readiness

  /// Makes an upstream.
  /// - Parameter dialect: Couchbase's Search Service, OpenSearch or Elasticsearch.
  /// - Parameter index: the index's name. Couchbase's scoped ones have their bucket and scope in it
  ///   (`travel-sample.inventory.hotels`).
  /// - Parameter authorization: the value of `Authorization`; nil for none.
  package init(
    client: UpstreamClient, baseURL: UpstreamURL, dialect: any QueryDialect, index: String,
    authorization: String?, name: String, logger: Logger
  ) {
    self.client = client
    self.baseURL = baseURL
    self.dialect = dialect
    self.authorization = authorization
    self.logger = logger
    path = dialect.path(index: PathSegment.encode(index))
    meter = UpstreamMeter(upstream: name)
    let probe = baseURL.url(of: dialect.probePath)
    readiness = Readiness(now: { .now }) { await client.readiness(of: probe) }
  }

  /// Finds hotels. These engines treat texts as phrases, whatever ``HotelQuery/matching`` says.
  package func search(_ query: HotelQuery) async throws(SearchError) -> HotelPage {
    try await ask(dialect.body(for: query), for: query)
  }

  /// The hotel that the engine has for an id.
  package func hotel(_ id: HotelID) async throws(SearchError) -> Hotel? {
    let page = try await ask(dialect.body(for: id), for: HotelQuery(limit: 1))
    return page.hotels.first { $0.id.text.equalsBytes(of: Hotel.canonical(id.text)) }
  }

  /// Whether the engine answers HTTP at all. The result is cached for 5 seconds.
  package func checkReady() async throws(SearchError) { try await readiness.check() }

  private func ask(_ body: [UInt8], for query: HotelQuery) async throws(SearchError) -> HotelPage {
    try await meter.search(within: client.timeouts.total, logger) { () throws(SearchError) in
      try await answer(body, for: query)
    }
  }

  private func answer(
    _ body: [UInt8], for query: HotelQuery
  ) async throws(SearchError) -> HotelPage {
    let answer = try await client.post(
      body, to: baseURL.url(of: path), authorization: authorization)
    if answer.isRedirect {
      // A query with credentials must only be sent to the configured URL.
      meter.countBlocked()
      throw .badAnswer("redirect")
    }
    try answer.requireJSON()
    let limits = JSONLimits(maximumBytes: client.maximumAnswerBytes)
    return try dialect.page(UpstreamAnswer.object(answer.body, limits), for: query)
  }
}
