import HTTPTypes
import HummingbirdCore
import Lanes
package import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import Synchronization

/// The requests of one HTTP/1 connection, for the task that answers them one after the other. It has the role of
/// `NIOAsyncChannel` in Hummingbird, but for whole requests and answers instead of their parts.
///
/// A request that came in one piece passes once from the connection's event loop to the task, and its answer passes
/// once back. Each costs one lock. ``RequestHandler`` fills the queue from the pipeline.
package final class RequestQueue: ServerChildChannelValue {
  /// The limit of waiting requests, from which on nothing more is read from the client.
  static let readAhead = 2

  private struct State {
    /// Has space for ``RequestQueue/readAhead`` requests and what came with them in one piece; more is allocated when it is
    /// needed.
    var requests = CircularBuffer<(request: Request, reservation: RequestReservation?)>(
      initialCapacity: 4)
    /// The memory and the slot of the request that is being answered.
    var reservation: RequestReservation?
    /// The task that waits for a request.
    var waiting: CheckedContinuation<Request?, any Error>?
    /// Whether no more requests come.
    var isOver = false
    /// The parser's error, until it is reported.
    var failure: HTTPParserError?
    /// Whether the current body has to wait for its reader.
    var isBodyFull = false
    /// The executor of the answering task, once it has begun.
    var executor: WorkExecutor?
    /// Whether the client has gone.
    var hasGone = false
    /// Whether a read of the channel was postponed.
    var isReadPostponed = false

    var isFull: Bool { isBodyFull || requests.count >= RequestQueue.readAhead }
  }

  /// The connection.
  package let channel: any Channel
  private let state = Mutex(State())

  init(_ channel: any Channel) {
    self.channel = channel
    // A handler in the pipeline may keep a connection reset to itself, so the queue watches the close future as well.
    channel.closeFuture.whenComplete { [weak self] _ in self?.clientClosed(hasGone: true) }
  }

  /// Waits for the next request. Only one task may call it.
  /// - Returns: nil when there are no more.
  /// - Throws: the parser's error.
  func next() async throws -> Request? {
    try await withCheckedThrowingContinuation { continuation in
      let (result, mustRead) = state.withLock { state in
        state.reservation = nil
        let result = Self.nextResult(&state)
        if result == nil { state.waiting = continuation }
        return (result, Self.takePostponedRead(&state))
      }
      if mustRead { channel.read() }
      result.map { continuation.resume(with: $0) }
    }
  }

  private static func nextResult(_ state: inout State) -> Result<Request?, any Error>? {
    if let next = state.requests.popFirst() {
      state.reservation = next.reservation
      return .success(next.request)
    }
    guard state.isOver else { return nil }
    defer { state.failure = nil }
    return state.failure.map { .failure($0) } ?? .success(nil)
  }

  /// Whether a postponed read has to happen now.
  private static func takePostponedRead(_ state: inout State) -> Bool {
    guard state.isReadPostponed, !state.isFull else { return false }
    state.isReadPostponed = false
    return true
  }

  /// Notes the executor of the answering task, so that its work ends when the client has gone.
  func note(_ executor: WorkExecutor) {
    let hasGone = state.withLock { state in
      state.executor = executor
      return state.hasGone
    }
    if hasGone { executor.clientLeft() }
  }

  /// The memory and the slot of the request that ``next()`` returned last. They are kept until the next call of it.
  var reservation: RequestReservation? { state.withLock { $0.reservation } }

  // MARK: On the event loop

  /// Notes that the client sends nothing more, or has gone.
  func clientClosed(hasGone: Bool) {
    let executor = state.withLock { state in
      state.hasGone = state.hasGone || hasGone
      return state.executor
    }
    if hasGone { executor?.clientLeft() } else { executor?.clientClosedItsSide() }
  }

  /// Adds a request, unless the queue has ended.
  /// - Parameter reservation: its memory and its slot, kept while it is being answered.
  func append(_ request: Request, _ reservation: RequestReservation? = nil) {
    let waiting = state.withLock { state -> CheckedContinuation<Request?, any Error>? in
      guard !state.isOver else { return nil }
      if let waiting = state.waiting {
        state.waiting = nil
        state.reservation = reservation
        return waiting
      }
      state.requests.append((request, reservation))
      return nil
    }
    waiting?.resume(returning: request)
  }

  /// Ends the queue after the requests that wait in it.
  /// - Parameter failure: the parser's error, if that is the reason.
  func finish(_ failure: HTTPParserError?) {
    let waiting = state.withLock { state -> CheckedContinuation<Request?, any Error>? in
      guard !state.isOver else { return nil }
      state.isOver = true
      state.isBodyFull = false
      guard let waiting = state.waiting else {
        state.failure = failure
        return nil
      }
      state.waiting = nil
      return waiting
    }
    if let failure { waiting?.resume(throwing: failure) } else { waiting?.resume(returning: nil) }
  }

  /// Removes the requests that wait, and ends the queue.
  func drop() {
    let waiting = state.withLock { state -> CheckedContinuation<Request?, any Error>? in
      state.requests.removeAll()
      state.isOver = true
      state.isBodyFull = false
      state.failure = nil
      defer { state.waiting = nil }
      return state.waiting
    }
    waiting?.resume(returning: nil)
  }

  /// Whether the channel may read. If not, the queue makes it read later.
  func mayRead() -> Bool {
    state.withLock { state in
      state.isReadPostponed = state.isFull
      return !state.isReadPostponed
    }
  }

  /// Notes whether the current body has to wait for its reader.
  func noteBody(isFull: Bool) {
    let mustRead = state.withLock { state in
      state.isBodyFull = isFull
      return Self.takePostponedRead(&state)
    }
    if mustRead { channel.read() }
  }
}

/// The last handler of an HTTP/1 connection: assembles requests for ``RequestQueue``.
///
/// A request without a body, or whose body comes with its head, is handed over whole. Any other body is an asynchronous
/// sequence, and the connection is read only as fast as that sequence is.
final class RequestHandler: ChannelInboundHandler, ChannelOutboundHandler {
  typealias InboundIn = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  private typealias Body = NIOThrowingAsyncSequenceProducer<
    ByteBuffer, any Error, NIOAsyncSequenceProducerBackPressureStrategies.HighLowWatermark,
    BodyReader
  >

  private let queue: RequestQueue
  private let state: ConnectionState?
  /// The head of a request that is not handed over yet.
  private var head: HTTPRequest?
  /// The memory and the slot of that request.
  private var reservation: RequestReservation?
  /// The part of its body that has come.
  private var beginning = ByteBuffer()
  /// The rest of the body of a request that was handed over.
  private var rest: Body.Source?
  private var isOver = false

  /// - Parameter state: supplies the ``RequestReservation`` of each request; nil for a connection without accounting.
  init(_ queue: RequestQueue, _ state: ConnectionState? = nil) {
    self.queue = queue
    self.state = state
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isOver else { return }
    switch unwrapInboundIn(data) {
    case .head(let head):
      self.head = head
      reservation = state?.reservation
    case .body(var bytes):
      if head == nil {
        deliver(bytes)
      } else if beginning.readableBytes == 0 {
        beginning = bytes
      } else {
        beginning.writeBuffer(&bytes)
      }
    case .end:
      if let head {
        self.head = nil
        append(Request(head: head, body: RequestBody(buffer: takeBeginning())))
      } else if let rest {
        rest.finish()
        self.rest = nil
        queue.noteBody(isFull: false)
      }
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    handOverUnfinished()
    context.fireChannelReadComplete()
  }

  func read(context: ChannelHandlerContext) {
    if queue.mayRead() { context.read() }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    finish(error)
    context.fireErrorCaught(error)
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if let event = event as? ChannelEvent, event == .inputClosed {
      finish(nil)
      queue.clientClosed(hasGone: false)
    }
    if event is LastAnswer { queue.drop() }
    context.fireUserInboundEventTriggered(event)
  }

  func channelInactive(context: ChannelHandlerContext) {
    finish(nil)
    queue.clientClosed(hasGone: true)
    context.fireChannelInactive()
  }

  func handlerRemoved(context: ChannelHandlerContext) { finish(nil) }

  private func finish(_ error: (any Error)?) {
    guard !isOver else { return }
    handOverUnfinished()
    isOver = true
    // A body without an end is incomplete, even if the parser reports no error.
    rest?.finish(error ?? HTTPParserError.invalidEOFState)
    rest = nil
    queue.finish(error as? HTTPParserError)
  }

  /// Hands over a request whose body is incomplete.
  private func handOverUnfinished() {
    guard let head, !isOver else { return }
    self.head = nil
    let body = Body.makeSequence(
      elementType: ByteBuffer.self, failureType: (any Error).self,
      backPressureStrategy: .init(lowWatermark: 2, highWatermark: 10), finishOnDeinit: true,
      delegate: BodyReader(queue: queue))
    rest = body.source
    if beginning.readableBytes > 0 { deliver(takeBeginning()) }
    append(Request(head: head, body: RequestBody(asyncSequence: body.sequence)))
  }

  private func append(_ request: Request) {
    queue.append(request, reservation)
    reservation = nil
  }

  private func deliver(_ bytes: ByteBuffer) {
    if case .stopProducing? = rest?.yield(bytes) { queue.noteBody(isFull: true) }
  }

  private func takeBeginning() -> ByteBuffer {
    defer { beginning = ByteBuffer() }
    return beginning
  }
}

/// Resumes reading when the reader of a body wants more, or has stopped.
private struct BodyReader: NIOAsyncSequenceProducerDelegate {
  let queue: RequestQueue

  func produceMore() {
    // On the event loop, so that it runs after the `noteBody(isFull: true)` that it answers.
    queue.channel.eventLoop.execute { queue.noteBody(isFull: false) }
  }

  func didTerminate() { produceMore() }
}
