package import Accounts
package import Documents
package import Hotels
package import Logging
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
  /// What the administrator's databases take, as `GET /v1/limits` shows it.
  package let databaseLimits: StoreLimits
  /// Who pays for processor time; nil where nobody does, as in tests.
  package let processors: ProcessorAccounts?
  /// Whether answers say what they cost.
  package let showsCost: Bool
  /// The clock.
  package let now: @Sendable () -> Timestamp
  /// How the server is.
  package let health = Health()
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
    connectionCaps: ConnectionCaps = ConnectionCaps(), databaseLimits: StoreLimits = .database,
    processors: ProcessorAccounts? = nil,
    showsCost: Bool = false,
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
    self.databaseLimits = databaseLimits
    self.processors = processors
    self.showsCost = showsCost
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

  /// What every request passes, with the ``routes`` behind it.
  package func router() -> RequestRouter {
    RequestRouter(
      routes: routes, crossOrigin: crossOrigin, proxies: proxies,
      authentication: Authentication(accounts: accounts, crossOrigin: crossOrigin),
      health: health, processors: processors, showsCost: showsCost)
  }
}

/// Who finds out how the server is.
extension HTTPService {
  /// Finds everything out; before the server listens, so that there is an answer from the first question on.
  /// - Parameter logger: is told of a failure of the stores.
  package func findHealth(_ logger: Logger) async {
    await renewUpstreamHealth()
    renewHealth(isDue: true, logger)
  }

  /// Tries the stores and puts the metrics together. Blocks for as long as the disk takes: for a thread that does
  /// nothing else.
  package func renewHealth(_ logger: Logger) { renewHealth(isDue: health.isDue, logger) }

  /// Asks the upstream.
  package func renewUpstreamHealth() async {
    do {
      try await search.checkReady()
      health.note(upstream: nil)
    } catch {
      health.note(upstream: error.reason)
    }
  }

  private func renewHealth(isDue: Bool, _ logger: Logger) {
    health.beginRenewal()
    if isDue {
      var failure: StoreError?
      do { try engine.checkWritable() } catch { failure = error }
      if let name = health.note(stores: failure), let failure {
        logger.error(
          "the stores take no writes",
          metadata: [
            LogKey.request: "\(name)", LogKey.error: "\(failure.code)",
            LogKey.detail: "\(failure.detail)",
          ])
      }
    }
    health.note(damage: engine.knownDamage)
    health.note(metrics: metricsText())
  }
}
