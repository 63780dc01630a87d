package import Accounts
package import Documents
package import Hotels
package import Hummingbird
package import Stores

/// What the routes are made of, put together by the composition root.
package struct HTTPService: Sendable {
  /// Guests, users, tokens.
  package let accounts: AccountService
  /// Bookmarks.
  package let hotels: HotelService
  /// The upstream, whichever it is.
  package let search: any HotelSearching
  /// Searches a person's own bookmarks when the upstream does not answer.
  package let mirrorSearch: any MirrorSearching
  /// The stores, for usage, readiness and erasure.
  package let stores: DatabaseManager
  /// The engine, for readiness.
  package let engine: any StorageEngine
  /// Which other origins may call.
  package let crossOrigin: CrossOrigin
  /// The text of `openapi.yaml`.
  package let contract: [UInt8]
  /// Prometheus' text of the process' metrics.
  package let metricsText: @Sendable () -> [UInt8]
  /// What URL clients reach this server by, without a slash at its end; nil to take the request's own.
  package let publicURL: String?
  /// Whether clients reach this server over TLS without a proxy.
  package let isSecure: Bool
  /// Whose word on a caller's address is taken.
  package let proxies: TrustedProxies
  /// Connections at once and from one address, as `GET /v1/limits` shows them.
  package let connectionCaps: ConnectionCaps
  /// The clock.
  package let now: @Sendable () -> Timestamp
  /// The answers of `_changes` that wait.
  let feeds: CouchFeeds
  /// Brings newer facts into bookmarks.
  let refresher: FactsRefresher

  /// A service of these parts.
  package init(
    accounts: AccountService, hotels: HotelService, search: any HotelSearching,
    mirrorSearch: any MirrorSearching, stores: DatabaseManager, engine: any StorageEngine,
    crossOrigin: CrossOrigin = CrossOrigin(),
    contract: [UInt8], metricsText: @escaping @Sendable () -> [UInt8], publicURL: String? = nil,
    isSecure: Bool = false, proxies: TrustedProxies = TrustedProxies(),
    connectionCaps: ConnectionCaps = ConnectionCaps(),
    now: @escaping @Sendable () -> Timestamp
  ) {
    self.accounts = accounts
    self.hotels = hotels
    self.search = search
    self.mirrorSearch = mirrorSearch
    self.stores = stores
    self.engine = engine
    self.crossOrigin = crossOrigin
    self.contract = contract
    self.metricsText = metricsText
    self.publicURL = publicURL
    self.isSecure = isSecure
    self.proxies = proxies
    self.connectionCaps = connectionCaps
    self.now = now
    feeds = CouchFeeds(stores: stores)
    refresher = FactsRefresher(hotels)
  }

  /// Every operation that there is.
  package var routes: [Route] {
    operationRoutes + accountRoutes + meRoutes + hotelRoutes + bookmarkRoutes + mirrorRoutes
      + travelSampleRoutes
      + couchRoutes
  }

  /// The router over ``routes``, behind the gate that every request passes.
  package func router() -> Router<CallContext> {
    let routes = routes
    let router = Router(context: CallContext.self, options: .autoGenerateHeadEndpoints)
    router.add(
      middleware: Gate(routes: routes, crossOrigin: crossOrigin, metrics: RequestMetrics()))
    let authentication = Authentication(accounts: accounts, crossOrigin: crossOrigin)
    let proxies = proxies
    for route in routes {
      router.on(RouterPath(route.template), method: route.method) { request, context in
        try await Self.answer(
          Call(request: request, context: context, proxies: proxies), route, authentication)
      }
    }
    return router
  }

  private static func answer(
    _ call: Call, _ route: Route, _ authentication: Authentication
  ) async throws -> Response {
    switch route.handler {
    case .open(let run): return try await run(call)
    case .anyone(let run): return try await run(call, try await authentication.principal(of: call))
    case .person(let run), .signedIn(let run):
      guard let principal = try await authentication.principal(of: call) else {
        throw Authentication.required
      }
      guard route.access == .signedIn || principal.kind != .administrator else {
        throw Authentication.noStore
      }
      let response = try await run(call, principal)
      if route.isWrite { try await authentication.requireStillGood(principal) }
      return response
    }
  }
}
