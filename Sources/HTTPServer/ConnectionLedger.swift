package import HummingbirdCore
package import IPAddresses
package import Logging
package import NIOCore
import Synchronization

/// Counts the connections that are open, all of them and by the address that they come from.
package final class ConnectionLedger: Sendable {
  /// What is counted.
  package struct Counts: Sendable, Equatable {
    /// Connections that are open.
    package var open = 0
    /// Connections that were turned away since the start.
    package var refused = 0
  }

  private struct State {
    var counts = Counts()
    var byAddress: [ClientAddress: Int] = [:]
    /// Connections that are turned away and told so.
    var lingering = 0
  }

  private let maximum: Int
  private let maximumPerAddress: Int
  private let maximumLingering: Int
  private let state = Mutex(State())

  /// A ledger without connections.
  /// - Parameter maximum: connections at once.
  /// - Parameter maximumPerAddress: connections at once from one address.
  /// - Parameter maximumLingering: connections beyond those that are told at once that there are too many: each
  ///   takes a descriptor meanwhile.
  package init(
    maximum: Int = RequestLimits.connections,
    maximumPerAddress: Int = RequestLimits.connectionsPerAddress, maximumLingering: Int = 32
  ) {
    self.maximum = maximum
    self.maximumLingering = maximumLingering
    self.maximumPerAddress = maximumPerAddress
  }

  /// How many there are and were refused.
  package var counts: Counts { state.withLock { $0.counts } }

  /// The addresses with the most connections, the most first.
  package func busiest(_ limit: Int) -> [(address: String, connections: Int)] {
    let all = state.withLock { $0.byAddress }
    return all.sorted { $0.value > $1.value }.prefix(limit).map { ($0.key.prefix, $0.value) }
  }

  /// Counts a connection if there is room for it.
  /// - Parameter address: where it comes from; nil for one that counts for no address, as a proxy's.
  /// - Returns: whether it may stay; then ``leave(_:)`` has to follow.
  func enter(_ address: ClientAddress?) -> Bool {
    state.withLock { state in
      let fromThere = address.map { state.byAddress[$0] ?? 0 } ?? 0
      guard state.counts.open < maximum, address == nil || fromThere < maximumPerAddress else {
        state.counts.refused += 1
        return false
      }
      state.counts.open += 1
      if let address { state.byAddress[address] = fromThere + 1 }
      return true
    }
  }

  /// Counts a connection that is turned away, if there is room to tell it so.
  /// - Returns: whether it may be told; then ``endLingering()`` has to follow.
  func beginLingering() -> Bool {
    state.withLock { state in
      guard state.lingering < maximumLingering else { return false }
      state.lingering += 1
      return true
    }
  }

  /// Takes a connection that was told out again.
  func endLingering() { state.withLock { $0.lingering -= 1 } }

  /// Takes a connection that was counted out again.
  func leave(_ address: ClientAddress?) {
    state.withLock { state in
      state.counts.open -= 1
      guard let address, let count = state.byAddress[address] else { return }
      state.byAddress[address] = count > 1 ? count - 1 : nil
    }
  }
}

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
  /// - Parameter answers: finds the words for one too many.
  /// - Parameter address: whom a connection counts for; nil for nobody.
  package init(
    _ inner: Inner, ledger: ConnectionLedger, isSecure: Bool, answers: any RequestAnswering,
    address: @escaping @Sendable (SocketAddress?) -> ClientAddress?
  ) {
    self.inner = inner
    self.ledger = ledger
    self.address = address
    refusal = isSecure ? nil : answers.lastAnswer(.overloaded)
  }

  package func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
    let address = address(channel.remoteAddress)
    guard ledger.enter(address) else {
      let isTold = refusal != nil && ledger.beginLingering()
      if isTold { channel.closeFuture.whenComplete { [ledger] _ in ledger.endLingering() } }
      return channel.eventLoop.makeCompletedFuture {
        try channel.pipeline.syncOperations.addHandler(ConnectionRefuser(isTold ? refusal : nil))
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
private final class ConnectionRefuser: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let words: ByteBuffer?

  init(_ words: ByteBuffer?) { self.words = words }

  func channelActive(context: ChannelHandlerContext) {
    guard let words else { return context.close(promise: nil) }
    context.writeAndFlush(wrapOutboundOut(words), promise: nil)
    context.close(lingering: ConnectionLimits().linger)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {}
}
