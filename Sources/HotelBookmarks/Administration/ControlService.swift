import Glibc
import HTTPAPI
import HTTPServer
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// Serves the routes over the control socket. Whoever can connect to it is the administrator. It has connections and
/// limits of its own, so that a flood on the server's port does not keep operators out.
struct ControlService: Service {
  /// Connections at once.
  private static let connections = 64

  private let path: String
  /// The bound socket.
  private let socket: Int32
  private let router: RequestRouter
  private let logger: Logger

  /// Creates the socket; nil if the directory can't have one. Connections wait until the service runs.
  init?(in directory: String, _ router: RequestRouter, _ logger: Logger) {
    path = DataFiles.control(in: directory)
    let binding = ControlSocket.bind(to: path)
    guard let socket = binding.descriptor else {
      logger.warning(
        "the command line can't ask for anything: the control socket can't be made",
        metadata: ["detail": "\(binding.failure)"])
      return nil
    }
    self.socket = socket
    self.router = router.forControlSocket()
    self.logger = logger
  }

  func run() async throws {
    defer { unlink(path) }
    let connection = CountedConnection(
      PlainConnection(answers: router, admission: Admission(atOnce: Self.connections)),
      ledger: ConnectionLedger(maximum: Self.connections), isSecure: false, answers: router
    ) { _ in nil }
    let server = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      .childChannelOption(.allowRemoteHalfClosure, value: true)
      .bind(socket) { [logger] in connection.setup(channel: $0, logger: logger) }
    // What was asked for ends with the server, before the stores are closed.
    await cancelWhenGracefulShutdown {
      try? await server.executeThenClose { clients in
        try await withThrowingDiscardingTaskGroup { group in
          for try await client in clients {
            group.addTask { await connection.handle(value: client, logger: logger) }
          }
        }
      }
    }
  }
}
