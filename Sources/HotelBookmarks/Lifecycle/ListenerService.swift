import Glibc
import HTTPAPI
import Hummingbird
import Logging
import NIOCore
import ServiceLifecycle

/// Serves at one address. A failure to listen there names the address.
struct ListenerService: Service {
  /// How many connections may wait to be accepted.
  static let backlog = 1_024

  private let application: any Service
  private let hostname: String
  private let port: Int
  /// Has the port once the server listens.
  private let bound: AsyncStream<Int>

  /// Serves an application. Its port does not become known here.
  init(_ application: any Service, at hostname: String, _ port: Int) {
    self.application = application
    (self.hostname, self.port) = (hostname, port)
    bound = AsyncStream { $0.finish() }
  }

  /// Serves the routes below `/couch` at the root of a port of their own. Its connections and requests count with those
  /// of the other port.
  init(
    couchAt port: Int, _ router: RequestRouter, _ assembly: ServiceAssembly, _ settings: Settings,
    _ logger: Logger
  ) {
    let (bound, continuation) = AsyncStream<Int>.makeStream()
    self.bound = bound
    (hostname, self.port) = (settings.hostname, port)
    application = Application(
      responder: router, server: assembly.connections.server(router.withCouchAtRoot(), logger),
      configuration: ApplicationConfiguration(
        address: .hostname(settings.hostname, port: port), backlog: Self.backlog),
      onServerRunning: { channel in
        continuation.yield(channel.localAddress?.port ?? port)
        continuation.finish()
      },
      logger: logger)
  }

  /// The port at which the server listens, once it does. For one caller.
  var boundPort: Int? {
    get async {
      for await port in bound { return port }
      return nil
    }
  }

  func run() async throws {
    do { try await application.run() } catch let error as IOError {
      throw ListenFailure(error, at: hostname, port)
    } catch let error as SocketAddressError.UnknownHost {
      throw ListenFailure(error, at: hostname, port)
    }
  }
}

/// An address at which the server can't listen.
struct ListenFailure: Error, CustomStringConvertible {
  let description: String

  init(_ error: any Error, at hostname: String, _ port: Int) {
    let host = hostname.utf8.contains(UInt8(ascii: ":")) ? "[\(hostname)]" : hostname
    let reason =
      switch (error as? IOError)?.errnoCode {
      case EADDRINUSE: "another program listens there"
      case EADDRNOTAVAIL: "this machine does not have this address"
      case EACCES: "this user may not use this port"
      default:
        error is SocketAddressError.UnknownHost ? "there is no address of this name" : "\(error)"
      }
    description = "The server can't listen at \(host):\(port): \(reason)"
  }
}
