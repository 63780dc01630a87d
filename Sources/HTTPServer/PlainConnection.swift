import HTTPTypes
import HummingbirdCore
package import Logging
package import NIOCore
import NIOHTTP1
import Scheduling

/// An HTTP/1 connection. It has the role of Hummingbird's own `HTTP1Channel`, with this server's limits and fewer steps
/// for each request.
///
/// The order from the socket inwards: ``HeaderTimeoutHandler``, the encoder and the parser, ``RequestCodec``,
/// ``RequestLimitHandler``, ``DisconnectHandler``, Hummingbird's idle timer, ``RequestHandler``, and the task that
/// answers the requests one after the other.
package struct PlainConnection: ServerChildChannel {
  private let answers: any RequestAnswering
  private let date = DateField()
  private let writes = PerEventLoop { LoopWrites(on: $0) }
  private let limits: ConnectionLimits
  private let admission: Admission
  private let isSecure: Bool

  /// - Parameter answers: the service that answers requests.
  /// - Parameter isSecure: whether it runs over TLS.
  package init(
    answers: any RequestAnswering, limits: ConnectionLimits = .init(), admission: Admission,
    isSecure: Bool = false
  ) {
    self.answers = answers
    self.limits = limits
    self.admission = admission
    self.isSecure = isSecure
  }

  package func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<RequestQueue> {
    channel.eventLoop.makeCompletedFuture {
      let pipeline = channel.pipeline.syncOperations
      let state = ConnectionState()
      try Self.addCodec(to: pipeline, state, limits, answers, isSecure: isSecure)
      try pipeline.addHandler(RequestLimitHandler(limits, admission, answers, state))
      try pipeline.addHandler(DisconnectHandler())
      try pipeline.addHandler(
        HTTPConnectionStateHandler(
          idleTimeout: .seconds(RequestLimits.idleSeconds), logger: logger))
      let queue = RequestQueue(channel)
      try pipeline.addHandler(RequestHandler(queue, state))
      return queue
    }
  }

  /// Adds the handlers that turn bytes into requests and answers into bytes.
  static func addCodec(
    to pipeline: ChannelPipeline.SynchronousOperations, _ state: ConnectionState,
    _ limits: ConnectionLimits, _ answers: any RequestAnswering, isSecure: Bool
  ) throws {
    try pipeline.addHandler(HeaderTimeoutHandler(state, limits, answers))
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
    let channel = value.channel
    let account = answers.account(of: channel)
    let outlet = AnswerOutlet(channel, date, writes)
    await withTaskCancellationHandler {
      var isWebSocket = false
      do {
        while try await value.waitForNext() {
          let last = try await inChildTask {
            try await answerAll(of: value, to: outlet, account, logger)
          }
          if case .stream(let response, let work) = last {
            try await Work.$current.withValue(work) {
              try await response.write(to: outlet)
            }
            work?.finish()
            isWebSocket = response.status == .switchingProtocols
          }
          if last.closes { break }
        }
      } catch is HTTPParserError {
        // ``RequestLimitHandler`` replaces this by the right status and text.
        let answer = Response(status: .badRequest, headers: [.connection: "close"])
        try? await answer.write(to: outlet)
      } catch {
        // The client is gone or does not read.
        await outlet.settle()
        return channel.close(promise: nil)
      }
      await outlet.settle()
      // ``WebSocketHandler`` ends its connection itself, when the client has answered its close frame.
      if !isWebSocket { channel.close(mode: .output, promise: nil) }
      try? await channel.closeFuture.get()
    } onCancel: {
      channel.close(mode: .input, promise: nil)
    }
  }

  /// How a series of answers has ended.
  private enum Last: Sendable {
    /// With an answer of unknown length, which is not written yet.
    case stream(Response, Work?)
    /// The client sends nothing at the moment, or nothing more.
    case quiet
    /// With the connection's last answer.
    case close

    /// Whether the server answers nothing more (RFC 9112, section 9.6).
    var closes: Bool {
      switch self {
      case .stream(let response, _): response.headers.value(of: .connection) == "close"
      case .quiet: false
      case .close: true
      }
    }
  }

  /// Answers requests until the client is quiet (``RequestQueue/nextSoon()``) or an answer may take long. The
  /// connection's task runs it as a child, and so keeps little memory while it waits.
  /// - Throws: the errors of the connection and of its parser.
  private func answerAll(
    of value: RequestQueue, to outlet: AnswerOutlet, _ account: ProcessorAccount?, _ logger: Logger
  ) async throws -> Last {
    while true {
      guard let request = try await value.nextSoon() else { return .quiet }
      await outlet.settle()
      let work = account.flatMap { answers.work(for: request, from: value.channel, on: $0) }
      if let work { await value.begin(work) }
      let last = try await Work.$current.withValue(work) {
        try await answer(request, of: value, to: outlet, work, logger)
      }
      if let last { return last }
    }
  }

  /// Answers one request. Nothing of the request and its answer remains while the next one is awaited: the rest of a
  /// body that is not wanted is then read and discarded.
  /// - Returns: nil if more may follow.
  private func answer(
    _ request: Request, of value: RequestQueue, to outlet: AnswerOutlet, _ work: Work?,
    _ logger: Logger
  ) async throws -> Last? {
    var response = try await answers.answer(
      request, on: value.channel, reservation: value.reservation, logger: logger)
    let closes = request.headers.value(of: .connection) == "close"
    if response.body.contentLength == nil {
      if closes { response.headers[.connection] = "close" }
      return .stream(response, work)
    }
    try await response.write(to: outlet)
    work?.finish()
    return closes || response.headers.value(of: .connection) == "close" ? .close : nil
  }
}
