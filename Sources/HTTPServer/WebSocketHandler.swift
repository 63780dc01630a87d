import NIOCore
import NIOWebSocket

/// The last handler of a WebSocket connection: puts the client's messages together for ``WebSocketQueue``, answers pings,
/// and closes the connection (RFC 6455, sections 5 and 7).
final class WebSocketHandler: ChannelInboundHandler, ChannelOutboundHandler {
  typealias InboundIn = WebSocketFrame
  typealias OutboundIn = WebSocketFrame
  typealias OutboundOut = WebSocketFrame

  /// How long a client may take to answer a close frame: LiteCore itself waits for five seconds.
  private static let closing = TimeAmount.seconds(5)

  private let queue: WebSocketQueue
  /// The parts of a message in several frames; nil while there is no such message.
  private var parts: ByteBuffer?
  private var isText = false
  /// The client's last ping that is not answered yet (RFC 6455, section 5.5.3). It is answered as soon as the client reads.
  private var ping: ByteBuffer?
  private var isClosing = false

  init(_ queue: WebSocketQueue) { self.queue = queue }

  func handlerAdded(context: ChannelHandlerContext) {
    // The queue of HTTP requests may have postponed the last read.
    context.read()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    queue.noteArrival()
    guard !isClosing else { return }
    let frame = unwrapInboundIn(data)
    guard frame.maskKey != nil, !frame.rsv1, !frame.rsv2, !frame.rsv3 else {
      return fail(context)
    }
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
    case .connectionClose: echo(frame.unmaskedData, context)
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

  /// Answers a close frame with its own code, and closes the connection.
  private func echo(_ data: ByteBuffer, _ context: ChannelHandlerContext) {
    isClosing = true
    queue.finish()
    let frame = WebSocketFrame(fin: true, opcode: .connectionClose, data: data)
    let channel = context.channel
    context.writeAndFlush(wrapOutboundOut(frame)).assumeIsolated().whenComplete { _ in
      channel.close(promise: nil)
    }
  }

  private func fail(_ context: ChannelHandlerContext) {
    Self.close(context.channel, .protocolError, ByteBuffer())
  }

  /// Sends a close frame, waits for the client's, and closes the connection.
  static func close(_ channel: any Channel, _ code: WebSocketErrorCode, _ reason: ByteBuffer) {
    guard
      let handler = try? channel.pipeline.syncOperations.handler(type: WebSocketHandler.self),
      !handler.isClosing
    else { return channel.close(promise: nil) }
    handler.isClosing = true
    handler.queue.finish()
    var (data, reason) = (ByteBuffer(), reason)
    data.write(webSocketErrorCode: code)
    data.writeBuffer(&reason)
    let frame = WebSocketFrame(fin: true, opcode: .connectionClose, data: data)
    channel.pipeline.syncOperations.writeAndFlush(NIOAny(frame), promise: nil)
    channel.close(mode: .output, promise: nil)
    channel.eventLoop.scheduleTask(in: closing) { channel.close(promise: nil) }
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
      queue.finish()
      context.close(promise: nil)
    }
    context.fireUserInboundEventTriggered(event)
  }

  func channelInactive(context: ChannelHandlerContext) {
    queue.finish()
    context.fireChannelInactive()
  }

  func handlerRemoved(context: ChannelHandlerContext) { queue.finish() }
}
