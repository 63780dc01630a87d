package import Accounts
package import Documents
package import HTTPServer
package import Hotels
import Hummingbird
package import Lists
package import Logging
import NIOCore
package import Stores
import Synchronization

/// What the routes are made of, put together by the composition root.
package struct HTTPService: Sendable {
  /// Guests, users, tokens.
  package let accounts: AccountService
  /// Bookmarks.
  package let hotels: HotelService
  /// Shared lists.
  package let lists: ListService
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
  /// The files of the web page.
  package let page: [PageFile]
  /// The same document as JSON, as the page at `/docs` reads it.
  package let contractJSON: PageFile
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
  /// After how many days people's stores and lists forget what was deleted.
  package let tombstoneDays: Int
  /// Who pays for processor time; nil where nobody does, as in tests.
  package let processors: ProcessorAccounts?
  /// Whether answers say what they cost.
  package let showsCost: Bool
  /// What the administrator looks at and starts.
  package let administration: Administration
  /// What was answered, by class of status.
  package let answers = AnswerCounts()
  /// The clock.
  package let now: @Sendable () -> Timestamp
  /// How the server is.
  package let health = Health()
  /// The writes that were accepted and are not done.
  package let pendingWrites = PendingWrites()
  /// Waits between two attempts at an accepted write.
  private let pause: @Sendable (Duration) async -> Void
  /// The answers of `_changes` that wait.
  let feeds: CouchFeeds
  /// Brings newer facts into bookmarks.
  let refresher: FactsRefresher

  /// A service of these parts.
  /// - Parameter pause: waits between two attempts at a write that was accepted before it is done.
  package init(
    accounts: AccountService, hotels: HotelService, lists: ListService,
    search: any HotelSearching,
    mirrorSearch: any MirrorSearching, stores: DatabaseManager, engine: any StorageEngine,
    crossOrigin: CrossOrigin = CrossOrigin(),
    contract: [UInt8], contractJSON: [UInt8], page: [PageFile] = [],
    metricsText: @escaping @Sendable () -> [UInt8],
    publicURL: String? = nil,
    isSecure: Bool = false, proxies: TrustedProxies = TrustedProxies(),
    connectionCaps: ConnectionCaps = ConnectionCaps(), databaseLimits: StoreLimits = .database,
    tombstoneDays: Int = 90,
    processors: ProcessorAccounts? = nil,
    showsCost: Bool = false, administration: Administration,
    pause: @escaping @Sendable (Duration) async -> Void = { try? await Task.sleep(for: $0) },
    now: @escaping @Sendable () -> Timestamp
  ) {
    self.pause = pause
    self.accounts = accounts
    self.hotels = hotels
    self.lists = lists
    self.search = search
    self.mirrorSearch = mirrorSearch
    self.stores = stores
    self.engine = engine
    self.crossOrigin = crossOrigin
    self.contract = contract
    self.contractJSON = PageFile(name: "openapi.json", bytes: contractJSON)
    self.page = page
    self.metricsText = metricsText
    self.publicURL = publicURL
    self.isSecure = isSecure
    self.proxies = proxies
    self.connectionCaps = connectionCaps
    self.databaseLimits = databaseLimits
    self.tombstoneDays = tombstoneDays
    self.processors = processors
    self.showsCost = showsCost
    self.administration = administration
    self.now = now
    feeds = CouchFeeds(stores: stores)
    refresher = FactsRefresher(hotels)
  }

  /// Every operation that there is.
  package var routes: [Route] {
    operationRoutes + pageRoutes + accountRoutes + meRoutes + portabilityRoutes + hotelRoutes
      + bookmarkRoutes
      + historyRoutes + mirrorRoutes + listRoutes + observerRoutes + receiptRoutes
      + travelSampleRoutes + administratorRoutes + administratorJobRoutes
      + couchRoutes
  }

  /// How many answers of `_changes`, of observers and of exports are being written.
  package var feedCount: Int { feeds.count }

  /// What every request passes, with the ``routes`` behind it.
  package func router() -> RequestRouter {
    RequestRouter(
      routes: routes, crossOrigin: crossOrigin, proxies: proxies, authentication: authentication,
      health: health, receipts: receipts, processors: processors, showsCost: showsCost,
      answers: answers)
  }
}

extension HTTPService {
  /// Finds out who calls.
  var authentication: Authentication {
    Authentication(accounts: accounts, crossOrigin: crossOrigin)
  }

  /// The answers that are kept.
  var receipts: WriteReceipts {
    WriteReceipts(
      stores: stores, pending: pendingWrites, authentication: authentication, pause: pause, now: now
    )
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
      var failure: ServiceError?
      do { try engine.checkWritable() } catch {
        failure =
          ServiceError(error) ?? ServiceError(.unavailable, "The storage does not answer")
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
    health.note(damage: engine.knownDamage)
    health.note(metrics: metricsText())
  }
}

/// Brings what an upstream has just shown into the bookmarks of the one it was shown to, after the answer is
/// sent. One task a store at a time and few in all: what is passed over comes again with the next search.
final class FactsRefresher: Sendable {
  /// Stores that are refreshed at once, at most.
  static let atOnce = 8

  private let hotels: HotelService
  private let running = Mutex<Set<StoreName>>([])

  /// A refresher that does nothing yet.
  init(_ hotels: HotelService) { self.hotels = hotels }

  /// Refreshes bookmarks behind the scenes.
  /// - Parameter shown: hotels as the upstream describes them, all of them bookmarked in the store.
  func refresh(_ shown: [Hotel], in store: StoreName) {
    guard !shown.isEmpty else { return }
    let isFree = running.withLock { running in
      guard running.count < Self.atOnce else { return false }
      return running.insert(store).inserted
    }
    guard isFree else { return }
    Task {
      // A store that is full, gone or closing keeps the facts that it has.
      _ = try? await hotels.refresh(shown, in: store)
      _ = running.withLock { $0.remove(store) }
    }
  }
}
