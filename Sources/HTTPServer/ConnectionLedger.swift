import Glibc
package import HummingbirdCore
package import IPAddresses
package import Logging
package import NIOCore
import Synchronization

/// Counts the open connections: all of them, and those of each address.
package final class ConnectionLedger: Sendable {
  /// The counts that operators see.
  package struct Counts: Sendable, Equatable {
    package var open = 0
    /// Connections that were refused since the start.
    package var refused = 0
  }

  private struct State {
    var counts = Counts()
    var byAddress: [ClientAddress: Int] = [:]
    /// Refused connections that are still open to be answered.
    var lingering = 0
  }

  private let maximum: Int
  private let maximumPerAddress: Int
  private let maximumLingering: Int
  private let state = Mutex(State())
  /// The turns of the addresses on the event loops, which serve all ports.
  let turns = PerEventLoop { NIOLoopBound(ReadTurns(on: $0), eventLoop: $0) }

  /// A ledger without connections.
  /// - Parameter maximum: connections at once.
  /// - Parameter maximumPerAddress: connections at once from one address.
  /// - Parameter maximumLingering: refused connections that are answered at once, at most. Each of them takes a file
  ///   descriptor beyond `maximum`.
  package init(
    maximum: Int = RequestLimits.connections,
    maximumPerAddress: Int = RequestLimits.connectionsPerAddress, maximumLingering: Int = 32
  ) {
    self.maximum = maximum
    self.maximumLingering = maximumLingering
    self.maximumPerAddress = maximumPerAddress
  }

  /// How many connections are open and how many were refused.
  package var counts: Counts { state.withLock { $0.counts } }

  /// The addresses with the most connections, the most first.
  package func busiest(_ limit: Int) -> [(address: String, connections: Int)] {
    let all = state.withLock { $0.byAddress }
    return all.sorted { $0.value > $1.value }.prefix(limit).map { ($0.key.prefix, $0.value) }
  }

  /// Counts a connection if the limits allow it.
  /// - Parameter address: the address that it comes from; nil if it counts for no address, such as a proxy's.
  /// - Returns: whether it is allowed; then call ``leave(_:)`` when it closes.
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

  /// Counts a refused connection, if the limit allows that it is answered.
  /// - Returns: whether it is answered; then call ``endLingering()`` when it closes.
  func beginLingering() -> Bool {
    state.withLock { state in
      guard state.lingering < maximumLingering else { return false }
      state.lingering += 1
      return true
    }
  }

  /// Removes a refused connection from the count.
  func endLingering() { state.withLock { $0.lingering -= 1 } }

  /// Removes an allowed connection from the count.
  func leave(_ address: ClientAddress?) {
    state.withLock { state in
      state.counts.open -= 1
      guard let address, let count = state.byAddress[address] else { return }
      state.byAddress[address] = count > 1 ? count - 1 : nil
    }
  }
}

/// Counts connections and refuses those above the limits; `Inner` serves the others. A refused connection gets an
/// answer before it is closed. In a flood most are closed without one, because each takes a file descriptor that the
/// server needs.
package struct CountedConnection<Inner: ServerChildChannel>: ServerChildChannel {
  /// A connection, served or refused.
  package struct Value: ServerChildChannelValue {
    /// The connection that is served; nil for a refused one.
    let inner: Inner.Value?
    package let channel: any Channel
  }

  private let inner: Inner
  private let ledger: ConnectionLedger
  private let address: @Sendable (SocketAddress?) -> ClientAddress?
  private let isProxy: @Sendable (String) -> Bool
  private let refusal: ByteBuffer?

  /// - Parameter isSecure: whether connections run over TLS; a refused one is then closed without an answer.
  /// - Parameter answers: supplies the answer to a refused connection.
  /// - Parameter address: the address that a connection counts for; nil for none.
  package init(
    _ inner: Inner, ledger: ConnectionLedger, isSecure: Bool, answers: any RequestAnswering,
    address: @escaping @Sendable (SocketAddress?) -> ClientAddress?
  ) {
    self.inner = inner
    self.ledger = ledger
    self.address = address
    isProxy = answers.isProxy
    refusal = isSecure ? nil : answers.lastAnswer(.overloaded)
  }

  package func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
    let address = address(channel.remoteAddress)
    guard ledger.enter(address) else {
      let isAnswered = refusal != nil && ledger.beginLingering()
      if isAnswered { channel.closeFuture.whenComplete { [ledger] _ in ledger.endLingering() } }
      return channel.eventLoop.makeCompletedFuture {
        try channel.pipeline.syncOperations.addHandler(
          ConnectionRefuser(isAnswered ? refusal : nil))
        return Value(inner: nil, channel: channel)
      }
    }
    channel.closeFuture.whenComplete { [ledger] _ in ledger.leave(address) }
    do { try share(channel) } catch { return channel.eventLoop.makeFailedFuture(error) }
    return inner.setup(channel: channel, logger: logger).map {
      Value(inner: $0, channel: channel)
    }
  }

  /// The most bytes that the system keeps of a connection besides those on their way: 256 KiB. Else it takes megabytes of
  /// each, which no account counts, and the event loop copies them before it looks at another socket.
  private static var unsentBytes: Int { 256 << 10 }

  /// Lets a connection take no more of the event loop than its share: limits its answers, and lets its reads wait for the
  /// turn of its address. A proxy's are many people's and do not wait.
  private func share(_ channel: any Channel) throws {
    guard let peer = channel.remoteAddress?.ipAddress else { return }
    try? channel.syncOptions?.setOption(
      .tcpOption(NIOBSDSocket.Option(rawValue: TCP_NOTSENT_LOWAT)), value: Self.unsentBytes)
    guard !isProxy(peer) else { return }
    try channel.pipeline.syncOperations.addHandler(
      ReadTurnHandler(ledger.turns[channel.eventLoop].value, ClientAddress(peer)))
  }

  package func handle(value: Value, logger: Logger) async {
    guard let inner = value.inner else {
      try? await value.channel.closeFuture.get()
      return
    }
    await self.inner.handle(value: inner, logger: logger)
  }
}

/// Answers that there are too many connections, and closes the connection.
private final class ConnectionRefuser: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let message: ByteBuffer?

  init(_ message: ByteBuffer?) { self.message = message }

  func channelActive(context: ChannelHandlerContext) {
    guard let message else { return context.close(promise: nil) }
    context.writeAndFlush(wrapOutboundOut(message), promise: nil)
    context.close(lingering: ConnectionLimits().linger)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {}
}
