import HTTPTypes
import NIOCore
import NIOHTTP1

/// Watches the bytes of an HTTP/1 connection before they are parsed. It answers 408 if a head takes too long, decides
/// how the server answers what the parser refuses, and discards what comes after the last answer.
final class HeaderTimeoutHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let state: ConnectionState
  private let limits: ConnectionLimits
  private let answers: any RequestAnswering
  /// When the first byte of the unfinished head came; nil if no head is unfinished.
  private var began: NIODeadline?
  /// Whether the first line of this head is complete.
  private var hasLine = false
  /// How many bytes of this head have come.
  private var count = 0
  /// A copy of the bytes of this head that came first: it keeps no buffer of a whole read.
  private var beginning = ByteBuffer()
  private var timer: Scheduled<Void>?

  init(_ state: ConnectionState, _ limits: ConnectionLimits, _ answers: any RequestAnswering) {
    self.state = state
    self.answers = answers
    self.limits = limits
  }

  func handlerAdded(context: ChannelHandlerContext) { state.read = { context.read() } }

  func handlerRemoved(context: ChannelHandlerContext) {
    state.read = nil
    timer?.cancel()
  }

  func channelInactive(context: ChannelHandlerContext) {
    timer?.cancel()
    context.fireChannelInactive()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !state.isDraining else { return }
    let marks = state.marks
    let isStart = began == nil && !state.isInBody
    context.fireChannelRead(data)
    if let failure = state.failure {
      let bytes = Self.unwrapInboundIn(data)
      if state.refusal == nil {
        state.refusal = refusal(failure, bytes, isStart: isStart && state.marks == marks)
      }
      if state.marks == marks, !state.isInBody {
        state.refused = Self.request(beginningWith: isStart ? bytes : beginning)
      }
      state.isDraining = true
      began = nil
    } else if state.marks == marks, !state.isInBody {
      // The parser found no complete head and no body: these bytes are a part of a head.
      let bytes = Self.unwrapInboundIn(data)
      hasLine = hasLine || endsLine(bytes)
      count += bytes.readableBytes
      if began == nil {
        began = context.eventLoop.now
        beginning = ByteBuffer(bytes: bytes.readableBytesView.prefix(Self.beginningBytes))
        if timer == nil { schedule(context, in: limits.header) }
      }
    } else {
      began = nil
      hasLine = false
      count = 0
    }
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    if state.isDraining { context.read() }
    context.fireChannelReadComplete()
  }

  private func schedule(_ context: ChannelHandlerContext, in time: TimeAmount) {
    timer = context.eventLoop.assumeIsolated().scheduleTask(in: time) { [self] in
      timer = nil
      guard let began, !state.isDraining else { return }
      let now = context.eventLoop.now
      if state.outstanding > 0 {
        // An earlier request is not answered yet. The time of this head begins when that one is answered.
        self.began = now
        schedule(context, in: limits.header)
      } else if now < began + limits.header {
        schedule(context, in: began + limits.header - now)
      } else {
        cut(context)
      }
    }
  }

  /// Answers a head that is late, and closes the connection.
  private func cut(_ context: ChannelHandlerContext) {
    state.isDraining = true
    let answer = answers.lastAnswer(.slowHead, to: Self.request(beginningWith: beginning))
    context.writeAndFlush(wrapOutboundOut(answer), promise: nil)
    context.close(lingering: limits.linger)
  }

  /// The answer to what the parser refused.
  /// - Parameter isStart: whether the refused head begins with these bytes.
  private func refusal(
    _ failure: HTTPParserError, _ bytes: ByteBuffer, isStart: Bool
  ) -> ConnectionRefusal {
    switch failure {
    case .headerOverflow:
      state.isInBody || hasLine || endsLine(bytes) ? .headers : .target
    case .invalidMethod where isStart && Self.beginsWithWord(bytes): .method
    default: .malformed
    }
  }

  /// Whether a line ends in these bytes before the head is too long.
  private func endsLine(_ bytes: ByteBuffer) -> Bool {
    bytes.readableBytesView.prefix(max(0, RequestLimits.headerBytes - count))
      .contains(UInt8(ascii: "\n"))
  }

  /// How many bytes of a head are looked at for the beginning of its target: a method and the names that decide how the
  /// server's answer is written.
  private static let beginningBytes = 64

  /// The request that a head is of, as far as the form of a refusal depends on it; nil if its first bytes contain no target.
  private static func request(beginningWith bytes: ByteBuffer) -> HTTPRequest? {
    let words = bytes.readableBytesView.prefix(beginningBytes)
      .split(maxSplits: 2, omittingEmptySubsequences: false) { $0 <= 0x20 }
    guard words.count > 1, words[1].first == UInt8(ascii: "/") else { return nil }
    // A byte beyond ASCII may be what the parser refuses.
    let path = words[1].prefix { $0 != UInt8(ascii: "?") && $0 < 0x7F }
    // The method is unknown or does not count: the refusal has a body for each.
    return HTTPRequest(
      method: .get, scheme: nil, authority: nil, path: String(decoding: path, as: UTF8.self))
  }

  /// Whether the bytes begin with a word of letters and a space: a method, perhaps an unknown one.
  private static func beginsWithWord(_ bytes: ByteBuffer) -> Bool {
    let word = bytes.readableBytesView.prefix { $0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A }
    return !word.isEmpty && bytes.readableBytesView[word.endIndex...].first == 0x20
  }
}
