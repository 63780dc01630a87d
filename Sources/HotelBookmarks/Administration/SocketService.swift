import Glibc
import HTTPAPI
import HTTPServer
import Logging
import NIOCore
import NIOPosix
import ServiceLifecycle

/// Serves routes over a socket in the data directory. It has connections and limits of its own, so that a flood on the
/// server's port does not keep its clients out.
struct SocketService: Service {
  /// Connections at once over the control socket.
  private static let controlConnections = 64

  private let path: String
  /// The bound socket.
  private let socket: Int32
  private let connections: Int
  private let router: RequestRouter
  private let logger: Logger

  /// Creates the control socket, whose clients are the administrator; nil if the directory can't have one.
  init?(controlIn directory: String, _ router: RequestRouter, _ logger: Logger) {
    self.init(
      at: DataFiles.control(in: directory), connections: Self.controlConnections,
      router.forControlSocket(),
      failing: "the command line can't ask for anything: the control socket can't be made", logger)
  }

  /// Creates a socket; nil if its directory can't have one. Connections wait until the service runs.
  /// - Parameter connections: how many there may be at once.
  /// - Parameter warning: the line for the log if it can't be made.
  init?(
    at path: String, connections: Int, _ router: RequestRouter, failing warning: Logger.Message,
    _ logger: Logger
  ) {
    let binding = ControlSocket.bind(to: path)
    guard let socket = binding.descriptor else {
      logger.warning(warning, metadata: ["detail": "\(binding.failure)"])
      return nil
    }
    (self.path, self.socket, self.connections) = (path, socket, connections)
    (self.router, self.logger) = (router, logger)
  }

  func run() async throws {
    defer { unlink(path) }
    let connection = CountedConnection(
      PlainConnection(answers: router, admission: Admission(atOnce: connections)),
      ledger: ConnectionLedger(maximum: connections), isSecure: false, answers: router
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
