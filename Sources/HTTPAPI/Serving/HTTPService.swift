package import Accounts
package import Documents
package import HTTPServer
package import Hotels
import Hummingbird
package import Lists
package import Logging
package import Stores

/// The parts that the routes need. The composition root assembles them.
package struct HTTPService: Sendable {
  /// Guests, users, tokens.
  package let accounts: AccountService
  /// Bookmarks.
  package let hotels: HotelService
  /// Shared lists.
  package let lists: ListService
  /// The upstream.
  package let search: any HotelSearching
  /// Searches a person's own bookmarks when the upstream does not answer.
  package let mirrorSearch: any MirrorSearching
  /// The stores, for usage, readiness and erasure.
  package let stores: DatabaseManager
  /// The engine, for readiness.
  package let engine: any StorageEngine
  /// Decides which other origins may call.
  package let crossOrigin: CrossOrigin
  /// Returns the API description.
  let description: @Sendable () async throws -> APIDescription
  /// Returns the web page.
  let page: @Sendable () async -> WebPage
  /// The metrics of the process in Prometheus' text format.
  package let metricsText: @Sendable () -> [UInt8]
  /// How clients reach this server.
  let address: ServerAddress
  /// The proxies whose `X-Forwarded` fields are believed.
  package let proxies: TrustedProxies
  /// The caps of connections and requests, for `GET /v1/limits`.
  package let connectionCaps: ConnectionCaps
  /// The limits that an operator has set, for `GET /v1/limits`.
  package let setLimits: SetLimits
  /// The accounts for processor time; nil in tests without them.
  package let processors: ProcessorAccounts?
  /// Whether answers show their cost.
  package let showsCost: Bool
  /// The files of long bodies.
  package let bodyFiles: BodyFiles
  /// What the administrator can see and start.
  package let administration: any ServerAdministration
  /// The replications that this server runs.
  let replications: any Replications
  /// The number of answers, by class of status.
  package let answers = AnswerCounts()
  /// The clock.
  package let now: @Sendable () -> Timestamp
  /// The health of the server.
  package let health = Health()
  /// The accepted writes that are not done.
  package let pendingWrites = PendingWrites()
  /// Waits between two attempts at an accepted write.
  private let pause: @Sendable (Duration) async -> Void
  /// The imports that are under way.
  let imports = ImportPlaces()
  /// The long answers: `_changes`, observers and exports.
  let feeds: Feeds
  /// Updates the facts in bookmarks.
  let refresher: FactsRefresher

  /// Makes a service over its use cases.
  /// - Parameter publicURL: the URL by which clients reach this server, without a slash at the end; nil for the
  ///   request's own.
  /// - Parameter isSecure: whether clients reach this server over TLS without a proxy.
  /// - Parameter pause: waits between two attempts at an accepted write.
  package init(
    over cases: UseCases, search: any HotelSearching, mirrorSearch: any MirrorSearching,
    engine: any StorageEngine,
    crossOrigin: CrossOrigin = CrossOrigin(),
    description: @escaping @Sendable () async throws -> APIDescription,
    page: @escaping @Sendable () async -> WebPage = { WebPage([]) },
    metricsText: @escaping @Sendable () -> [UInt8],
    publicURL: String? = nil,
    isSecure: Bool = false, proxies: TrustedProxies = TrustedProxies(),
    connectionCaps: ConnectionCaps = ConnectionCaps(), setLimits: SetLimits = SetLimits(),
    processors: ProcessorAccounts? = nil,
    showsCost: Bool = false, bodyFiles: BodyFiles, administration: any ServerAdministration,
    replications: any Replications,
    pause: @escaping @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) }
  ) {
    self.pause = pause
    accounts = cases.accounts
    hotels = cases.hotels
    lists = cases.lists
    self.search = search
    self.mirrorSearch = mirrorSearch
    stores = cases.stores
    self.engine = engine
    self.crossOrigin = crossOrigin
    self.description = description
    self.page = page
    self.metricsText = metricsText
    address = ServerAddress(publicURL: publicURL, isSecure: isSecure, now: cases.now)
    self.proxies = proxies
    self.connectionCaps = connectionCaps
    self.setLimits = setLimits
    self.processors = processors
    self.showsCost = showsCost
    self.bodyFiles = bodyFiles
    self.administration = administration
    self.replications = replications
    now = cases.now
    feeds = Feeds(of: cases.stores.subscriptions, now: cases.now)
    refresher = FactsRefresher(cases.hotels)
  }

  /// How many long answers are being written: `_changes`, observers and exports.
  package var feedCount: Int { feeds.count }

  /// How many sessions of Couchbase Lite are open.
  package var liteSessionCount: Int { feeds.sessionCount }

  /// The router of all requests, with the ``routes``.
  package func router() -> RequestRouter {
    let routes = routes
    return RequestRouter(
      routes: routes, table: RouteTable(routes), crossOrigin: crossOrigin, health: health,
      proxies: proxies, authentication: authentication, renewal: renewal, processors: processors,
      showsCost: showsCost, receipts: receipts, answers: answers, page: PageController(page: page),
      fields: address.answerFields)
  }

  /// Authenticates callers.
  var authentication: Authentication {
    Authentication(accounts: accounts, crossOrigin: crossOrigin)
  }

  /// Renews tokens by use.
  var renewal: SessionRenewal { SessionRenewal(accounts: accounts, address: address) }

  /// Carries out writes with options.
  var receipts: WriteReceipts {
    WriteReceipts(
      stores: stores, pending: pendingWrites, authentication: authentication, pause: pause, now: now
    )
  }

  // MARK: Renewing the known health of the server

  /// Finds out everything once. It runs before the server listens, so that the first question has an answer.
  /// - Parameter logger: logs a failure of the stores.
  package func findHealth(_ logger: Logger) async {
    await renewUpstreamHealth()
    renewHealth(isDue: true, logger)
  }

  /// Checks the stores and renders the metrics. It blocks as long as the disk takes, so it needs its own thread.
  package func renewHealth(_ logger: Logger) { renewHealth(isDue: health.isDue, logger) }

  /// Checks the upstream.
  package func renewUpstreamHealth() async {
    do {
      try await search.checkReady()
      health.note(upstream: nil)
    } catch { health.note(upstream: error.reason) }
  }

  private func renewHealth(isDue: Bool, _ logger: Logger) {
    health.beginRenewal()
    if isDue {
      var failure: ServiceError?
      do { try engine.checkWritable() } catch {
        failure = ServiceError(error) ?? ServiceError(.unavailable, "The storage does not answer")
      }
      if let name = health.note(stores: failure), let failure {
        logger.error(
          "the stores take no writes",
          metadata: [
            LogKey.request: "\(name)", LogKey.error: "\(failure.code)",
            LogKey.detail: "\(failure.detail)",
          ])
      }
    }
    if health.note(writesOnOneDisk: engine.writesOnOneDisk) {
      logger.warning(
        "the database has writes on one disk only: no standby must have them on its disk")
    }
    health.note(damage: engine.knownDamage)
    health.note(metrics: metricsText())
  }
}
