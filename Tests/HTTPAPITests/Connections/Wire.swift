import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import NIOEmbedded
import NIOHTTP1
import NIOHTTPTypes
import Scheduling

@testable import HTTPAPI
@testable import HTTPServer

/// An HTTP/1 connection without a socket, whose clock the test controls: the handlers of ``PlainConnection`` without
/// Hummingbird's.
struct Wire {
  let channel = EmbeddedChannel()
  let state = ConnectionState()
  let limits: ConnectionLimits
  /// The route's handler of the last request.
  let route: Route

  /// If `isRunning` is set, stores the request's hold, as a route's handler does while it runs.
  final class Route: ChannelInboundHandler {
    typealias InboundIn = HTTPRequestPart

    private let state: ConnectionState
    var isRunning = false
    var reservation: RequestReservation?

    init(_ state: ConnectionState) { self.state = state }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      if isRunning, case .head = unwrapInboundIn(data) { reservation = state.reservation }
      context.fireChannelRead(data)
    }
  }

  init(
    _ limits: ConnectionLimits = .init(), admission: Admission = Admission(),
    crossOrigin: CrossOrigin = CrossOrigin(), router: RequestRouter? = nil
  ) throws {
    self.limits = limits
    let answers: any RequestAnswering = router ?? RefusalsOnly(crossOrigin: crossOrigin)
    route = Route(state)
    let pipeline = channel.pipeline.syncOperations
    try pipeline.addHandler(HeaderTimeoutHandler(state, limits, answers))
    var bounds = NIOHTTPDecoderLimitConfiguration()
    bounds.maxHeaderFieldCount = RequestLimits.headerFields
    try pipeline.configureHTTPServerPipeline(
      withPipeliningAssistance: false, withErrorHandling: false,
      withOutboundHeaderValidation: false, withEncoderConfiguration: .init(),
      withDecoderLimitConfiguration: bounds)
    try pipeline.addHandler(RequestCodec(state, isSecure: false))
    try pipeline.addHandler(RequestLimitHandler(limits, admission, answers, state))
    try pipeline.addHandler(route)
    try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
  }

  /// Receives bytes from the client.
  func receive(_ text: String) throws {
    defer { channel.read() }
    try channel.writeInbound(ByteBuffer(string: text))
  }

  /// The problem that is reported to a route when bytes arrive.
  func problem(_ bytes: () throws -> Void) -> Problem? {
    do { try bytes() } catch { return (error as? ConnectionRefusal).map { Problem($0) } }
    return nil
  }

  /// The requests and ends of requests that were passed to routes since the last call.
  func requests() throws -> [HTTPRequestPart] {
    var parts: [HTTPRequestPart] = []
    while let part = try channel.readInbound(as: HTTPRequestPart.self) { parts.append(part) }
    return parts
  }

  /// Answers as a route.
  func answer(_ status: HTTPResponse.Status = .ok, fields: HTTPFields = [.contentLength: "0"]) {
    channel.write(HTTPResponsePart.head(.init(status: status, headerFields: fields)), promise: nil)
    channel.writeAndFlush(HTTPResponsePart.end(nil), promise: nil)
  }

  /// The bytes that were written to the client since the last call.
  func sent() throws -> String {
    var text = ""
    while let bytes = try channel.readOutbound(as: ByteBuffer.self) {
      text += String(buffer: bytes)
    }
    return text
  }

  /// Advances the time.
  func wait(_ time: TimeAmount) { channel.embeddedEventLoop.advanceTime(by: time) }

  /// A request without a body, and the header of a request with one.
  static let get = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"
  static let put = "PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n"
}

/// Answers refusals only.
private struct RefusalsOnly: RequestAnswering {
  let crossOrigin: CrossOrigin

  func answer(
    _ request: Request, on channel: any Channel, reservation: RequestReservation?, logger: Logger
  ) async throws -> Response { throw Problem.notFound }

  func answerAtOnce(_ head: HTTPRequest) -> (head: HTTPResponse, body: ByteBuffer)? { nil }

  func isAlwaysAdmitted(_ head: HTTPRequest) -> Bool { RequestRouter.isAlwaysAdmitted(head) }

  func answer(
    to refusal: ConnectionRefusal, of request: HTTPRequest?
  ) -> (head: HTTPResponse, body: ByteBuffer) {
    Problem(refusal).message(to: request, crossOrigin)
  }

  func account(of channel: any Channel) -> ProcessorAccount? { nil }
  func work(
    for request: Request, from channel: any Channel, on account: ProcessorAccount
  ) -> Work? { nil }

  func isProxy(_ address: String) -> Bool { false }
}

extension TimeAmount {
  /// A nanosecond less.
  var less: TimeAmount { self - .nanoseconds(1) }
}
