package import Accounts
package import HummingbirdCore
package import Logging
package import NIOCore

/// A connection of another kind that is counted: one too many is told so and closed; of a flood, which would take
/// the descriptors that the server needs, all but a few are closed without a word.
package struct CountedConnection<Inner: ServerChildChannel>: ServerChildChannel {
  /// What becomes of a connection.
  package struct Value: ServerChildChannelValue {
    /// The connection that is served; nil for one that is not.
    let inner: Inner.Value?
    /// The channel.
    package let channel: any Channel
  }

  private let inner: Inner
  private let ledger: ConnectionLedger
  private let address: @Sendable (SocketAddress?) -> ClientAddress?
  private let refusal: ByteBuffer?

  /// - Parameter isSecure: whether it runs over TLS; one too many is closed without a word then.
  /// - Parameter address: whom a connection counts for; nil for nobody.
  package init(
    _ inner: Inner, ledger: ConnectionLedger, isSecure: Bool,
    address: @escaping @Sendable (SocketAddress?) -> ClientAddress?
  ) {
    self.inner = inner
    self.ledger = ledger
    self.address = address
    refusal = isSecure ? nil : ConnectionProblem.overloaded.buffer
  }

  package func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
    let address = address(channel.remoteAddress)
    guard ledger.enter(address) else {
      let isTold = refusal != nil && ledger.beginLingering()
      if isTold { channel.closeFuture.whenComplete { [ledger] _ in ledger.endLingering() } }
      return channel.eventLoop.makeCompletedFuture {
        try channel.pipeline.syncOperations.addHandler(ConnectionRefusal(isTold ? refusal : nil))
        return Value(inner: nil, channel: channel)
      }
    }
    channel.closeFuture.whenComplete { [ledger] _ in ledger.leave(address) }
    return inner.setup(channel: channel, logger: logger).map {
      Value(inner: $0, channel: channel)
    }
  }

  package func handle(value: Value, logger: Logger) async {
    guard let inner = value.inner else {
      try? await value.channel.closeFuture.get()
      return
    }
    await self.inner.handle(value: inner, logger: logger)
  }
}

/// Says that there are too many connections, and closes.
private final class ConnectionRefusal: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let words: ByteBuffer?

  init(_ words: ByteBuffer?) { self.words = words }

  func channelActive(context: ChannelHandlerContext) {
    guard let words else { return context.close(promise: nil) }
    context.writeAndFlush(wrapOutboundOut(words), promise: nil)
    ConnectionProblem.linger(context, ConnectionLimits().linger)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {}
}
