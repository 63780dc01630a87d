import HTTPTypes
import Hummingbird
import HummingbirdCore
import Lanes
package import Logging
package import NIOCore
import NIOHTTP1

/// An HTTP/1 connection: what Hummingbird's own `HTTP1Channel` is, with this server's limits around it and
/// fewer steps on the way of a request.
///
/// From the socket inwards: ``HeaderTimeoutHandler``, the encoder and the parser, ``RequestCodec``, ``RequestLimitHandler``,
/// ``ClientWatch``, Hummingbird's idle timer, ``RequestHandler``, and the task that answers one request after
/// the other.
package struct PlainConnection: ServerChildChannel {
  private let router: RequestRouter
  private let date = DateField()
  private let limits: ConnectionLimits
  private let admission: Admission
  private let crossOrigin: CrossOrigin
  private let isSecure: Bool

  /// - Parameter router: what answers requests.
  /// - Parameter crossOrigin: which pages may read what is answered before a route is found.
  /// - Parameter isSecure: whether it runs over TLS.
  package init(
    router: RequestRouter, limits: ConnectionLimits = .init(), admission: Admission,
    crossOrigin: CrossOrigin, isSecure: Bool = false
  ) {
    self.router = router
    self.limits = limits
    self.admission = admission
    self.crossOrigin = crossOrigin
    self.isSecure = isSecure
  }

  package func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<RequestQueue> {
    channel.eventLoop.makeCompletedFuture {
      let pipeline = channel.pipeline.syncOperations
      let state = ConnectionState()
      try Self.addCodec(to: pipeline, state, limits, isSecure: isSecure)
      try pipeline.addHandler(RequestLimitHandler(limits, admission, crossOrigin, state, router))
      try pipeline.addHandler(ClientWatch())
      try pipeline.addHandler(
        HTTPConnectionStateHandler(
          idleTimeout: .seconds(RequestLimits.idleSeconds), logger: logger))
      let queue = RequestQueue(channel)
      try pipeline.addHandler(RequestHandler(queue, state))
      return queue
    }
  }

  /// Adds what turns bytes into requests and answers into bytes.
  static func addCodec(
    to pipeline: ChannelPipeline.SynchronousOperations, _ state: ConnectionState,
    _ limits: ConnectionLimits, isSecure: Bool
  ) throws {
    try pipeline.addHandler(HeaderTimeoutHandler(state, limits))
    var bounds = NIOHTTPDecoderLimitConfiguration()
    bounds.maxHeaderFieldSize = RequestLimits.headerBytes
    bounds.maxHeaderListSize = RequestLimits.headerBytes
    bounds.maxHeaderFieldCount = RequestLimits.headerFields
    try pipeline.configureHTTPServerPipeline(
      withPipeliningAssistance: false, withErrorHandling: false,
      withOutboundHeaderValidation: false, withEncoderConfiguration: .init(),
      withDecoderLimitConfiguration: bounds)
    try pipeline.addHandler(RequestCodec(state, isSecure: isSecure))
  }

  package func handle(value: RequestQueue, logger: Logger) async {
    guard let executor = router.executor(for: value.channel) else {
      return await serve(value, logger)
    }
    value.note(executor)
    await withTaskExecutorPreference(executor) { await serve(value, logger) }
  }

  private func serve(_ value: RequestQueue, _ logger: Logger) async {
    let channel = value.channel
    await withTaskCancellationHandler {
      do {
        let context = CallContext(source: .init(channel: channel, logger: logger))
        while let request = try await value.next() {
          let response = try await router.respond(
            to: request, context: context.holding(value.hold))
          try await answer(response, on: channel)
          WorkExecutor.current?.finish()
          // Nothing after the last answer is done (RFC 9112, section 9.6), whoever said that it is that.
          if request.headers.value(of: .connection) == "close"
            || response.headers.value(of: .connection) == "close"
          {
            break
          }
        }
      } catch is HTTPParserError {
        // ``RequestLimitHandler`` finds the words.
        try? await answer(
          Response(status: .badRequest, headers: [.connection: "close"]), on: channel)
      } catch {
        // The client is gone or took nothing.
        return channel.close(promise: nil)
      }
      channel.close(mode: .output, promise: nil)
      try? await channel.closeFuture.get()
    } onCancel: {
      channel.close(mode: .input, promise: nil)
    }
  }

  private func answer(_ response: Response, on channel: any Channel) async throws {
    var head = response.head
    head.headerFields.append(date.now)
    try await response.body.write(
      AnswerWriter(channel, head, hasLength: response.body.contentLength != nil))
  }
}
