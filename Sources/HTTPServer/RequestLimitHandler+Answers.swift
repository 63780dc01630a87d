import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// The way out.
extension RequestLimitHandler {
  /// Writes an answer's head; the server's own for what the parser refused is given its words here.
  func write(
    _ head: HTTPResponse, _ data: NIOAny, _ context: ChannelHandlerContext,
    _ promise: EventLoopPromise<Void>?
  ) {
    if head.status == .badRequest, connection?.failure != nil,
      !head.headerFields.contains(.contentType)
    {
      return writeRefusal(context, promise)
    }
    var head = head
    hasAnswer = true
    waiting = nil
    if head.headerFields.value(of: .connection) == "close" {
      // What was asked after this request is not answered.
      closes = true
      forgetRequests(behind: 1)
    }
    if closes, outstanding <= 1 { head.headerFields[.connection] = "close" }
    if connection == nil { head.headerFields[.connection] = nil }
    if let length = head.headerFields.value(of: .contentLength) {
      guard holdsAnswer(length) else {
        let isLast = connection != nil && closes && outstanding <= 1
        return replaceAnswer(context, closes: isLast, promise)
      }
    } else {
      // An answer without a length goes on as long as its feed: it holds no place.
      leavePlace()
    }
    write(head, context, promise)
  }

  /// Writes a head in the version of the request that it answers.
  func write(
    _ head: HTTPResponse, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?
  ) {
    if let connection { connection.answersOld = asked.first?.isOld ?? connection.isOld }
    context.write(wrapOutboundOut(.head(head)), promise: promise)
  }

  /// Hummingbird answers a parser's error 400 without a body, whatever it was. A request that was answered
  /// already gets no second answer.
  private func writeRefusal(
    _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?
  ) {
    guard outstanding > 0 || pace == nil else {
      isOver = true
      promise?.succeed()
      return context.close(promise: nil)
    }
    closes = true
    hasAnswer = true
    waiting = nil
    let refusal = connection?.refusal ?? .malformed
    let (head, body) = message(refusal, to: asked.first?.head, closes: true)
    write(head, context, promise)
    if asked.first?.head.method != .head {
      context.write(wrapOutboundOut(.body(body)), promise: nil)
    }
  }

  /// Ends an answer, and the connection if it was its last.
  func writeEnd(
    _ data: NIOAny, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?
  ) {
    forgetFirst()
    endAnswer()
    hasAnswer = false
    if outstanding == 0 {
      leavePlace()
      waiting = nil
    } else {
      // The next in line may have come whole, or wait for its client now.
      if pace != nil, outstanding == 1, awaitsBody {
        leavePlace()
      } else if !holdsPlace {
        holdsPlace = admission.enter(always: true, from: address)
      }
      waiting = context.eventLoop.now
      arm(context, at: context.eventLoop.now)
    }
    guard closes, outstanding == 0 else {
      hasAnswer = outstanding == 0 && pace != nil
      return context.write(data, promise: promise)
    }
    finish(data, context, promise)
  }

  /// Writes what is the last, and closes when it is on its way.
  private func finish(
    _ data: NIOAny, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?
  ) {
    isOver = true
    connection?.isDraining = true
    dropRequests(context)
    stuck = stuck ?? context.eventLoop.now
    arm(context, at: context.eventLoop.now)
    let sent = promise ?? context.eventLoop.makePromise(of: Void.self)
    let (limits, connection, isOpen) = (limits, connection, pace != nil)
    sent.futureResult.assumeIsolated().whenComplete { [self] _ in
      stuck = nil
      guard let connection else {
        // The rest of a stream's body is not wanted (RFC 9113, section 8.1).
        if isOpen { context.close(promise: nil) }
        return
      }
      connection.read?()
      context.close(lingering: limits.linger)
    }
    context.writeAndFlush(data, promise: sent)
  }

  /// Sees to it that no further request is begun on the connection.
  func dropRequests(_ context: ChannelHandlerContext) {
    if connection != nil { context.fireUserInboundEventTriggered(LastAnswer()) }
  }

  /// Answers in the route's place.
  func answer(_ refusal: ConnectionRefusal, _ context: ChannelHandlerContext) {
    let (head, body) = message(refusal, to: answered, closes: closes && connection != nil)
    write(head, context, nil)
    if answered?.method != .head { context.write(wrapOutboundOut(.body(body)), promise: nil) }
    let end = wrapOutboundOut(.end(nil))
    if closes { finish(end, context, nil) } else { context.writeAndFlush(end, promise: nil) }
  }

  /// Answers in the route's place, of what is in memory anyway: none is accounted for.
  func answer(_ head: HTTPResponse, _ body: ByteBuffer, _ context: ChannelHandlerContext) {
    var head = head
    hasAnswer = true
    waiting = nil
    if closes, connection != nil { head.headerFields[.connection] = "close" }
    write(head, context, nil)
    if body.readableBytes > 0 { context.write(wrapOutboundOut(.body(body)), promise: nil) }
    let end = wrapOutboundOut(.end(nil))
    if closes { finish(end, context, nil) } else { context.writeAndFlush(end, promise: nil) }
  }

  /// Head and body of a refusal.
  func message(
    _ refusal: ConnectionRefusal, to request: HTTPRequest?, closes: Bool
  ) -> (head: HTTPResponse, body: ByteBuffer) {
    var (head, body) = answers.answer(to: refusal, of: request)
    if closes { head.headerFields[.connection] = "close" }
    return (head, body)
  }

  /// Leaves the place among the running requests.
  func leavePlace() {
    if holdsPlace { admission.leave(from: address) }
    holdsPlace = false
  }

  /// Gives everything back.
  func release() {
    if holdsPlace, let first = asked.first {
      // Its handler may run on.
      first.hold.takePlace()
      holdsPlace = false
    }
    leavePlace()
    forgetRequests(behind: 0)
    releaseAnswers()
    if let address { admission.release(address) }
    address = nil
    isOver = true
    stuck = nil
    cutoff = nil
    timer?.cancel()
    timer = nil
  }
}

/// The account of long answers on their way. One of up to ``RequestLimits/answerPieceBytes`` costs none of this.
extension RequestLimitHandler {
  /// Accounts for an answer of known length.
  /// - Parameter length: its `Content-Length`.
  /// - Returns: whether there is memory for it until the client has taken it.
  func holdsAnswer(_ length: String) -> Bool {
    hold?.giveAnswer()
    // Shorter numbers are none that count.
    guard length.utf8.count > 4, let count = Int(length), count > RequestLimits.answerPieceBytes,
      answered?.method != .head
    else { return true }
    guard admission.takeAnswer(count) else { return false }
    answerBytes += count
    unwrittenBytes = count
    return true
  }

  /// Says in an answer's place that there is no memory for it; its body is thrown away.
  func replaceAnswer(
    _ context: ChannelHandlerContext, closes: Bool, _ promise: EventLoopPromise<Void>?
  ) {
    isReplaced = true
    let (head, body) = message(.overloaded, to: answered, closes: closes)
    write(head, context, promise)
    if answered?.method != .head {
      context.write(wrapOutboundOut(.body(body)), promise: nil)
    }
  }

  /// Writes a long body in pieces, so that it is seen whether the client takes any, and how fast.
  func writePieces(
    _ bytes: ByteBuffer, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?
  ) {
    if unwrittenBytes > 0 {
      let now = context.eventLoop.now
      if answerPace == nil { answerPace = AnswerPace(limits, at: now) }
      answerPace?.goOn(at: now)
      arm(context, at: now)
    }
    var rest = bytes
    while let piece = rest.readSlice(
      length: min(rest.readableBytes, RequestLimits.answerPieceBytes)),
      piece.readableBytes > 0
    {
      let isLast = rest.readableBytes == 0
      let taken =
        isLast && promise != nil ? promise : context.eventLoop.makePromise(of: Void.self)
      let count = min(piece.readableBytes, unwrittenBytes)
      unwrittenBytes -= count
      taken?.futureResult.assumeIsolated().whenComplete { [self] _ in
        tookPiece(count, at: context.eventLoop.now)
      }
      context.write(wrapOutboundOut(.body(piece)), promise: taken)
    }
  }

  /// A piece is on its way, or lost with its connection.
  private func tookPiece(_ count: Int, at now: NIODeadline) {
    if stuck != nil { stuck = now }
    giveAnswer(count)
    answerPace?.took(count, at: now, isAll: answerBytes == unwrittenBytes)
    if answerBytes == 0 { answerPace = nil }
  }

  /// Gives back what was accounted for and not written: an answer may break off.
  func endAnswer() {
    giveAnswer(unwrittenBytes)
    unwrittenBytes = 0
    if answerBytes == 0 { answerPace = nil }
    isReplaced = false
  }

  /// Gives back whatever is accounted for.
  func releaseAnswers() {
    giveAnswer(answerBytes)
    unwrittenBytes = 0
    answerPace = nil
  }

  private func giveAnswer(_ count: Int) {
    let given = min(count, answerBytes)
    answerBytes -= given
    admission.giveAnswer(given)
  }
}
