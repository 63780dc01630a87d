import NIOCore

/// What takes too long.
extension ExchangeGuard {
  func channelWritabilityChanged(context: ChannelHandlerContext) {
    let now = context.eventLoop.now
    stuck = context.channel.isWritable ? nil : now
    if stuck != nil { arm(context, at: now) }
    context.fireChannelWritabilityChanged()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    if event is ChannelShouldQuiesceEvent {
      let now = context.eventLoop.now
      pace?.hurry(at: now)
      arm(context, at: now)
    }
    context.fireUserInboundEventTriggered(event)
  }

  /// When the next of the limits is met; nil while there is nothing to wait for.
  private var due: NIODeadline? {
    var dues: [NIODeadline] = []
    if let pace { dues.append(pace.deadline) }
    if let waiting, pace == nil || outstanding > 1 { dues.append(waiting + limits.answer) }
    if let stuck { dues.append(stuck + limits.stall) }
    return dues.min()
  }

  /// Sees to it that the connection is looked at.
  func arm(_ context: ChannelHandlerContext, at now: NIODeadline) {
    guard timer == nil, !isOver, let due else { return }
    let time = min(limits.interval, max(due - now, .milliseconds(1)))
    timer = context.eventLoop.assumeIsolated().scheduleTask(in: time) { [self] in
      timer = nil
      guard !isOver else { return }
      let now = context.eventLoop.now
      check(context, at: now)
      arm(context, at: now)
    }
  }

  private func check(_ context: ChannelHandlerContext, at now: NIODeadline) {
    if let stuck, now >= stuck + limits.stall {
      isOver = true
      context.close(promise: nil)
    } else if let pace, pace.isLate(at: now) {
      if outstanding > 0, !hasAnswer {
        failBody(ConnectionProblem.slowBody, context)
      } else {
        isOver = true
        context.close(promise: nil)
      }
    } else if let waiting, !hasAnswer, pace == nil || outstanding > 1,
      now >= waiting + limits.answer
    {
      closes = true
      answer(ConnectionProblem.tooLong, context)
    }
  }
}
