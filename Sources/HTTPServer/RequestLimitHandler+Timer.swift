import NIOCore
import NIOHTTP1

/// What takes too long.
extension RequestLimitHandler {
  func channelWritabilityChanged(context: ChannelHandlerContext) {
    let now = context.eventLoop.now
    if isOver {
      // Some of the last answer was taken, but not its end.
      if stuck != nil { stuck = now }
    } else {
      stuck = context.channel.isWritable ? nil : now
    }
    if stuck != nil { arm(context, at: now) }
    context.fireChannelWritabilityChanged()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    guard event is ChannelShouldQuiesceEvent, connection != nil else {
      return context.fireUserInboundEventTriggered(event)
    }
    stop(context)
  }

  /// Ends the connection after the answers that are owed, and after a while without them. Hummingbird's own
  /// handler, which is not told, would close it at once where the last answer is written but not taken.
  private func stop(_ context: ChannelHandlerContext) {
    guard cutoff == nil else { return }
    let now = context.eventLoop.now
    cutoff = now + limits.stop
    pace?.hurry(at: now)
    closes = true
    if outstanding == 0, !isOver, !isRefusing { end(context) }
    arm(context, at: now)
  }

  /// Ends a connection that owes nothing, once what was written is on its way.
  func end(_ context: ChannelHandlerContext) {
    isOver = true
    connection?.isDraining = true
    dropRequests(context)
    let (linger, isRead) = (limits.linger, pace == nil)
    let ended = context.eventLoop.makePromise(of: Void.self)
    ended.futureResult.assumeIsolated().whenComplete { [connection] _ in
      guard !isRead else { return context.close(promise: nil) }
      connection?.read?()
      context.close(lingering: linger)
    }
    context.close(mode: .output, promise: ended)
  }

  /// When the next of the limits is met; nil while there is nothing to wait for.
  private var due: NIODeadline? {
    var dues: [NIODeadline] = []
    if let pace, !isOver { dues.append(pace.deadline) }
    if let waiting, !isOver, pace == nil || outstanding > 1 {
      dues.append(waiting + limits.answer)
    }
    if let stuck { dues.append(stuck + limits.stall) }
    if let due = answerPace?.due { dues.append(due) }
    if let cutoff { dues.append(cutoff) }
    return dues.min()
  }

  /// Sees to it that the connection is looked at.
  func arm(_ context: ChannelHandlerContext, at now: NIODeadline) {
    guard timer == nil, let due else { return }
    let time = min(limits.interval, max(due - now, .milliseconds(1)))
    timer = context.eventLoop.assumeIsolated().scheduleTask(in: time) { [self] in
      timer = nil
      let now = context.eventLoop.now
      check(context, at: now)
      arm(context, at: now)
    }
  }

  private func check(_ context: ChannelHandlerContext, at now: NIODeadline) {
    if let cutoff, now >= cutoff {
      cut(context)
    } else if let stuck, now >= stuck + limits.stall {
      cut(context)
    } else if let due = answerPace?.due, now >= due {
      cut(context)
    } else if isOver {
      return
    } else if let pace, pace.isLate(at: now) {
      if outstanding > 0, !hasAnswer {
        failBody(.slowBody, context)
      } else {
        cut(context)
      }
    } else if let waiting, !hasAnswer, pace == nil || outstanding > 1,
      now >= waiting + limits.answer
    {
      closes = true
      answer(.slowAnswer, context)
    }
  }

  /// Ends the connection with whatever is on it.
  private func cut(_ context: ChannelHandlerContext) {
    isOver = true
    stuck = nil
    cutoff = nil
    answerPace = nil
    dropRequests(context)
    context.close(promise: nil)
  }
}

/// Watches the bytes of an HTTP/1 connection before they are parsed: a head that takes too long is answered
/// 408, what the parser refuses gets its answer here, and what comes after the last answer is thrown away.
final class HeaderTimeoutHandler: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundOut = ByteBuffer

  private let state: ConnectionState
  private let limits: ConnectionLimits
  private let answers: any RequestAnswering
  /// When the head that is on its way began.
  private var began: NIODeadline?
  /// Whether its first line has come.
  private var hasLine = false
  /// Its bytes that have come.
  private var count = 0
  private var timer: Scheduled<Void>?

  init(
    _ state: ConnectionState, _ limits: ConnectionLimits, _ answers: any RequestAnswering
  ) {
    self.state = state
    self.answers = answers
    self.limits = limits
  }

  func handlerAdded(context: ChannelHandlerContext) {
    state.read = { context.read() }
  }

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
      if state.refusal == nil {
        state.refusal = refusal(
          failure, Self.unwrapInboundIn(data), isStart: isStart && state.marks == marks)
      }
      state.isDraining = true
      began = nil
    } else if state.marks == marks, !state.isInBody {
      // Nothing came of these bytes: they are a part of a head.
      let bytes = Self.unwrapInboundIn(data)
      hasLine = hasLine || endsLine(bytes)
      count += bytes.readableBytes
      if began == nil {
        began = context.eventLoop.now
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
        // It is read ahead of an answer: its time begins with its turn.
        self.began = now
        schedule(context, in: limits.header)
      } else if now < began + limits.header {
        schedule(context, in: began + limits.header - now)
      } else {
        cut(context)
      }
    }
  }

  /// Answers a head that is late, and ends the connection.
  private func cut(_ context: ChannelHandlerContext) {
    state.isDraining = true
    context.writeAndFlush(wrapOutboundOut(answers.lastAnswer(.slowHead)), promise: nil)
    context.close(lingering: limits.linger)
  }

  /// - Parameter isStart: whether the head that was refused begins with these bytes.
  private func refusal(
    _ failure: HTTPParserError, _ bytes: ByteBuffer, isStart: Bool
  ) -> ConnectionRefusal {
    switch failure {
    case .headerOverflow:
      state.isInBody || hasLine || endsLine(bytes)
        ? .headers : .target
    case .invalidMethod where isStart && Self.beginsWithWord(bytes): .method
    default: .malformed
    }
  }

  /// Whether a line ends there before the head is too long.
  private func endsLine(_ bytes: ByteBuffer) -> Bool {
    bytes.readableBytesView.prefix(max(0, RequestLimits.headerBytes - count))
      .contains(UInt8(ascii: "\n"))
  }

  /// Whether a method stands there, if one that nobody knows.
  private static func beginsWithWord(_ bytes: ByteBuffer) -> Bool {
    let word = bytes.readableBytesView.prefix { $0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7A }
    return !word.isEmpty && bytes.readableBytesView[word.endIndex...].first == 0x20
  }
}
