import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOPosix

/// A separate port for the requests of operators. It has its own thread and connections, so that a flood on the other
/// port can't hide that the server works.
package struct OperationsListener: Sendable {
  /// Connections at once.
  package static let connections = 64

  package let port: Int
  private let channel: any Channel
  private let group: MultiThreadedEventLoopGroup

  /// Begins to listen, without TLS.
  /// - Parameter port: 0 for any free port.
  /// - Parameter answers: the service. This port serves only what it answers at once.
  /// - Throws: `IOError` for an address that can't be bound.
  package init(hostname: String, port: Int, answers: any RequestAnswering) async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let ledger = ConnectionLedger(maximum: Self.connections, maximumPerAddress: Self.connections)
    let admission = Admission(atOnce: Self.connections)
    let bootstrap = ServerBootstrap(group: group)
      .serverChannelOption(.backlog, value: Int32(Self.connections))
      .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture {
          guard ledger.enter(nil) else { throw ChannelError.connectPending }
          channel.closeFuture.whenComplete { _ in ledger.leave(nil) }
          let (pipeline, state) = (channel.pipeline.syncOperations, ConnectionState())
          let limits = ConnectionLimits()
          try PlainConnection.addCodec(to: pipeline, state, limits, answers, isSecure: false)
          try pipeline.addHandler(RequestLimitHandler(limits, admission, answers, state))
          try pipeline.addHandler(IdleStateHandler(readTimeout: limits.stall))
          try pipeline.addHandler(OperationsHandler(answers))
        }
      }
    do {
      channel = try await bootstrap.bind(host: hostname, port: port).get()
    } catch {
      try? await group.shutdownGracefully()
      throw error
    }
    self.group = group
    self.port = channel.localAddress?.port ?? port
  }

  /// Stops listening and closes every connection.
  package func close() async {
    try? await channel.close()
    // It throws only if the group is already shut down.
    try? await group.shutdownGracefully()
  }
}

/// Refuses all requests that are not answered at once, and closes idle connections.
private final class OperationsHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPRequestPart
  typealias OutboundOut = HTTPResponsePart

  private let answers: any RequestAnswering

  init(_ answers: any RequestAnswering) { self.answers = answers }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard case .head(let request) = unwrapInboundIn(data) else { return }
    answer(.notServed, to: request, context)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    switch error {
    case is HTTPParserError:
      // ``RequestLimitHandler`` replaces this by the right status and text.
      let head = HTTPResponse(status: .badRequest, headerFields: [.connection: "close"])
      context.write(wrapOutboundOut(.head(head)), promise: nil)
      context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    case let refusal as ConnectionRefusal: answer(refusal, to: nil, context)
    default: context.close(promise: nil)
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event is IdleStateHandler.IdleStateEvent { context.close(promise: nil) }
    context.fireUserInboundEventTriggered(event)
  }

  private func answer(
    _ refusal: ConnectionRefusal, to request: HTTPRequest?, _ context: ChannelHandlerContext
  ) {
    var (head, body) = answers.answer(to: refusal, of: request)
    head.headerFields[.connection] = "close"
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    if request?.method != .head { context.write(wrapOutboundOut(.body(body)), promise: nil) }
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
  }
}
