import NIOCore
import NIOWebSocket

/// The last handler of a WebSocket connection: puts the client's messages together for ``WebSocketQueue``, answers pings,
/// and closes the connection (RFC 6455, sections 5 and 7).
final class WebSocketHandler: ChannelInboundHandler, ChannelOutboundHandler {
  typealias InboundIn = WebSocketFrame
  typealias OutboundIn = WebSocketFrame
  typealias OutboundOut = WebSocketFrame

  /// How long either side may take to answer a close frame: LiteCore itself waits for five seconds.
  private static let closing = TimeAmount.seconds(5)

  private let queue: WebSocketQueue
  /// The parts of a message in several frames; nil while there is no such message.
  private var parts: ByteBuffer?
  private var isText = false
  /// The client's last ping that is not answered yet (RFC 6455, section 5.5.3). It is answered as soon as the client reads.
  private var ping: ByteBuffer?
  private var isClosing = false
  /// The data of the client's close frame until that is answered; nil for none.
  private var closeData: ByteBuffer?
  /// Complete when the server's close frame is sent, and all that precedes it; nil before there is one.
  private var sentClose: EventLoopFuture<Void>?
  /// Whether the client sends nothing more.
  private var isInputClosed = false

  init(_ queue: WebSocketQueue) { self.queue = queue }

  func handlerAdded(context: ChannelHandlerContext) {
    // The queue of HTTP requests may have postponed the last read.
    context.read()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    queue.noteArrival()
    let frame = unwrapInboundIn(data)
    guard !isClosing else {
      // The answer to the server's close frame, or one that was sent at the same time.
      if frame.opcode == .connectionClose, closeData == nil { end(context.channel) }
      return
    }
    guard frame.maskKey != nil, !frame.rsv1, !frame.rsv2, !frame.rsv3 else { return fail(context) }
    switch frame.opcode {
    case .binary, .text:
      guard parts == nil else { return fail(context) }
      isText = frame.opcode == .text
      parts = ByteBuffer()
      add(frame, context)
    case .continuation: add(frame, context)
    case .ping:
      ping = frame.unmaskedData
      answerPing(context)
    case .pong: break
    case .connectionClose:
      (isClosing, closeData) = (true, frame.unmaskedData)
      awaitClosing(context)
    default: fail(context)
    }
  }

  /// Answers a ping. A client that asks and does not read gets one answer later.
  private func answerPing(_ context: ChannelHandlerContext) {
    guard let data = ping, context.channel.isWritable, !isClosing else { return }
    ping = nil
    let pong = WebSocketFrame(fin: true, opcode: .pong, data: data)
    context.writeAndFlush(wrapOutboundOut(pong), promise: nil)
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    answerPing(context)
    context.fireChannelWritabilityChanged()
  }

  private func add(_ frame: WebSocketFrame, _ context: ChannelHandlerContext) {
    guard var whole = parts else { return fail(context) }
    parts = nil
    var data = frame.unmaskedData
    guard whole.readableBytes + data.readableBytes <= WebSocketConnection.messageBytes else {
      return Self.close(context.channel, .messageTooLarge, ByteBuffer())
    }
    whole.writeBuffer(&data)
    guard frame.fin else {
      parts = whole
      return
    }
    // No message of text has a meaning.
    if !isText { queue.append(Array(whole.readableBytesView)) }
  }

  /// Lets the reader of the queue handle what came before the end; then it closes the connection.
  private func awaitClosing(_ context: ChannelHandlerContext) {
    queue.finish()
    let channel = context.channel
    channel.eventLoop.scheduleTask(in: Self.closing) {
      // A half-closed connection ends without a code: after this one clients of Couchbase Lite stop for good.
      let handler = try? channel.pipeline.syncOperations.handler(type: WebSocketHandler.self)
      if handler?.closeData != nil { Self.close(channel, .goingAway, ByteBuffer()) }
      channel.close(promise: nil)
    }
  }

  private func fail(_ context: ChannelHandlerContext) {
    Self.close(context.channel, .protocolError, ByteBuffer())
  }

  /// Closes the connection. The client's close frame is answered with its own code. Without one the server sends its own,
  /// and waits for the client's: Couchbase Lite 2.8 takes no notice of a connection that ends before it has answered.
  static func close(_ channel: any Channel, _ code: WebSocketErrorCode, _ reason: ByteBuffer) {
    guard let handler = try? channel.pipeline.syncOperations.handler(type: WebSocketHandler.self)
    else { return channel.close(promise: nil) }
    guard !handler.isClosing || handler.closeData != nil else { return handler.end(channel) }
    let isLast = handler.isInputClosed || handler.closeData != nil
    var data = handler.closeData ?? ByteBuffer()
    if handler.closeData == nil {
      var reason = reason
      data.write(webSocketErrorCode: code)
      data.writeBuffer(&reason)
    }
    (handler.isClosing, handler.closeData) = (true, nil)
    handler.queue.finish()
    let frame = WebSocketFrame(fin: true, opcode: .connectionClose, data: data)
    let sent = channel.eventLoop.makePromise(of: Void.self)
    handler.sentClose = sent.futureResult
    channel.pipeline.syncOperations.writeAndFlush(NIOAny(frame), promise: sent)
    guard !isLast else { return handler.end(channel) }
    // A read may have been postponed, and the answer is behind what comes first.
    channel.read()
    channel.eventLoop.scheduleTask(in: closing) { channel.close(promise: nil) }
  }

  /// Ends the connection, but not before the server's close frame is sent: the end would drop what waits.
  private func end(_ channel: any Channel) {
    sentClose?.whenComplete { _ in channel.close(promise: nil) }
  }

  func read(context: ChannelHandlerContext) {
    if queue.mayRead() { context.read() }
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    switch error as? NIOWebSocketError {
    case .invalidFrameLength?: Self.close(context.channel, .messageTooLarge, ByteBuffer())
    case _?: fail(context)
    case nil: context.close(promise: nil)
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if let event = event as? ChannelEvent, event == .inputClosed {
      isInputClosed = true
      if isClosing, closeData == nil {
        end(context.channel)
      } else {
        awaitClosing(context)
      }
    }
    context.fireUserInboundEventTriggered(event)
  }

  func channelInactive(context: ChannelHandlerContext) {
    queue.finish()
    context.fireChannelInactive()
  }

  func handlerRemoved(context: ChannelHandlerContext) { queue.finish() }
}
