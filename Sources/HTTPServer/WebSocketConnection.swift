package import HTTPTypes
import HummingbirdCore
package import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOWebSocket
import Scheduling
import Synchronization

/// A connection that has changed from HTTP/1.1 to the WebSocket protocol (RFC 6455): binary messages in and out.
///
/// An answer with the status 101 gets it as the writer of its body. ``write(_:)`` sends one message, ``finish(_:)`` closes
/// the connection. It answers pings by itself.
package struct WebSocketConnection: ResponseBodyWriter {
  /// The most bytes of one message, which the connection holds until it is complete: four times what a client of BLIP
  /// sends.
  package static let messageBytes = 64 << 10

  private let queue: WebSocketQueue

  /// Sends the head of an answer, and changes the protocol in the same turn of the event loop: nothing that the client
  /// sends after it has read the head reaches the parser of HTTP.
  static func open(_ channel: any Channel, _ head: HTTPResponse) async throws -> Self {
    let queue = WebSocketQueue(channel)
    try await channel.eventLoop.submit {
      let pipeline = channel.pipeline.syncOperations
      pipeline.write(NIOAny(HTTPResponsePart.head(head)), promise: nil)
      try Self.removeHTTP(from: pipeline)
      try pipeline.addHandlers(
        ByteToMessageHandler(WebSocketFrameDecoder(maxFrameSize: Self.messageBytes)),
        WebSocketFrameEncoder(), WebSocketHandler(queue))
      pipeline.flush()
    }.get()
    return WebSocketConnection(queue: queue)
  }

  private static func removeHTTP(from pipeline: ChannelPipeline.SynchronousOperations) throws {
    func remove<Handler: RemovableChannelHandler>(_ type: Handler.Type) throws {
      pipeline.removeHandler(context: try pipeline.context(handlerType: type), promise: nil)
    }
    // From the end of the pipeline, so that no handler meets what it does not understand.
    try remove(RequestHandler.self)
    try remove(HTTPConnectionStateHandler.self)
    try remove(RequestLimitHandler.self)
    try remove(RequestCodec.self)
    try remove(ByteToMessageHandler<HTTPRequestDecoder>.self)
    try remove(HTTPResponseEncoder.self)
    try remove(HeaderTimeoutHandler.self)
  }

  /// Calls a closure whenever something has come, or the client has closed the connection.
  package func onArrival(_ action: @escaping @Sendable () -> Void) { queue.onArrival(action) }

  /// Takes the messages that have come since the last call.
  package func takeMessages() -> [[UInt8]] { queue.take() }

  /// When the last bytes of the client came.
  package var lastArrival: ContinuousClock.Instant { queue.lastArrival }

  /// Whether the client has closed the connection, or has broken a rule of the protocol. What came before may still be
  /// taken. ``close(_:_:)`` then answers the client, which waits for 5 seconds.
  package var isOver: Bool { queue.isOver }

  package mutating func write(_ buffer: ByteBuffer) async throws {
    try await send([WebSocketFrame(fin: true, opcode: .binary, data: buffer)])
  }

  /// Sends messages, at least one, together: many short ones take one call of the system.
  package func write(_ messages: [[UInt8]]) async throws {
    try await send(
      messages.map { WebSocketFrame(fin: true, opcode: .binary, data: ByteBuffer(bytes: $0)) })
  }

  /// Asks the client whether it is there.
  package func ping() async throws {
    try await send([WebSocketFrame(fin: true, opcode: .ping, data: ByteBuffer())])
  }

  /// Sends frames. It waits while the client does not read what was sent before.
  private func send(_ frames: [WebSocketFrame]) async throws {
    let channel = queue.channel
    guard channel.isActive, !queue.isOver else { throw ChannelError.ioOnClosedChannel }
    let sent = channel.isWritable ? nil : channel.eventLoop.makePromise(of: Void.self)
    channel.eventLoop.execute {
      let pipeline = channel.pipeline.syncOperations
      for frame in frames.dropLast() { pipeline.write(NIOAny(frame), promise: nil) }
      // The last one is sent after all others.
      if let last = frames.last { pipeline.write(NIOAny(last), promise: sent) }
      pipeline.flush()
    }
    if let sent { try await Work.waiting({ try await sent.futureResult.get() }) }
  }

  /// Closes the connection without a reason, which a client takes for a broken network.
  package consuming func finish(_ trailers: HTTPFields?) async throws {
    queue.channel.close(promise: nil)
  }

  /// Closes the connection with a code and a text for the client.
  package func close(_ code: Int, _ reason: String) {
    let channel = queue.channel
    channel.eventLoop.execute {
      WebSocketHandler.close(
        channel, WebSocketErrorCode(codeNumber: code), ByteBuffer(string: reason))
    }
  }
}

/// What has come on a connection and is not taken yet.
final class WebSocketQueue: Sendable {
  /// The bytes of waiting messages from which on nothing more is read from the client.
  private static let readAheadBytes = 128 << 10

  private struct State {
    var messages: [[UInt8]] = []
    var byteCount = 0
    var isOver = false
    var isReadPostponed = false
    var lastArrival = ContinuousClock.now
    var action: (@Sendable () -> Void)?
  }

  let channel: any Channel
  private let state = Mutex(State())

  init(_ channel: any Channel) { self.channel = channel }

  var isOver: Bool { state.withLock { $0.isOver } }
  var lastArrival: ContinuousClock.Instant { state.withLock { $0.lastArrival } }

  func onArrival(_ action: @escaping @Sendable () -> Void) {
    let mustCall = state.withLock { state in
      state.action = action
      return state.isOver || !state.messages.isEmpty
    }
    if mustCall { action() }
  }

  func take() -> [[UInt8]] {
    let (messages, mustRead) = state.withLock { state in
      defer { (state.messages, state.byteCount, state.isReadPostponed) = ([], 0, false) }
      return (state.messages, state.isReadPostponed)
    }
    if mustRead { channel.read() }
    return messages
  }

  // MARK: On the event loop

  func append(_ message: [UInt8]) {
    let action = state.withLock { state in
      state.messages.append(message)
      // An empty message takes memory too.
      state.byteCount += message.count + 64
      return state.action
    }
    action?()
  }

  func noteArrival() { state.withLock { $0.lastArrival = .now } }

  func finish() {
    let action = state.withLock { state in
      state.isOver = true
      defer { state.action = nil }
      return state.action
    }
    action?()
  }

  /// Whether the channel may read. If not, ``take()`` makes it read later.
  func mayRead() -> Bool {
    state.withLock { state in
      state.isReadPostponed = state.byteCount >= Self.readAheadBytes && !state.isOver
      return !state.isReadPostponed
    }
  }
}
