import IPAddresses
import NIOCore

/// The first handler of a connection: measures how long its event loop works for what the client sends, and keeps the
/// bytes while the client's address has to wait for its turn (``ReadTurns``), or for the next one if they take longer than
/// ``longestTurn``. Meanwhile it reads nothing more.
final class ReadTurnHandler: ChannelDuplexHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  /// The most bytes that are kept: four reads, after which NIO looks at another socket.
  static let longestKept = 256 << 10
  /// The most bytes that are kept of an address with little while all keep much (``ReadTurns/mostKept``).
  private static let shortestKept = 16 << 10
  /// The most bytes that are kept of a client that sends nothing more: before its end NIO reads all that the system has,
  /// which may be megabytes. A connection with more ends.
  static let longestEnd = 1 << 20
  /// The most bytes that are handled in one piece: a record of TLS. They may be thousands of chunks or of frames.
  static let portionBytes = 16 << 10
  /// How long bytes are handled before the others wait for the connection's next turn.
  static let longestTurn = TimeAmount.milliseconds(2)

  private let turns: ReadTurns
  private let address: ClientAddress
  private let flow: ReadFlow
  private var context: ChannelHandlerContext?
  /// The bytes that wait, in one read after the other; empty for none.
  private var kept = CircularBuffer<ByteBuffer>()
  private var keptBytes = 0 {
    didSet {
      flow.keptBytes += keptBytes - oldValue
      turns.keptBytes += keptBytes - oldValue
    }
  }
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
    drop()
    turns.leave(flow, address)
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let bytes = unwrapInboundIn(data)
    let isNext = kept.isEmpty && (start == nil ? turns.mayRead(flow) : !isLong)
    if isNext, bytes.readableBytes <= Self.portionBytes {
      start = start ?? turns.now
      return context.fireChannelRead(data)
    }
    kept.append(bytes)
    keptBytes += bytes.readableBytes
    if isNext {
      pass(context)
    } else if keptBytes > Self.longestKept {
      if !isLong { pass(context) }
      if keptBytes > Self.longestEnd { context.close(promise: nil) }
    } else if keptBytes > Self.shortestKept {
      switch turns.room(for: flow) {
      case .enough: break
      case .little: pass(context, all: true)
      case .none: context.close(promise: nil)
      }
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    if kept.isEmpty || start != nil { finish(context) }
    lineUp()
  }

  func read(context: ChannelHandlerContext) {
    if kept.isEmpty { context.read() } else { wantsRead = true }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if isQueued, !kept.isEmpty, case .inputClosed? = event as? ChannelEvent {
      keepsEnd = true
      return
    }
    takeTurn(all: true)
    context.fireUserInboundEventTriggered(event)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    drop()
    context.fireErrorCaught(error)
  }

  func channelInactive(context: ChannelHandlerContext) {
    isOver = true
    drop()
    context.fireChannelInactive()
    charge()
  }

  /// Handles bytes that have waited, and the end of what the client sends if nothing waits any more.
  func takeTurn(all: Bool = false) {
    isQueued = false
    guard let context, !kept.isEmpty else { return }
    pass(context, all: all)
    finish(context)
    lineUp()
    guard keepsEnd, kept.isEmpty, !isOver else { return }
    keepsEnd = false
    context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
  }

  /// Waits for a turn, or for the next one, if bytes wait.
  private func lineUp() {
    guard !kept.isEmpty, !isQueued else { return }
    isQueued = true
    turns.wait(self, .init(bytes: keptBytes, after: reads), of: flow)
  }

  /// Hands bytes on, one portion after the other, until that has taken a turn.
  private func pass(_ context: ChannelHandlerContext, all: Bool = false) {
    start = start ?? turns.now
    while !isOver, var rest = kept.popFirst() {
      let length = min(rest.readableBytes, Self.portionBytes)
      let portion = rest.readSlice(length: length) ?? ByteBuffer()
      if rest.readableBytes > 0 { kept.prepend(rest) }
      keptBytes -= length
      context.fireChannelRead(wrapInboundOut(portion))
      if isLong, !all { return }
    }
  }

  /// Whether the present read has taken a turn.
  private var isLong: Bool { start.map { turns.now - $0 >= Self.longestTurn } ?? false }

  /// Forgets bytes whose client has gone: nobody waits for what they ask.
  private func drop() {
    kept.removeAll()
    keptBytes = 0
  }

  private func finish(_ context: ChannelHandlerContext) {
    guard !isOver else { return }
    context.fireChannelReadComplete()
    reads &+= 1
    charge()
    guard wantsRead, kept.isEmpty else { return }
    wantsRead = false
    // From the end of the pipeline: its handlers have just been told that the server reads nothing more.
    context.channel.read()
  }

  /// Counts the time of the present read, also of one that ends its connection.
  private func charge() {
    if let start { turns.use(flow, since: start) }
    start = nil
  }
}
