import HTTPTypes
import HummingbirdCore
import HummingbirdHTTP2
package import Logging
package import NIOCore
import NIOHTTP2
import NIOSSL
import NIOTLS
import Scheduling

/// A connection over TLS, which speaks HTTP/2 or HTTP/1.1 as the client prefers (ALPN, RFC 7301).
///
/// swift-nio-http2 limits HTTP/2: 100 streams at once, heads of ``RequestLimits/headerBytes`` (16 KiB until the client has
/// acknowledged that setting) in at most five CONTINUATION frames; 200 resets, 200 stream errors and 200 control frames
/// in 30 seconds. Hummingbird closes connections without streams and answers too many pings with ENHANCE_YOUR_CALM.
package struct SecureConnection: ServerChildChannel {
  /// A connection whose protocol is being negotiated.
  package struct Value: ServerChildChannelValue {
    let negotiated: EventLoopFuture<NIONegotiatedHTTPVersion<RequestQueue, HTTP2Channel.Value>>
    package let channel: any Channel
  }

  private let certificates: Certificates
  private let limits: ConnectionLimits
  private let http1: PlainConnection
  private let http2: HTTP2Channel

  /// - Parameter answers: the service that answers requests.
  /// - Parameter certificates: the certificate that a new connection uses.
  /// - Parameter logger: logs what requests over HTTP/2 report.
  package init(
    answers: any RequestAnswering, certificates: Certificates, limits: ConnectionLimits = .init(),
    admission: Admission, logger: Logger
  ) {
    self.certificates = certificates
    self.limits = limits
    http1 = PlainConnection(answers: answers, limits: limits, admission: admission, isSecure: true)
    let streams = HTTP1Channel.Configuration(
      additionalChannelHandlers: [
        RequestLimitHandler(limits, admission, answers), DisconnectHandler(),
      ],
      idleTimeout: .seconds(Int64(RequestLimits.idleSeconds)))
    let (date, writes) = (DateField(), PerEventLoop { LoopWrites(on: $0) })
    http2 = HTTP2Channel(
      responder: { (request, _: consuming ResponseWriter, stream) in
        let outlet = AnswerOutlet(stream, date, writes)
        do { try await Self.answer(request, to: outlet, answers, logger) } catch {
          // The end of the stream drops what is not written.
          await outlet.settle()
          throw error
        }
        await outlet.settle()
      },
      configuration: .init(
        idleTimeout: .seconds(RequestLimits.idleSeconds),
        gracefulCloseTimeout: .seconds(RequestLimits.headerSeconds),
        streamConfiguration: streams))
  }

  /// Answers the request of a stream.
  /// - Throws: `ChannelError` for a stream that is closed; `HTTPParserError` for a body that is not valid HTTP.
  private static func answer(
    _ request: Request, to outlet: AnswerOutlet, _ answers: any RequestAnswering, _ logger: Logger
  ) async throws {
    let stream = outlet.channel
    let reservation = try await RequestReservation.forStream(stream)
    let work = answers.account(of: stream).flatMap {
      answers.work(for: request, from: stream, on: $0)
    }
    stream.closeFuture.whenComplete { _ in work?.end(.gone) }
    await work?.begin(after: reservation?.lastAccount)
    defer {
      if let work { reservation?.lastAccount = work.account }
      work?.finish()
    }
    try await Work.$current.withValue(work) {
      // In a child task, because the task of a stream with a feed waits for long.
      var response = try await inChildTask {
        try await answers.answer(request, on: stream, reservation: reservation, logger: logger)
      }
      // A client ends a stream that has fields about the connection (RFC 9113, section 8.2.2).
      (response.headers[.connection], response.headers[.upgrade]) = (nil, nil)
      try await response.write(to: outlet)
    }
  }

  /// Tells the client how long a head may be. Hummingbird sets no settings of its own.
  private static let headSetting = HTTP2Frame(
    streamID: .rootStream,
    payload: .settings(
      .settings([HTTP2Setting(parameter: .maxHeaderListSize, value: RequestLimits.headerBytes)])))

  package func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
    do {
      let pipeline = channel.pipeline.syncOperations
      try pipeline.addHandler(NIOSSLServerHandler(context: certificates.context))
      try pipeline.addHandler(HandshakeTimeoutHandler(limits))
      try pipeline.addHandler(ConnectionAccountHandler())
    } catch { return channel.eventLoop.makeFailedFuture(error) }
    let (http1, http2) = (http1, http2)
    return channel.configureHTTP2AsyncSecureUpgrade(
      http1ConnectionInitializer: { http1.setup(channel: $0, logger: logger) },
      http2ConnectionInitializer: { channel in
        http2.setup(channel: channel, logger: logger).map { connection in
          channel.writeAndFlush(Self.headSetting, promise: nil)
          return connection
        }
      }
    ).map { Value(negotiated: $0, channel: channel) }
  }

  package func handle(value: Value, logger: Logger) async {
    // A connection without an agreed protocol is already closed.
    switch try? await value.negotiated.get() {
    case .http1_1(let connection): await http1.handle(value: connection, logger: logger)
    case .http2(let connection): await http2.handle(value: connection, logger: logger)
    case nil: value.channel.close(promise: nil)
    }
  }
}

/// Has what all streams of an HTTP/2 connection hold. It handles nothing.
final class ConnectionAccountHandler: ChannelInboundHandler {
  typealias InboundIn = NIOAny

  let share = ConnectionShare()
}

/// Closes a connection whose TLS handshake takes too long, or that continues too long after the server has begun to
/// stop. Without it Hummingbird waits for an HTTP/2 client that reads nothing and so never learns of the stop.
private final class HandshakeTimeoutHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = NIOAny

  private let limits: ConnectionLimits
  private var timer: Scheduled<Void>?
  private var isStopping = false

  init(_ limits: ConnectionLimits) { self.limits = limits }

  func handlerAdded(context: ChannelHandlerContext) { close(context, in: limits.header) }

  func handlerRemoved(context: ChannelHandlerContext) { timer?.cancel() }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if case .handshakeCompleted? = event as? TLSUserEvent, !isStopping { timer?.cancel() }
    if event is ChannelShouldQuiesceEvent, !isStopping {
      isStopping = true
      close(context, in: limits.stop)
    }
    context.fireUserInboundEventTriggered(event)
  }

  private func close(_ context: ChannelHandlerContext, in time: TimeAmount) {
    timer?.cancel()
    let channel = context.channel
    timer = context.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
  }
}
