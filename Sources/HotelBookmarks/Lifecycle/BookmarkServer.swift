import Accounts
import Catalogue
import HTTPAPI
import HTTPServer
import Hummingbird
import Lanes
import Logging
import Metrics
import NIOCore
import SQLiteEngine
import ServiceLifecycle
import Stores
import UnixSignals

/// Runs a server until it is told to stop.
package struct BookmarkServer: Sendable {
  private let settings: Settings
  private let announce: @Sendable (String) -> Void

  /// A server with these settings.
  /// - Parameter announce: takes the lines for the person who starts it.
  package init(_ settings: Settings, announce: @escaping @Sendable (String) -> Void) {
    self.settings = settings
    self.announce = announce
  }

  /// Serves until SIGTERM or SIGINT: then, after the settings' delay, nothing new is taken, what is in flight is finished, and the stores
  /// are closed.
  /// - Throws: what keeps it from starting: a directory in use, a port taken, settings that can't be.
  package func run() async throws {
    // An event loop for every other processor: the threads that answer need the rest, and more loops than that make
    // each request dearer. Before anything uses them.
    NIOSingletons.groupLoopCountSuggestion = max(1, System.coreCount / 2)
    let metrics = PrometheusRegistry()
    MetricsSystem.bootstrap(metrics)
    let format = settings.logFormat
    let level = settings.logLevel
    let sink = LogSink()
    LoggingSystem.bootstrap { label in
      var handler = LineLogHandler(format, label: label, sink: sink, now: SystemClock.now)
      handler.logLevel = level
      return handler
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
    let storeThreads = LanePool.forStores()
    let engine = try await FileEngine.open(directory: settings.data, pool: storeThreads)
    let assembly = try await ServiceAssembly(
      settings, connections, engine: engine, pool: LanePool(stores: storeThreads),
      backups: { BackupDesk(engine: engine, stores: $0) },
      commits: { engine.statistics.commits }, metrics: metrics, logger: logger)
    engine.report(to: metrics)
    let backups = assembly.backupDesk
    let router = assembly.http.router()
    await assembly.http.findHealth(logger)
    let operations = try await operations(router)
    let application = application(
      over: assembly, router, operationsPort: operations?.port, logger: logger)
    var services: [any Service] = [
      StoreService(assembly: assembly), WriteService(writes: assembly.http.pendingWrites),
      AdministrationService(jobs: assembly.http.administration.jobs),
      HealthService(assembly: assembly, logger: logger),
      KeyService(keys: assembly.keys, logger: logger),
      AdmissionService(admission: assembly.connections.admission, pool: assembly.pool),
      ControlService(desk: backups, users: assembly.users, logger: logger),
      SweepService(sweeper: assembly.sweeper),
      ListUpkeep(lists: assembly.http.lists, logger: logger),
      ScrubService(desk: backups, logger: logger),
    ]
    if let operations { services.append(OperationsService(listener: operations)) }
    if let certificates = assembly.connections.certificates {
      services.append(CertificateService(certificates: certificates, logger: logger))
    }
    let group = ServiceGroup(
      configuration: ServiceGroupConfiguration(
        services: services + [
          application,
          FarewellService(
            health: assembly.http.health, delay: .seconds(settings.drainSeconds), logger: logger),
        ],
        gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
    try await group.run()
  }

  /// What listens at the operators' own port, where there is one.
  private func operations(_ router: RequestRouter) async throws -> OperationsListener? {
    guard let port = settings.operationsPort else { return nil }
    return try await OperationsListener(hostname: settings.hostname, port: port, answers: router)
  }

  private func application(
    over assembly: ServiceAssembly, _ router: RequestRouter, operationsPort: Int?, logger: Logger
  ) -> some ApplicationProtocol {
    let (settings, announce, administrator) = (settings, announce, assembly.administrator)
    return Application(
      responder: StreamResponder(router),
      server: assembly.connections.server(router),
      configuration: ApplicationConfiguration(
        address: .hostname(settings.hostname, port: settings.port),
        backlog: Self.backlog),
      onServerRunning: { channel in
        let port = channel.localAddress?.port ?? settings.port
        // Not waited for: connections are accepted only when this has returned.
        Task {
          let password = administrator.freshPassword
          let text =
            switch settings.logFormat {
            case .text:
              StartupBanner.text(
                settings, port: port, operationsPort: operationsPort, password: password)
            case .json:
              StartupBanner.json(
                settings, port: port, operationsPort: operationsPort, password: password,
                now: SystemClock.now())
            }
          await StartupBanner().show(text, announce)
          do { try administrator.noteShown() } catch {
            logger.error(
              "another password will be drawn for the administrator at the next start",
              metadata: ["detail": "\(StartFailure.line(error))"])
          }
        }
      },
      logger: logger)
  }

  /// Connections that wait to be accepted.
  private static let backlog = 1_024
}

/// Keeps the stores while the server runs and closes them after it: services stop in reverse order.
struct StoreService: Service {
  let assembly: ServiceAssembly

  func run() async throws {
    await cancelWhenGracefulShutdown { await assembly.stores.run() }
    await assembly.close()
  }
}

/// Carries out what was answered 202 before the stores are closed: told to stop after the HTTP server, which accepts
/// it, and before them.
struct WriteService: Service {
  let writes: PendingWrites

  func run() async throws {
    try? await gracefulShutdown()
    await writes.finish()
  }
}

/// What keeps a command from its work, in words for the person who started it.
package enum StartFailure {
  /// Whether the person has to change something first: exit status 78 of sysexits.h.
  package static func isConfiguration(_ error: any Error) -> Bool {
    switch error {
    case is CertificateFailure, is DataDirectoryError, is SettingsError: true
    case let error as ServiceError: error.code == .keys
    case let error as BackupError: error.code == .newerFormat
    default: false
    }
  }

  /// One line.
  package static func line(_ error: any Error) -> String {
    words(error).split(whereSeparator: \.isNewline).joined(separator: " ")
  }

  private static func words(_ error: any Error) -> String {
    switch error {
    case let error as DataDirectoryError: error.reason
    case let error as SettingsError: error.description
    case let error as ServiceError: join(error.reason, error.detail)
    case let error as CatalogueError:
      (error.line.map { "line \($0): " } ?? "") + join(error.reason, error.detail)
    case let error as CertificateFailure: error.description
    case let error as BackupError: error.reason
    case let error as IOError: "The address can't be listened at: \(error)"
    default: "\(error)"
    }
  }

  private static func join(_ reason: String, _ detail: String) -> String {
    detail.isEmpty ? reason : reason + " (" + detail + ")"
  }
}
