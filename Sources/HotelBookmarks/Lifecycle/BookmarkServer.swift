import Accounts
import HTTPAPI
import HTTPServer
import Hummingbird
import Logging
import Metrics
import NIOCore
import Scheduling
import ServiceLifecycle
import Stores
import UnixSignals

/// Runs a server until it is told to stop.
package struct BookmarkServer: Sendable {
  private let settings: Settings
  private let announce: @Sendable (String) -> Void

  /// A server with these settings.
  /// - Parameter announce: shows lines to the person who starts the server.
  package init(_ settings: Settings, announce: @escaping @Sendable (String) -> Void) {
    self.settings = settings
    self.announce = announce
  }

  /// Serves until SIGTERM or SIGINT. Then, after the delay of the settings, it accepts nothing new, finishes the
  /// running requests, and closes the stores.
  /// - Throws: the reason why it can't start, such as a data directory or a port in use, or invalid settings.
  package func run() async throws {
    Heap.configure()
    // One event loop for every two processors: the threads that answer need the others, and more loops make each
    // request more expensive. This has to run before the loops are used.
    NIOSingletons.groupLoopCountSuggestion = max(1, System.coreCount / 2)
    let metrics = PrometheusRegistry()
    MetricsSystem.bootstrap(metrics)
    let format = settings.logFormat
    let level = settings.logLevel
    let sink = LogSink()
    LoggingSystem.bootstrap { label in
      LineLogHandler(
        logLevel: level, format: format, label: label, sink: sink, now: SystemClock.now)
    }
    ProcessReport().report(to: metrics)
    metrics.collect {
      [PrometheusSample("log_lines_dropped_total", .counter, Double(sink.droppedCount))]
    }
    do { try await serve(metrics, Logger(label: "hotel-bookmarks")) } catch {
      await sink.finish()
      throw error
    }
    await sink.finish()
  }

  private func serve(_ metrics: PrometheusRegistry, _ logger: Logger) async throws {
    let connections = try ConnectionAssembly(settings)
    let descriptors = FileDescriptors.limit
    if let shortage = ConnectionAssembly.shortage(of: settings, descriptors: descriptors) {
      logger.warning("too few file descriptors", metadata: ["detail": "\(shortage)"])
    }
    // With a database, a thread waits for the answer on each connection.
    let storeThreads = ThreadPool.forStores(
      threads: settings.database == nil
        ? ThreadPool.storeThreads : ThreadPool.storeThreads + settings.databaseConnections)
    let storage = try await StorageAssembly.open(settings, pool: storeThreads)
    let assembly: ServiceAssembly
    do {
      assembly = try await ServiceAssembly(
        settings, connections, storage: storage,
        seats: Seats(
          stores: storeThreads,
          requestLimit: Int64(settings.requestProcessorMilliseconds) * 1_000_000),
        metrics: metrics, logger: logger)
    } catch let error as ServiceError where StoreBackups.isDamage(error) {
      throw SettingsError(ofAccounts: error, in: settings.storage)
    }
    storage.report(to: metrics)
    let router = assembly.http.router()
    await assembly.http.findHealth(logger)
    let operations = try await operations(router, assembly.http.health)
    let couch = settings.couchPort.map {
      ListenerService(couchAt: $0, router, assembly, settings, logger)
    }
    let application = ListenerService(
      application(
        over: assembly, router, operationsPort: operations?.port, couch: couch, logger: logger),
      at: settings.hostname, settings.port)
    var services: [any Service] = [
      StoreService(assembly: assembly), WriteService(writes: assembly.http.pendingWrites),
      AdministrationService(jobs: assembly.http.administration.jobs),
      HealthService(assembly: assembly, logger: logger),
      KeyService(
        keys: assembly.keys, isShared: storage.engine.isShared,
        reloadAdministrator: assembly.reloadAdministrator,
        subscriptions: assembly.stores.subscriptions, audit: assembly.http.accounts.audit,
        logger: logger),
      AdmissionService(admission: assembly.connections.admission, seats: assembly.seats),
      SweepService(sweeper: assembly.sweeper),
      RecoveryService(recovery: assembly.recovery, logger: logger, now: storage.now),
      ListMaintenanceService(lists: assembly.http.lists, logger: logger),
      AuditService(accounts: assembly.http.accounts, logger: logger),
      VersionService(refusal: storage.refusal),
    ]
    if let backups = assembly.backups {
      services.append(ScrubService(backups: backups, logger: logger))
    }
    if let backups = assembly.regularBackups {
      let times = BackupTimes(period: settings.backupSeconds)
      metrics.collect { times.samples }
      services.append(
        BackupSchedule(
          backups: backups, seconds: settings.backupSeconds, kept: settings.backupKeep,
          by: assembly.http.administration, times: times, logger: logger))
    }
    if let catalogue = storage.sharedCatalogue(in: settings.data) {
      services.append(SharedCatalogueService(catalogue: catalogue, logger: logger))
    }
    if let control = SocketService(controlIn: settings.data, router, logger) {
      services.append(control)
    }
    if let operations { services.append(OperationsService(listener: operations)) }
    if let certificates = assembly.connections.certificates {
      services.append(CertificateService(certificates: certificates, logger: logger))
    }
    if let couch { services.append(couch) }
    services += [
      application, ReplicationService(assembly.replications, router, logger),
      DrainService(
        health: assembly.http.health, delay: .seconds(settings.drainSeconds), logger: logger),
    ]
    let group = ServiceGroup(
      configuration: ServiceGroupConfiguration(
        // Without a name, the group prints the whole service with all that it refers to: megabytes, which it keeps and
        // logs when the service fails.
        services: services.map { service in
          ServiceGroupConfiguration.ServiceConfiguration(
            service: service,
            failureTerminationBehavior: service is VersionService
              ? .gracefullyShutdownGroup : .cancelGroup, serviceName: "\(type(of: service))")
        },
        gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
    try await group.run()
  }

  /// The listener at the operators' own port; nil without such a port. It listens before the other ports do.
  private func operations(
    _ router: RequestRouter, _ health: Health
  ) async throws -> OperationsListener? {
    guard let port = settings.operationsPort else { return nil }
    health.start()
    do {
      return try await OperationsListener(hostname: settings.hostname, port: port, answers: router)
    } catch { throw ListenFailure(error, at: settings.hostname, port) }
  }

  private static func warnOfPassword(_ error: any Error, _ logger: Logger) {
    logger.error(
      "the administrator's new password may be unknown; `admin reset-password` makes another one",
      error)
  }

  private func application(
    over assembly: ServiceAssembly, _ router: RequestRouter, operationsPort: Int?,
    couch: ListenerService?, logger: Logger
  ) -> some ApplicationProtocol {
    let (settings, announce, administrator) = (settings, announce, assembly.administrator)
    let health = assembly.http.health
    return Application(
      responder: router,
      server: assembly.connections.server(router, logger),
      configuration: ApplicationConfiguration(
        address: .hostname(settings.hostname, port: settings.port),
        backlog: ListenerService.backlog),
      onServerRunning: { channel in
        let port = channel.localAddress?.port ?? settings.port
        // A task, because connections are accepted only after this closure has returned.
        Task {
          let couchPort = await couch?.boundPort
          health.begin()
          let password: Secret?
          do { password = try await administrator.passwordToShow() } catch {
            password = nil
            Self.warnOfPassword(error, logger)
          }
          let text =
            switch settings.logFormat {
            case .text:
              StartupBanner.text(
                settings, port: port, operationsPort: operationsPort, couchPort: couchPort,
                password: password)
            case .json:
              StartupBanner.json(
                settings, port: port, operationsPort: operationsPort, couchPort: couchPort,
                password: password, now: SystemClock.now())
            }
          await StartupBanner.show(text, announce)
          do { try administrator.noteShown() } catch { Self.warnOfPassword(error, logger) }
        }
      },
      logger: logger)
  }
}

/// Keeps the stores while the server runs and closes them at the end. Services stop in reverse order.
struct StoreService: Service {
  let assembly: ServiceAssembly

  func run() async throws {
    await cancelWhenGracefulShutdown { await assembly.stores.run() }
    await assembly.close()
  }
}

/// Carries out the writes that were answered 202. It stops after the HTTP server, which accepts them, and before the
/// stores are closed.
struct WriteService: Service {
  let writes: PendingWrites

  func run() async throws {
    try? await gracefulShutdown()
    await writes.finish()
  }
}
