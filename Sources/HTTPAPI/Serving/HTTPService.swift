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
  /// The clock.
  package let now: @Sendable () -> Timestamp

  /// A service of these parts.
  package init(
    accounts: AccountService, hotels: HotelService, search: any HotelSearching,
    stores: DatabaseManager, engine: any StorageEngine, crossOrigin: CrossOrigin = CrossOrigin(),
    contract: [UInt8], metricsText: @escaping @Sendable () -> [UInt8], publicURL: String? = nil,
    now: @escaping @Sendable () -> Timestamp
  ) {
    self.accounts = accounts
    self.hotels = hotels
    self.search = search
    self.stores = stores
    self.engine = engine
    self.crossOrigin = crossOrigin
    self.contract = contract
    self.metricsText = metricsText
    self.publicURL = publicURL
    self.now = now
  }

  /// Every operation that there is.
  package var routes: [Route] {
    operationRoutes + accountRoutes + meRoutes + hotelRoutes + bookmarkRoutes + travelSampleRoutes
      + couchRoutes
  }

  /// The router over ``routes``, behind the gate that every request passes.
  package func router() -> Router<CallContext> {
    let routes = routes
    let router = Router(context: CallContext.self, options: .autoGenerateHeadEndpoints)
    router.add(
      middleware: Gate(routes: routes, crossOrigin: crossOrigin, metrics: RequestMetrics()))
    let authentication = Authentication(accounts: accounts, crossOrigin: crossOrigin)
    for route in routes {
      let handler = route.handler
      router.on(RouterPath(route.template), method: route.method) { request, context in
        let call = Call(request: request, context: context)
        switch handler {
        case .open(let run): return try await run(call)
        case .anyone(let run):
          return try await run(call, try await authentication.principal(of: call))
        case .person(let run):
          guard let principal = try await authentication.principal(of: call) else {
            throw Authentication.required
          }
          let response = try await run(call, principal)
          if route.isWrite { try await authentication.requireStillGood(principal) }
          return response
        }
      }
    }
    return router
  }
}
