import HTTPTypes
import HummingbirdCore
import Lanes
package import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import Synchronization

/// The requests of one HTTP/1 connection for the task that answers them one after the other: what
/// `NIOAsyncChannel` is to Hummingbird, for whole requests and whole answers instead of their parts.
///
/// A request that came in one piece crosses from the connection's event loop to the task once, and its
/// answer once back; both cost a lock and no more. ``RequestHandler`` is its end in the pipeline.
package final class RequestQueue: ServerChildChannelValue {
  /// Requests that wait for their turn before nothing more is read from the client.
  static let readAhead = 2

  private struct State {
    var requests = CircularBuffer<(request: Request, hold: RequestHold?)>()
    /// What the request that is being answered holds.
    var hold: RequestHold?
    /// The task that waits for a request.
    var waiting: CheckedContinuation<Request?, any Error>?
    /// Whether no more requests come.
    var isOver = false
    /// What the parser stopped at, until it is told.
    var failure: HTTPParserError?
    /// Whether the body that is on its way is to wait.
    var isBodyFull = false
    /// What the task that answers runs on, once it has begun.
    var executor: WorkExecutor?
    /// Whether the client has gone.
    var hasGone = false
    /// Whether a reading of the channel's was put off.
    var isReadHeld = false

    var isFull: Bool { isBodyFull || requests.count >= RequestQueue.readAhead }
  }

  /// The connection.
  package let channel: any Channel
  private let state = Mutex(State())

  init(_ channel: any Channel) {
    self.channel = channel
    // Whatever else is in its pipeline: a reset may find a handler there that keeps it to itself.
    channel.closeFuture.whenComplete { [weak self] _ in self?.clientClosed(hasGone: true) }
  }

  /// The next request; nil when there are no more. For one task.
  /// - Throws: what the parser stopped at.
  func next() async throws -> Request? {
    try await withCheckedThrowingContinuation { continuation in
      let (turn, mustRead) = state.withLock { state in
        state.hold = nil
        let turn = Self.turn(&state)
        if turn == nil { state.waiting = continuation }
        return (turn, Self.unholds(&state))
      }
      if mustRead { channel.read() }
      turn.map { continuation.resume(with: $0) }
    }
  }

  private static func turn(_ state: inout State) -> Result<Request?, any Error>? {
    if let next = state.requests.popFirst() {
      state.hold = next.hold
      return .success(next.request)
    }
    guard state.isOver else { return nil }
    defer { state.failure = nil }
    return state.failure.map { .failure($0) } ?? .success(nil)
  }

  /// Whether a reading that was put off is to be done now.
  private static func unholds(_ state: inout State) -> Bool {
    guard state.isReadHeld, !state.isFull else { return false }
    state.isReadHeld = false
    return true
  }

  /// Says what the task that answers runs on, so that its work ends with its client.
  func note(_ executor: WorkExecutor) {
    let hasGone = state.withLock { state in
      state.executor = executor
      return state.hasGone
    }
    if hasGone { executor.clientLeft() }
  }

  /// What the request that ``next()`` gave last holds; it is kept until the next is asked for.
  var hold: RequestHold? { state.withLock { $0.hold } }

  // MARK: The event loop's side

  /// The client sends nothing any more, or has gone.
  func clientClosed(hasGone: Bool) {
    let executor = state.withLock { state in
      state.hasGone = state.hasGone || hasGone
      return state.executor
    }
    if hasGone { executor?.clientLeft() } else { executor?.clientClosedItsSide() }
  }

  /// Hands over a request, unless the last answer was given.
  /// - Parameter hold: what it holds, for as long as it is being answered.
  func append(_ request: Request, _ hold: RequestHold? = nil) {
    let waiting = state.withLock { state -> CheckedContinuation<Request?, any Error>? in
      guard !state.isOver else { return nil }
      if let waiting = state.waiting {
        state.waiting = nil
        state.hold = hold
        return waiting
      }
      state.requests.append((request, hold))
      return nil
    }
    waiting?.resume(returning: request)
  }

  /// Says that no more requests come, to be told after those that wait.
  /// - Parameter failure: what the parser stopped at, if that is why.
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

  /// Forgets the requests that wait for their turn; no more come.
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

  /// Whether the channel may read; it is told to when it may again.
  func mayRead() -> Bool {
    state.withLock { state in
      state.isReadHeld = state.isFull
      return !state.isReadHeld
    }
  }

  /// Notes whether the body that is on its way has to wait for its reader.
  func noteBody(isFull: Bool) {
    let mustRead = state.withLock { state in
      state.isBodyFull = isFull
      return Self.unholds(&state)
    }
    if mustRead { channel.read() }
  }
}

/// The last handler of an HTTP/1 connection: puts requests together for ``RequestQueue``.
///
/// A request whose body comes with its head, or that has none, is handed over whole; of another the body is a
/// sequence, and the connection is read only as fast as that is.
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
  /// What that request holds.
  private var hold: RequestHold?
  /// What has come of its body.
  private var beginning = ByteBuffer()
  /// The rest of the body of a request that was handed over.
  private var rest: Body.Source?
  private var isOver = false

  /// - Parameter state: says what each request holds; nil for a connection that accounts for nothing.
  init(_ queue: RequestQueue, _ state: ConnectionState? = nil) {
    self.queue = queue
    self.state = state
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isOver else { return }
    switch unwrapInboundIn(data) {
    case .head(let head):
      self.head = head
      hold = state?.hold
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
    // A body that nobody ended has broken off, whatever the parser says of it.
    rest?.finish(error ?? HTTPParserError.invalidEOFState)
    rest = nil
    queue.finish(error as? HTTPParserError)
  }

  /// Hands over a request of which more is to come.
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
    queue.append(request, hold)
    hold = nil
  }

  private func deliver(_ bytes: ByteBuffer) {
    if case .stopProducing? = rest?.yield(bytes) { queue.noteBody(isFull: true) }
  }

  private func takeBeginning() -> ByteBuffer {
    defer { beginning = ByteBuffer() }
    return beginning
  }
}

/// Goes on reading when a body's reader wants more of it, or will never want it.
private struct BodyReader: NIOAsyncSequenceProducerDelegate {
  let queue: RequestQueue

  func produceMore() {
    // On the event loop, so that it comes after what it answers.
    queue.channel.eventLoop.execute { queue.noteBody(isFull: false) }
  }

  func didTerminate() { produceMore() }
}
