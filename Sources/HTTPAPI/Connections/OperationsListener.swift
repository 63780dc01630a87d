import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOPosix

/// A port of its own for what operators ask, and for nothing else: with a thread and connections of its own, so that
/// no flood of others hides a server that works.
package struct OperationsListener: Sendable {
  /// Connections at once.
  package static let connections = 64

  /// The port that it listens at.
  package let port: Int
  private let channel: any Channel
  private let group: MultiThreadedEventLoopGroup

  /// Begins to listen, without TLS.
  /// - Parameter port: 0 for one that is free.
  /// - Parameter router: what answers.
  /// - Throws: `IOError` for an address that can't be listened at.
  package init(hostname: String, port: Int, router: RequestRouter) async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let ledger = ConnectionLedger(
      maximum: Self.connections, maximumPerAddress: Self.connections)
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
          try PlainConnection.addCodec(to: pipeline, state, limits, isSecure: false)
          try pipeline.addHandler(
            RequestLimitHandler(limits, admission, CrossOrigin(), state, router))
          try pipeline.addHandler(IdleStateHandler(readTimeout: limits.stall))
          try pipeline.addHandler(OperationsHandler())
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

  /// Ends the listening and every connection.
  package func close() async {
    try? await channel.close()
    // It throws only when it is shut down already.
    try? await group.shutdownGracefully()
  }
}

/// Says 404 to whatever is no operator's question, and ends idle connections.
private final class OperationsHandler: ChannelInboundHandler {
  typealias InboundIn = HTTPRequestPart
  typealias OutboundOut = HTTPResponsePart

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard case .head(let request) = unwrapInboundIn(data) else { return }
    answer(.notFound, to: request, context)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    switch error {
    case is HTTPParserError:
      // ``RequestLimitHandler`` finds the words.
      let head = HTTPResponse(status: .badRequest, headerFields: [.connection: "close"])
      context.write(wrapOutboundOut(.head(head)), promise: nil)
      context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
    case let problem as Problem: answer(problem, to: nil, context)
    default: context.close(promise: nil)
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event is IdleStateHandler.IdleStateEvent { context.close(promise: nil) }
    context.fireUserInboundEventTriggered(event)
  }

  private func answer(
    _ problem: Problem, to request: HTTPRequest?, _ context: ChannelHandlerContext
  ) {
    let (head, body) = problem.message(to: request, closes: true)
    context.write(wrapOutboundOut(.head(head)), promise: nil)
    if request?.method != .head { context.write(wrapOutboundOut(.body(body)), promise: nil) }
    context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
  }
}

/// What operators and their probes ask, at any time.
enum OperationQuestion: String, CaseIterable, Sendable {
  /// Whether the process answers.
  case alive = "/healthz"
  /// Whether stores take writes and the upstream answers.
  case ready = "/readyz"
  /// The metrics.
  case metrics = "/metrics"
  /// CouchDB's question whether the server is up.
  case up = "/couch/_up"

  /// The question that a target asks, with any query; nil for any other target.
  init?(target: String) {
    let path = target.utf8.prefix { $0 != UInt8(ascii: "?") }
    guard let question = Self.allCases.first(where: { $0.rawValue.utf8.elementsEqual(path) })
    else { return nil }
    self = question
  }
}

/// An answer that is known before it is asked for.
struct OperationAnswer: Sendable {
  /// The status.
  var status = HTTPResponse.Status.ok
  /// The fields, without the length.
  let fields: HTTPFields
  /// The body.
  let body: ByteBuffer

  /// As a route's handler answers it.
  var response: Response {
    Response(status: status, headers: fields, body: ResponseBody(byteBuffer: body))
  }
}

extension RequestRouter {
  /// Answers an operator's question at once, on the thread that asks: nothing is waited for, and no other request
  /// stands before it. What is answered, counted and added to the answer is what
  /// ``respond(to:context:)`` would.
  /// - Returns: nil for any other request, and for one that has to be refused.
  func answerAtOnce(_ head: HTTPRequest) -> (head: HTTPResponse, body: ByteBuffer)? {
    guard head.method == .get || head.method == .head, let target = head.path,
      let question = OperationQuestion(target: target)
    else { return nil }
    let start = ContinuousClock.now
    let request = Request(head: head, body: RequestBody(buffer: ByteBuffer()))
    guard (try? Self.checkHead(request)) != nil,
      let metrics = table.find(.get, target)?.0.metrics
    else { return nil }
    let answer = health.answer(question)
    var fields = answer.fields
    fields[.contentLength] = String(answer.body.readableBytes)
    crossOrigin.decorate(&fields, origin: head.headerFields.value(of: .origin))
    fields.append(Self.noSniffing)
    fields.append(date.now)
    metrics.record(status: answer.status.code, duration: ContinuousClock.now - start)
    return (
      HTTPResponse(status: answer.status, headerFields: fields),
      head.method == .head ? ByteBuffer() : answer.body
    )
  }
}
