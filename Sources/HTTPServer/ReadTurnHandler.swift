import IPAddresses
import NIOCore

/// The first handler of a connection: measures how long its event loop works for what the client sends, and keeps the
/// bytes while the client's address has to wait for its turn (``ReadTurns``). Meanwhile it reads nothing more.
final class ReadTurnHandler: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// The most bytes that are kept, unless other connections keep much (``ReadTurns/mostKept``): four reads, after which
  /// NIO looks at another socket.
  static let longestKept = 256 << 10
  /// The most bytes that are kept if they do.
  private static let shortestKept = 16 << 10

  private let turns: ReadTurns
  private let address: ClientAddress
  private let flow: ReadFlow
  private var context: ChannelHandlerContext?
  /// The bytes that wait, in one read after the other; empty for none.
  private var kept: [ByteBuffer] = []
  private var keptBytes = 0
  /// Whether the client sends nothing more behind them.
  private var keepsEnd = false
  private var isQueued = false
  private var reads = 0
  private var wantsRead = false
  /// Whether the connection has ended: nothing follows, neither bytes nor the end of a read.
  private var isOver = false
  /// When the present read began.
  private var start: NIODeadline?

  /// The handler of a connection from this address.
  init(_ turns: ReadTurns, _ address: ClientAddress) {
    (self.turns, self.address) = (turns, address)
    flow = turns.enter(address)
  }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
    _ = takeKept()
    turns.leave(flow, address)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if kept.isEmpty, start != nil || turns.mayRead(flow) {
      start = start ?? turns.now
      return context.fireChannelRead(data)
    }
    let bytes = unwrapInboundIn(data)
    kept.append(bytes)
    keptBytes += bytes.readableBytes
    turns.keptBytes += bytes.readableBytes
    if keptBytes > (turns.keepsMuch ? Self.shortestKept : Self.longestKept) { pass(context) }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    guard kept.isEmpty else {
      if !isQueued {
        isQueued = true
        turns.wait(self, .init(bytes: keptBytes, after: reads), of: flow)
      }
      return
    }
    finish(context)
  }

  func read(context: ChannelHandlerContext) {
    if kept.isEmpty { context.read() } else { wantsRead = true }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if isQueued, !kept.isEmpty, case .inputClosed? = event as? ChannelEvent {
      keepsEnd = true
      return
    }
    passAll(context)
    context.fireUserInboundEventTriggered(event)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    passAll(context)
    context.fireErrorCaught(error)
  }

  func channelInactive(context: ChannelHandlerContext) {
    passAll(context)
    isOver = true
    context.fireChannelInactive()
    charge()
  }

  /// Handles the bytes that have waited.
  func takeTurn() {
    isQueued = false
    guard let context else { return }
    passAll(context)
  }

  private func passAll(_ context: ChannelHandlerContext) {
    guard !kept.isEmpty else { return }
    pass(context)
    finish(context)
    guard keepsEnd, !isOver else { return }
    keepsEnd = false
    context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
  }

  private func pass(_ context: ChannelHandlerContext) {
    start = start ?? turns.now
    for piece in takeKept() where !isOver { context.fireChannelRead(wrapInboundOut(piece)) }
  }

  private func takeKept() -> [ByteBuffer] {
    defer { (kept, keptBytes) = ([], 0) }
    turns.keptBytes -= keptBytes
    return kept
  }

  private func finish(_ context: ChannelHandlerContext) {
    guard !isOver else { return }
    context.fireChannelReadComplete()
    reads &+= 1
    charge()
    guard wantsRead else { return }
    wantsRead = false
    context.read()
  }

  /// Counts the time of the present read, also of one that ends its connection.
  private func charge() {
    if let start { turns.use(flow, since: start) }
    start = nil
  }
}
