import NIOCore

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
      ConnectionProblem.linger(context, linger)
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
        failBody(ConnectionProblem.slowBody, context)
      } else {
        cut(context)
      }
    } else if let waiting, !hasAnswer, pace == nil || outstanding > 1,
      now >= waiting + limits.answer
    {
      closes = true
      answer(ConnectionProblem.tooLong, context)
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
