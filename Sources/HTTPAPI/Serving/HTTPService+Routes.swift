import Accounts
import HTTPServer
import Hotels
import Stores

/// The controllers that serve, each with its table of routes.
extension HTTPService {
  /// All operations.
  package var routes: [Route] {
    serverRoutes + accountRoutes + bookmarkRoutes + listRoutes + administratorRoutes + couchRoutes
      + TravelSampleController(accounts: accounts, search: search).routes
  }

  private var serverRoutes: [Route] {
    OperationController(
      health: health, description: description,
      limits: Limits.json(
        connectionCaps, search: mirrorSearch.limit, set: setLimits,
        replications: replications.limits)
    ).routes + PageController(page: page).routes
  }

  private var browsers: BrowserSessions {
    BrowserSessions(accounts: accounts, authentication: authentication, address: address)
  }

  private var accountRoutes: [Route] {
    let groups: [[Route]] = [
      AccountController(
        accounts: accounts, hotels: hotels, authentication: authentication, address: address,
        browsers: browsers, writes: pendingWrites
      ).routes,
      MeController(
        accounts: accounts, hotels: hotels, lists: lists, stores: stores,
        authentication: authentication, renewal: renewal, address: address
      ).routes,
      PortabilityController(
        accounts: accounts, lists: lists, stores: stores, imports: imports, feeds: feeds,
        databases: databases, now: now
      ).routes,
      ObserverController(lists: lists, feeds: feeds, databases: databases).routes,
      ReceiptController(receipts: receipts).routes,
      DeliveryController(
        databases: databases, subscriptions: stores.subscriptions, now: now
      ).routes,
      RemoteController(replications: replications, feeds: feeds, databases: databases).routes,
    ]
    return groups.flatMap { $0 }
  }

  private var bookmarkRoutes: [Route] {
    SearchController(
      search: search, mirrorSearch: mirrorSearch, hotels: hotels, refresher: refresher
    ).routes + bookmarks.routes + photos.routes + histories.routes + mirrors.routes
  }

  private var listRoutes: [Route] {
    let drafts = ListDraftController(lists: lists, hotels: hotels, lookUp: lookUp)
    let contents = ListContentController(
      lists: lists, hotels: hotels, bookmarks: bookmarks, mirrors: mirrors, histories: histories,
      drafts: drafts, photos: photos)
    let groups: [[Route]] = [
      ListController(lists: lists, address: address, now: now).routes,
      InvitationController(lists: lists, address: address).routes,
      ListLinkController(lists: lists, address: address).routes,
      contents.routes, drafts.routes,
    ]
    return groups.flatMap { $0 }
  }

  private var administratorRoutes: [Route] {
    AdministratorController(accounts: accounts, lists: lists, stores: stores, engine: engine).routes
      + AdministratorUserController(accounts: accounts, address: address).routes
      + AdministratorJobController(administration: administration, audit: accounts.audit).routes
      + ServerStateController(administration: administration, stores: stores, feeds: feeds).routes
  }

  /// The sync protocol under `/couch`.
  private var couchRoutes: [Route] {
    let groups: [[Route]] = [
      CouchServerController(databases: databases, health: health).routes,
      CouchSessionController(
        accounts: accounts, authentication: authentication, browsers: browsers, address: address,
        writes: pendingWrites
      ).routes,
      CouchAdministratorController(databases: databases, engine: engine, address: address).routes,
      CouchReplicatorController(
        databases: databases,
        patience: .seconds(min(connectionCaps.requestSeconds / 2, Self.replicationSeconds))
      ).routes,
      CouchDatabaseController(
        databases: databases, address: address, bodyFiles: bodyFiles, feeds: feeds
      ).routes,
      CouchDocumentController(databases: databases, address: address, feeds: feeds).routes,
      CouchAttachmentController(databases: databases, address: address, feeds: feeds).routes,
      CouchReplicationController(databases: databases, feeds: feeds).routes,
      LiteController(databases: databases, authentication: authentication, feeds: feeds).routes,
      CouchQueryController(databases: databases).routes,
      CouchMaintenanceController(databases: databases).routes,
    ]
    return groups.flatMap { $0 }.speaking(.couch)
  }

  /// The most seconds that an answer of `_replicate` waits before it begins.
  private static let replicationSeconds = 25

  private var lookUp: HotelLookUp { HotelLookUp(search: search) }
  private var bookmarks: BookmarkController { BookmarkController(hotels: hotels, lookUp: lookUp) }
  private var photos: PhotoController {
    PhotoController(hotels: hotels, databases: databases, feeds: feeds)
  }
  private var mirrors: MirrorController { MirrorController(hotels: hotels, databases: databases) }
  private var histories: HistoryController {
    HistoryController(stores: stores, accounts: accounts, hotels: hotels)
  }
  private var databases: CouchDatabaseAccess {
    CouchDatabaseAccess(
      stores: stores, accounts: accounts, lists: lists, replications: replications)
  }
}
