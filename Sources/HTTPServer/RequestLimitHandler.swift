import HTTPTypes
import IPAddresses
import NIOCore
import NIOHTTPTypes

/// Enforces the limits of the requests and answers on a connection, or on an HTTP/2 stream. It refuses requests while
/// the server is overloaded, ends bodies and answers that are too slow, and ends a connection after its last answer.
///
/// ``RequestLimitStateMachine`` decides and this handler acts. A request costs a few comparisons and two reads of the
/// clock. The timer runs at intervals, and only while there is a deadline: an idle feed has none.
final class RequestLimitHandler: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  /// From this many bytes on a piece of a body is not copied to join others.
  private static let longPiece = 4 << 10

  private let limits: ConnectionLimits
  private let answers: any RequestAnswering
  /// The connection's state; nil for an HTTP/2 stream, which has one request.
  private let connection: ConnectionState?
  private var machine: RequestLimitStateMachine
  private var timer: Scheduled<Void>?
  /// What has come of a body with the present read. It is passed on in one piece, because a client decides in how many
  /// chunks or frames it comes, and each piece costs its reader as much as a long one. It is a copy, because the smallest
  /// part of a read keeps all of it in memory.
  private var arrived = ByteBuffer()

  init(
    _ limits: ConnectionLimits, _ admission: Admission, _ answers: any RequestAnswering,
    _ connection: ConnectionState? = nil
  ) {
    self.limits = limits
    self.answers = answers
    self.connection = connection
    machine = RequestLimitStateMachine(limits, admission, isStream: connection == nil)
  }

  /// The memory and the slot of the oldest request.
  var reservation: RequestReservation? { machine.first?.reservation }

  func handlerAdded(context: ChannelHandlerContext) {
    let text = context.channel.remoteAddress?.ipAddress.flatMap { answers.isProxy($0) ? nil : $0 }
    // The parent of a connection is the listening channel, which may be on another event loop.
    let parent = connection == nil ? context.channel.parent?.pipeline.syncOperations : nil
    let account = try? parent?.handler(type: ConnectionAccountHandler.self)
    machine.begin(from: text.map { ClientAddress($0).prefix }, on: account?.share)
  }

  func handlerRemoved(context: ChannelHandlerContext) { release() }

  func channelInactive(context: ChannelHandlerContext) {
    passArrived(context)
    release()
    context.fireChannelInactive()
  }

  private func release() {
    machine.release()
    connection?.outstanding = machine.outstanding
    timer?.cancel()
    timer = nil
  }

  // MARK: Requests

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let now = context.eventLoop.now
    switch unwrapInboundIn(data) {
    case .head(let head): read(head, data, context, at: now)
    case .body(let bytes):
      take(bytes, machine.readBody(bytes.readableBytes, at: now), data, context)
    case .end:
      passArrived(context)
      carryOut(machine.readEnd(at: now), data, context)
    }
  }

  private func take(
    _ bytes: ByteBuffer, _ action: RequestLimitStateMachine.BodyAction, _ data: NIOAny,
    _ context: ChannelHandlerContext
  ) {
    guard case .forward = action, bytes.readableBytes < Self.longPiece else {
      passArrived(context)
      return carryOut(action, data, context)
    }
    var bytes = bytes
    arrived.writeBuffer(&bytes)
  }

  private func passArrived(_ context: ChannelHandlerContext) {
    guard arrived.readableBytes > 0 else { return }
    let bytes = arrived
    arrived = ByteBuffer()
    context.fireChannelRead(wrapInboundOut(.body(bytes)))
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    passArrived(context)
    context.fireErrorCaught(error)
  }

  private func read(
    _ head: HTTPRequest, _ data: NIOAny, _ context: ChannelHandlerContext, at now: NIODeadline
  ) {
    let request = OutstandingRequest(
      head: head, isOld: connection?.isOld == true, isLast: connection?.isLast == true,
      isAlwaysAdmitted: answers.isAlwaysAdmitted(head))
    var action = machine.readHead(request, at: now)
    if case .ask = action {
      // A client that does not read its answers gets no answer at once: its request is admitted like any other.
      if context.channel.isWritable, let (head, body) = answers.answerAtOnce(head) {
        machine.answerAtOnce()
        answer(head, body, context)
        return arm(context, at: now)
      }
      action = machine.admit(at: now)
    }
    switch action {
    case .ignore, .ask: return
    case .refuse: answer(.overloaded, context)
    case .close: return context.close(promise: nil)
    case .forward(let reservation):
      connection?.reservation = reservation
      connection?.outstanding = machine.outstanding
      context.fireChannelRead(data)
      connection?.reservation = nil
    }
    arm(context, at: now)
  }

  private func carryOut(
    _ action: RequestLimitStateMachine.BodyAction, _ data: NIOAny,
    _ context: ChannelHandlerContext
  ) {
    switch action {
    case .ignore: break
    case .forward: context.fireChannelRead(data)
    case .close: context.close(promise: nil)
    case .fail(let refusal): fail(refusal, context)
    case .endRefused(let isPassedOn, let endsConnection):
      if isPassedOn { context.fireChannelRead(data) }
      if endsConnection { end(context) }
    }
  }

  /// Reports the error to the route that reads the body.
  private func fail(_ refusal: ConnectionRefusal, _ context: ChannelHandlerContext) {
    connection?.isDraining = true
    context.fireErrorCaught(refusal)
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    passArrived(context)
    machine.readComplete(at: context.eventLoop.now)
    context.fireChannelReadComplete()
  }

  func read(context: ChannelHandlerContext) {
    machine.read(at: context.eventLoop.now)
    context.read()
  }

  func triggerUserOutboundEvent(
    context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?
  ) {
    switch event as? RequestEvent {
    case .bodyStreamingStarted: machine.streamBody()
    case .progressed: machine.noteProgress(at: context.eventLoop.now)
    case .bodyWanted:
      if machine.wantBody(at: context.eventLoop.now) {
        write(HTTPResponse(status: .continue), context, nil)
        context.flush()
      }
    case nil: return context.triggerUserOutboundEvent(event, promise: promise)
    }
    promise?.succeed()
  }

  // MARK: Answers

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    guard !machine.isOver else {
      promise?.fail(ChannelError.ioOnClosedChannel)
      return
    }
    let now = context.eventLoop.now
    switch unwrapOutboundIn(data) {
    case .head(let head): answer(head, context, promise)
    case .body(let bytes):
      switch machine.answerAccount.write(bytes.readableBytes, at: now) {
      case .drop: promise?.succeed()
      case .pieces where bytes.readableBytes == 0: context.write(data, promise: promise)
      case .pieces: writePieces(bytes, context, promise)
      case .cut:
        promise?.fail(ChannelError.ioOnClosedChannel)
        context.close(promise: nil)
      }
    case .end:
      let isLast = machine.answerEnd(at: now)
      connection?.outstanding = machine.outstanding
      if isLast { return finish(data, context, promise) }
      arm(context, at: now)
      context.write(data, promise: promise)
    }
  }

  /// Writes the head of an answer of the service.
  private func answer(
    _ head: HTTPResponse, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?
  ) {
    let isParserError =
      head.status == .badRequest && connection?.failure != nil
      && !head.headerFields.contains(.contentType)
    let action = machine.answerHead(head, isParserError: isParserError)
    connection?.outstanding = machine.outstanding
    switch action {
    case .write(let isLast):
      var head = head
      // A connection that changes its protocol ends as the other protocol wants.
      if isLast, head.status != .switchingProtocols { head.headerFields[.connection] = "close" }
      if connection == nil { head.headerFields[.connection] = nil }
      write(head, context, promise)
    case .refuse:
      replace(
        connection?.refusal ?? .malformed, to: machine.first?.head ?? connection?.refused,
        isLast: true, context, promise)
    case .replace(let isLast):
      replace(.overloaded, to: machine.answered, isLast: isLast, context, promise)
    case .close:
      promise?.succeed()
      context.close(promise: nil)
    }
  }

  /// Writes a refusal instead of an answer, whose end follows later.
  private func replace(
    _ refusal: ConnectionRefusal, to request: HTTPRequest?, isLast: Bool,
    _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?
  ) {
    var (head, body) = answers.answer(to: refusal, of: request)
    if isLast, connection != nil { head.headerFields[.connection] = "close" }
    write(head, context, promise)
    if request?.method != .head { context.write(wrapOutboundOut(.body(body)), promise: nil) }
  }

  /// Writes a head in the HTTP version of the request.
  private func write(
    _ head: HTTPResponse, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?
  ) {
    if let connection { connection.answersOld = machine.first?.isOld ?? connection.isOld }
    context.write(wrapOutboundOut(.head(head)), promise: promise)
  }

  private func writePieces(
    _ bytes: ByteBuffer, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?
  ) {
    arm(context, at: context.eventLoop.now)
    var rest = bytes
    while let piece = rest.readSlice(
      length: min(rest.readableBytes, RequestLimits.answerPieceBytes)), piece.readableBytes > 0
    {
      let isLast = rest.readableBytes == 0
      let taken = isLast && promise != nil ? promise : context.eventLoop.makePromise(of: Void.self)
      let count = machine.answerAccount.wrote(piece.readableBytes)
      taken?.futureResult.assumeIsolated().whenComplete { [self] _ in
        machine.took(count, at: context.eventLoop.now)
      }
      context.write(wrapOutboundOut(.body(piece)), promise: taken)
    }
  }

  /// Refuses a request instead of the route.
  private func answer(_ refusal: ConnectionRefusal, _ context: ChannelHandlerContext) {
    let request = machine.answered
    let (head, body) = answers.answer(to: refusal, of: request)
    answer(head, request?.method == .head ? ByteBuffer() : body, context)
  }

  /// Answers instead of the route. The body is small or in memory anyway, so it is not accounted for.
  private func answer(_ head: HTTPResponse, _ body: ByteBuffer, _ context: ChannelHandlerContext) {
    var head = head
    if machine.closes, connection != nil { head.headerFields[.connection] = "close" }
    write(head, context, nil)
    if body.readableBytes > 0 { context.write(wrapOutboundOut(.body(body)), promise: nil) }
    let end = wrapOutboundOut(.end(nil))
    if machine.closes {
      finish(end, context, nil)
    } else {
      context.writeAndFlush(end, promise: nil)
    }
  }

  // MARK: The end

  /// Writes the end of the last answer, and closes the connection when it is sent.
  private func finish(
    _ data: NIOAny, _ context: ChannelHandlerContext, _ promise: EventLoopPromise<Void>?
  ) {
    let isOpen = machine.finish(at: context.eventLoop.now)
    dropRequests(context)
    arm(context, at: context.eventLoop.now)
    let sent = promise ?? context.eventLoop.makePromise(of: Void.self)
    sent.futureResult.assumeIsolated().whenComplete { [self] _ in
      machine.noteFinished()
      guard let connection else {
        // The rest of the body is not needed (RFC 9113, section 8.1).
        if isOpen { context.close(promise: nil) }
        return
      }
      connection.read?()
      context.close(lingering: limits.linger)
    }
    context.writeAndFlush(data, promise: sent)
  }

  /// Ends a connection that has no unanswered request, after all that was written is sent.
  private func end(_ context: ChannelHandlerContext) {
    let isRead = machine.end()
    dropRequests(context)
    let ended = context.eventLoop.makePromise(of: Void.self)
    ended.futureResult.assumeIsolated().whenComplete { [connection, limits] _ in
      guard !isRead else { return context.close(promise: nil) }
      connection?.read?()
      context.close(lingering: limits.linger)
    }
    context.close(mode: .output, promise: ended)
  }

  /// Discards all further input: the connection begins no more requests.
  private func dropRequests(_ context: ChannelHandlerContext) {
    guard let connection else { return }
    connection.isDraining = true
    context.fireUserInboundEventTriggered(LastAnswer())
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    passArrived(context)
    guard event is ChannelShouldQuiesceEvent, connection != nil else {
      return context.fireUserInboundEventTriggered(event)
    }
    // The event is not passed on. Hummingbird's own handler would close the connection at once when the last answer is
    // written but not taken by the client.
    if machine.stop(at: context.eventLoop.now) { end(context) }
    arm(context, at: context.eventLoop.now)
  }

  // MARK: Time

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    let now = context.eventLoop.now
    machine.writabilityChanged(isWritable: context.channel.isWritable, at: now)
    arm(context, at: now)
    context.fireChannelWritabilityChanged()
  }

  /// Starts the timer if there is a deadline.
  private func arm(_ context: ChannelHandlerContext, at now: NIODeadline) {
    guard timer == nil, let due = machine.due else { return }
    let time = min(limits.interval, max(due - now, .milliseconds(1)))
    timer = context.eventLoop.assumeIsolated().scheduleTask(in: time) { [self] in
      timer = nil
      let now = context.eventLoop.now
      switch machine.check(at: now) {
      case .none: break
      case .cut:
        dropRequests(context)
        context.close(promise: nil)
      case .fail(let refusal): fail(refusal, context)
      case .refuse(let refusal): answer(refusal, context)
      }
      arm(context, at: now)
    }
  }
}
