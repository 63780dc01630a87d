import Accounts
import CEmbedded
import Catalogue
import CouchSync
import Documents
import HTTPAPI
import HTTPServer
import Hotels
import Lists
import Logging
import Page
import Replicator
import SQLiteEngine
import Scheduling
import Stores

/// All parts of a server. This is the only place that connects them.
struct ServiceAssembly: Sendable {
  let http: HTTPService
  let stores: DatabaseManager
  let keys: SigningKeys
  let administrator: AdministratorAssembly
  let connections: ConnectionAssembly
  /// The replications that this server runs.
  let replications: ReplicationAssembly
  /// Removes what no one can use any more.
  let sweeper: Sweeper
  /// Finishes what was interrupted.
  let recovery: Recovery
  /// Where requests wait until they may compute.
  let seats: Seats
  /// Makes backups and verifies stores; nil for stores in a database.
  let backups: StoreBackups?
  /// The directory into which regular backups go; nil without them.
  let regularBackups: KeptBackups?
  private let storage: StorageAssembly
  private let cases: UseCases
  private let search: SearchAssembly
  private let hashingThreads: ThreadPool

  /// The API description. Like the page it is made when it is first asked for, so that no start waits until the text is
  /// read and packed. No request pays for it.
  private static let description = Task.detached {
    APIDescription(yaml: Contract.text, json: try ContractJSON.bytes(ofYAML: Contract.text))
  }

  /// The web page.
  private static let page = Task.detached {
    WebPage(
      EmbeddedFile.all.map { file in
        (file.name, file.isOfPlaces ? PlaceNames.lines + file.bytes : file.bytes)
      })
  }

  /// Opens everything besides the stores, and creates what is absent.
  /// - Parameter storage: the storage engine; ``close()`` closes it.
  /// - Parameter seats: where requests wait until they may compute.
  init(
    _ settings: Settings, _ connections: ConnectionAssembly, storage: StorageAssembly,
    seats: Seats, metrics: PrometheusRegistry, logger: Logger
  ) async throws {
    let (now, engine) = (storage.now, storage.engine)
    self.connections = connections
    self.seats = seats
    self.storage = storage
    let stores = Self.stores(over: storage, settings)
    self.stores = stores
    backups = storage.files.map {
      StoreBackups(engine: $0, stores: stores, place: settings.backups)
    }
    regularBackups = settings.backups.map(KeptBackups.init(directory:))
    // A backup disk that is away must not keep the server from starting. Each backup tries again.
    do { try await regularBackups?.make() } catch {
      logger.error("no backup can be made at present", error)
    }
    var accountSettings = AccountSettings()
    accountSettings.guestsPerHour = settings.guestsPerHour
    accountSettings.guestBytesPerDay = settings.limits.guestBytesPerDay
    accountSettings.isShared = engine.isShared
    accountSettings.audit = settings.audit
    administrator =
      engine.isShared
      ? try await AdministratorAssembly(settings, SharedSecrets(stores: stores))
      : try AdministratorAssembly(settings)
    if administrator.isLocked {
      logger.error(
        "the administrator's file is damaged, and no one can log in as the administrator",
        metadata: [
          "detail":
            "stop the server and run: hotel-bookmarks admin reset-password --data \(settings.data)"
        ])
    }
    accountSettings.administrator = administrator.administrator
    accountSettings.administratorEpoch = administrator.epoch
    accountSettings.issuers = settings.issuers
    let threads = ThreadPool(name: "hash", threads: accountSettings.hashesAtOnce + 1)
    hashingThreads = threads
    keys = try await storage.keys(in: settings.data, stores)
    if keys.isNew, let files = storage.files, try await files.storeCount() > 0 {
      logger.warning(
        "there was no key file: no earlier token is valid, so all sessions have ended",
        metadata: [
          "detail":
            "to undo this, stop the server and put keys.json of a backup in \(settings.data)"
        ])
    }
    let cases = UseCases(
      over: stores, keys: keys, settings: accountSettings,
      ownedListBytes: settings.limits.ownedListBytes, now: now,
      hashing: { work in await threads.run(isSlice: false, work) },
      issuerDocuments: IssuerAssembly(settings, logger: logger))
    let accounts = cases.accounts
    self.cases = cases
    try await administrator.checkName(accounts)
    let catalogue = storage.sharedCatalogue(in: settings.data)
    do { try await catalogue?.catchUp() } catch {
      logger.warning("the shared catalogue can't be copied", error)
    }
    search = try await SearchAssembly(settings, logger: logger)
    let administration = AdministrationAssembly(
      settings: settings, metrics: metrics, search: search, connections: connections,
      backups: backups,
      database: DatabaseWork(location: settings.storage, kept: regularBackups),
      catalogue: catalogue, logger: logger)
    let processors = ProcessorAccounts(seats)
    replications = ReplicationAssembly(
      settings, stores, isShared: engine.isShared,
      token: { try await accounts.ownToken(of: $0.id, named: $0.name) },
      work: { processors.work(of: $0) }, now: now)
    replications.report(to: metrics)
    http = HTTPService(
      over: cases, search: search.search, mirrorSearch: search.mirror, engine: engine,
      crossOrigin: connections.crossOrigin, description: { try await Self.description.value },
      page: { await Self.page.value },
      metricsText: { metrics.text }, publicURL: settings.publicURL,
      isSecure: settings.tlsCertificateFile != nil, proxies: settings.trustedProxies,
      connectionCaps: connections.caps, setLimits: settings.limits,
      processors: processors,
      showsCost: settings.showsCost, bodyFiles: BodyFiles(in: settings.data),
      administration: administration, replications: replications)
    recovery = Recovery(
      stores: stores, accounts: accounts, hotels: cases.hotels, lists: cases.lists,
      logger: logger)
    sweeper = Sweeper(
      accounts: accounts, hotels: cases.hotels, engine: engine, counts: SweepCounts(),
      logger: logger,
      tombstoneSeconds: Int64(settings.limits.tombstoneDays) * 86_400, now: now, uptime: { .now },
      sleep: { (try? await Task.sleep(for: $0)) != nil })
    sweeper.counts.report(to: metrics)
    connections.report(to: metrics)
    // Other processes of the same database may have begun something a moment ago.
    if engine.isShared {
      try await recovery.run(at: now())
    } else {
      try await recovery.run(begunBefore: nil)
    }
    report(to: metrics)
    WorkReport(seats).report(to: metrics)
  }

  /// The stores of an engine. The limit of file descriptors decides how many are open at once, unless the settings do.
  static func stores(over storage: StorageAssembly, _ settings: Settings) -> DatabaseManager {
    let (engine, now) = (storage.engine, storage.now)
    var follower = BookmarkMerge.follower(now: now)
    follower.useRoom = { try await RefusedRetries.run(in: $0, as: $1) }
    return DatabaseManager(
      engine: engine,
      maximumOpen: settings.openStores
        ?? DatabaseManager.maximumOpen(
          descriptorLimit: FileDescriptors.limit, descriptorsPerStore: engine.descriptorsPerStore),
      limits: { [settings] name in
        switch name {
        // It has documents of every person who has set a remote.
        case .named(.remotes): .unbounded
        case .named: settings.limits.databases
        case .guest: .guest(overallBytes: settings.limits.guestOverallBytes)
        default: .standard(for: name)
        }
      },
      now: now, follower: follower,
      rooms: .ofLists(within: settings.limits.ownedListBytes))
  }

  private func report(to metrics: PrometheusRegistry) {
    metrics.collect { [stores, http] in
      [
        PrometheusSample("lite_sessions_open", .gauge, Double(http.liteSessionCount)),
        PrometheusSample("stores_open", .gauge, Double(stores.openCount)),
        PrometheusSample("stores_leased", .gauge, Double(stores.leasedCount)),
        PrometheusSample("health_renewals_total", .counter, Double(http.health.renewalCount)),
        PrometheusSample(
          "audit_entries_lost_total", .counter, Double(http.accounts.audit.lostCount)),
        PrometheusSample("writes_pending", .gauge, Double(http.pendingWrites.count)),
      ]
    }
  }

  /// The present counts, for the server's history. It reads `/proc`, so the calling thread may block.
  var totals: ServerHistory.Totals {
    var totals = connections.totals
    http.answers.add(to: &totals)
    totals.commits = storage.commits
    totals.feeds = http.feedCount
    let usage = ProcessUsage()
    totals.processorMilliseconds = Int(usage.processorSeconds * 1_000)
    totals.memoryBytes = Int(usage.residentBytes)
    return totals
  }

  /// Takes the administrator's password that another server or a command has stored.
  @Sendable func reloadAdministrator() async throws {
    guard let found = try await administrator.shared?.storedPassword() else { return }
    let name = administrator.administrator.name.text
    cases.accounts.replaceAdministrator(
      try Administrator(name: name, password: found.hash), epoch: found.epoch)
  }

  /// Closes all parts, each after those that use it.
  func close() async {
    await replications.jobs.stop()
    await search.close()
    await stores.close()
    await storage.close()
    await hashingThreads.stop()
  }
}

/// The text of `openapi.yaml`, which the server also serves.
enum Contract {
  /// The text at the time of the build.
  static let text = [UInt8](
    UnsafeBufferPointer(start: cembedded_contract_bytes(), count: cembedded_contract_count()))
}
