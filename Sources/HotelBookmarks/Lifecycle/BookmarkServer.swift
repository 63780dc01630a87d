import Documents
import Foundation
import HTTPAPI
import Hummingbird
import Logging
import Metrics
import NIOCore
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

  /// Serves until SIGTERM or SIGINT: then nothing new is taken, what is in flight is finished, and the stores
  /// are closed.
  /// - Throws: what keeps it from starting: a directory in use, a port taken, settings that can't be.
  package func run() async throws {
    let metrics = PrometheusRegistry()
    MetricsSystem.bootstrap(metrics)
    let format = settings.logFormat
    let level = settings.logLevel
    LoggingSystem.bootstrap { label in
      var handler: any LogHandler =
        switch format {
        case .text: StreamLogHandler.standardError(label: label)
        case .json: JSONLogHandler(label: label, now: SystemClock.now)
        }
      handler.logLevel = level
      return handler
    }
    let logger = Logger(label: "hotel-bookmarks")
    let assembly = try await ServiceAssembly(settings, metrics: metrics, logger: logger)
    let application = application(over: assembly.http, logger: logger)
    let group = ServiceGroup(
      configuration: ServiceGroupConfiguration(
        services: [
          .init(service: StoreService(assembly: assembly)),
          .init(service: KeyService(keys: assembly.keys, logger: logger)),
          .init(service: application),
        ],
        gracefulShutdownSignals: [.sigterm, .sigint], logger: logger))
    try await group.run()
  }

  private func application(
    over service: HTTPService, logger: Logger
  ) -> some ApplicationProtocol {
    let (settings, announce) = (settings, announce)
    return Application(
      router: service.router(),
      server: .http1(
        configuration: .init(
          idleTimeout: .seconds(Int64(RequestLimits.idleSeconds)),
          httpDecoderConfiguration: .init(
            maxHeaderFieldSize: RequestLimits.headerBytes,
            maxHeaderListSize: RequestLimits.headerBytes,
            maxHeaderFieldCount: RequestLimits.headerFields))),
      configuration: ApplicationConfiguration(
        address: .hostname(settings.hostname, port: settings.port),
        backlog: Self.backlog),
      onServerRunning: { channel in
        let port = channel.localAddress?.port ?? settings.port
        announce(StartupBanner.text(settings, port: port))
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
