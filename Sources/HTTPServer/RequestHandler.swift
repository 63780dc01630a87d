import HTTPTypes
import HummingbirdCore
import NIOCore
import NIOHTTP1
import NIOHTTPTypes

/// The last handler of an HTTP/1 connection: assembles requests for ``RequestQueue``.
///
/// A request without a body, or whose body comes with its head, is handed over whole. Any other body is an asynchronous
/// sequence, and the connection is read only as fast as that sequence is.
final class RequestHandler: ChannelInboundHandler, ChannelOutboundHandler,
  RemovableChannelHandler
{
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
    if event is LastAnswer { queue.finish(nil, drops: true) }
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
