import HTTPTypes
import IPAddresses
import NIOCore
import NIOHTTPTypes

/// Watches the requests and answers of a connection, or of a stream of HTTP/2: turns requests away while the
/// server has too much to do, cuts off bodies that come too slowly and answers that are taken too slowly or not
/// given, and ends a connection after its last answer.
///
/// A request costs it a few comparisons and two looks at the clock; its timer runs at an interval and only
/// while there is something to wait for, so that a feed that waits has none.
final class RequestLimitHandler: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPRequestPart
  typealias InboundOut = HTTPRequestPart
  typealias OutboundIn = HTTPResponsePart
  typealias OutboundOut = HTTPResponsePart

  /// Bytes of a refused request that are read before the connection is given up.
  static let refusedBytes = 1 << 20

  let limits: ConnectionLimits
  let admission: Admission
  /// The service that answers requests.
  let answers: any RequestAnswering
  /// The connection's state; nil for a stream of HTTP/2, which has one request.
  let connection: ConnectionState?

  /// The request that was read last.
  private var request: HTTPRequest?
  /// Requests passed on and not answered to their end, the oldest first.
  var asked = CircularBuffer<AskedRequest>(initialCapacity: 2)
  /// The body that is on its way.
  var pace: BodyPace?
  /// Whether the answer has begun.
  var hasAnswer = false
  /// Since when an answer is waited for.
  var waiting: NIODeadline?
  /// Whether the request on its way is turned away, or answered already.
  var isRefusing = false
  /// Whether the body on its way is taken as it comes.
  var isTakenAsItComes = false
  /// Whether the request on its way is answered already.
  private var isAnsweredAtOnce = false
  /// Whether the answer on its way is the last.
  var closes = false
  /// Whether nothing more is read or written but what was written last.
  var isOver = false
  /// Whether a place among the running requests is held.
  var holdsPlace = false
  /// Since when nothing can be written, or was taken.
  var stuck: NIODeadline?
  /// Bytes of long answers that are accounted for: not given yet, or not taken.
  var answerBytes = 0
  /// Of these, the bytes that the answer on its way has still to give.
  var unwrittenBytes = 0
  /// How a long answer is taken.
  var answerPace: AnswerPace?
  /// Whether the answer on its way was replaced by a problem, and its body is thrown away.
  var isReplaced = false
  /// What runs for where the connection comes from; nil for a proxy, which brings many people's requests.
  var address: AddressShare?
  /// When the connection is cut whatever is on it; nil until the server stops.
  var cutoff: NIODeadline?
  var timer: Scheduled<Void>?

  init(
    _ limits: ConnectionLimits, _ admission: Admission, _ answers: any RequestAnswering,
    _ connection: ConnectionState? = nil
  ) {
    self.limits = limits
    self.admission = admission
    self.answers = answers
    self.connection = connection
  }

  /// How many requests were passed on and are not answered to their end.
  var outstanding: Int { asked.count }

  /// What the oldest request holds.
  var hold: RequestHold? { asked.first?.hold }

  /// The request that is answered, or that is turned away.
  var answered: HTTPRequest? { asked.first?.head ?? request }

  func handlerAdded(context: ChannelHandlerContext) {
    guard let text = context.channel.remoteAddress?.ipAddress, !answers.isProxy(text) else {
      return
    }
    address = admission.share(of: ClientAddress(text).prefix)
  }

  func handlerRemoved(context: ChannelHandlerContext) { release() }

  func channelInactive(context: ChannelHandlerContext) {
    release()
    context.fireChannelInactive()
  }

  // MARK: Requests

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    guard !isOver else { return }
    switch unwrapInboundIn(data) {
    case .head(let request): read(request, data, context)
    case .body(let bytes): read(bytes, data, context)
    case .end:
      guard let pace else { return }
      self.pace = nil
      if isRefusing {
        isRefusing = false
        // The idle timer has to hear of it; to others it is the end of nothing.
        if isAnsweredAtOnce, connection != nil { context.fireChannelRead(data) }
        isAnsweredAtOnce = false
        if cutoff != nil { end(context) }
      } else {
        if pace.count > 0, !hasAnswer { waiting = context.eventLoop.now }
        // Its place was left to others while the body was on its way; it may be taken.
        guard takesPlaceAgain() else { return failBody(.overloaded, context) }
        context.fireChannelRead(data)
      }
    }
  }

  /// Whether the route of the request that was read last may wait for its body: the others run without it.
  var awaitsBody: Bool {
    switch request?.method {
    case .get, .head, .delete, .options: false
    default: true
    }
  }

  /// Takes a place for a request that has come whole, unless it has one or is answered already.
  private func takesPlaceAgain() -> Bool {
    guard outstanding > 0, !hasAnswer, !holdsPlace else { return true }
    // Behind a request that is not answered yet it is in line on its connection, which has one place. One that took
    // its body as it came has done its work.
    let always =
      outstanding > 1 || isTakenAsItComes || (request.map(answers.isAlwaysBegun) ?? true)
    holdsPlace = admission.enter(always: always, from: address)
    return holdsPlace
  }

  private func read(_ head: HTTPRequest, _ data: NIOAny, _ context: ChannelHandlerContext) {
    // What follows a connection's last request is not looked at.
    guard !closes || outstanding == 0 else { return }
    let now = context.eventLoop.now
    request = head
    pace = BodyPace(limits, at: now)
    isTakenAsItComes = false
    if outstanding == 0 {
      hasAnswer = false
      // Who does not take answers waits for them as others do.
      if context.channel.isWritable, let (head, body) = answers.answerAtOnce(head) {
        (isRefusing, isAnsweredAtOnce) = (true, true)
        closes = connection?.isLast ?? true
        answer(head, body, context)
        return arm(context, at: now)
      }
      guard admission.enter(always: answers.isAlwaysBegun(head), from: address) else {
        isRefusing = true
        closes = connection?.isLast ?? true
        answer(.overloaded, context)
        return arm(context, at: now)
      }
      holdsPlace = true
      waiting = now
    }
    let hold = RequestHold(admission, from: address)
    asked.append(AskedRequest(head: head, isOld: connection?.isOld == true, hold: hold))
    connection?.hold = hold
    connection?.outstanding = outstanding
    if connection?.isLast == true { closes = true }
    context.fireChannelRead(data)
    connection?.hold = nil
    arm(context, at: now)
  }

  private func read(_ bytes: ByteBuffer, _ data: NIOAny, _ context: ChannelHandlerContext) {
    guard pace != nil else { return }
    pace?.came(bytes.readableBytes, at: context.eventLoop.now)
    let count = pace?.count ?? 0
    if isRefusing {
      if count > Self.refusedBytes { context.close(promise: nil) }
      return
    }
    guard holdsBody(count) else { return failBody(.overloaded, context) }
    context.fireChannelRead(data)
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    if pace != nil {
      pace?.isRead(false, at: context.eventLoop.now)
      // Who is slow takes no place from others; what is being answered before it keeps the place.
      if outstanding <= 1, awaitsBody { leavePlace() }
    }
    context.fireChannelReadComplete()
  }

  func read(context: ChannelHandlerContext) {
    pace?.isRead(true, at: context.eventLoop.now)
    context.read()
  }

  /// Lets the route answer what is wrong with its body.
  func failBody(_ refusal: ConnectionRefusal, _ context: ChannelHandlerContext) {
    pace = nil
    closes = true
    waiting = context.eventLoop.now
    connection?.isDraining = true
    context.fireErrorCaught(refusal)
  }

  func triggerUserOutboundEvent(
    context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?
  ) {
    if event is BodyTakenAsItComes {
      promise?.succeed()
      return takeBodyAsItComes()
    }
    guard event is BodyWanted else {
      return context.triggerUserOutboundEvent(event, promise: promise)
    }
    promise?.succeed()
    guard !isOver, outstanding == 1, !hasAnswer, pace?.count == 0, connection?.isOld != true
    else { return }
    pace?.restart(at: context.eventLoop.now)
    let leave = HTTPResponse(status: .continue)
    write(leave, context, nil)
    context.flush()
  }

  // MARK: Answers

  func write(
    context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?
  ) {
    guard !isOver else {
      promise?.fail(ChannelError.ioOnClosedChannel)
      return
    }
    switch unwrapOutboundIn(data) {
    case .head(let head): write(head, data, context, promise)
    case .body(let bytes):
      guard !isReplaced else {
        promise?.succeed()
        return
      }
      guard bytes.readableBytes > RequestLimits.answerPieceBytes || unwrittenBytes > 0 else {
        return context.write(data, promise: promise)
      }
      writePieces(bytes, context, promise)
    case .end: writeEnd(data, context, promise)
    }
  }
}

/// The account of bodies in memory; see ``RequestHold``.
extension RequestLimitHandler {
  /// Accounts for the body that is on its way, which is that of the request that came last.
  /// - Parameter count: the bytes that have come.
  /// - Returns: whether there is memory for it.
  func holdsBody(_ count: Int) -> Bool {
    // One that is answered already is read past.
    guard count > RequestHold.freeBytes, !isTakenAsItComes, outstanding > 1 || !hasAnswer,
      !asked.isEmpty
    else {
      return true
    }
    let last = asked.index(before: asked.endIndex)
    guard asked[last].hold.take(count - asked[last].sentBytes) else { return false }
    asked[last].sentBytes = count
    return true
  }

  /// The route of the one request takes its body as it comes: it need not end some day, and is not in memory.
  func takeBodyAsItComes() {
    guard !isOver, outstanding == 1, !hasAnswer, pace != nil else { return }
    isTakenAsItComes = true
    pace?.goOnForEver(stopping: cutoff != nil)
    hold?.giveBody()
  }

  /// Forgets the oldest request and its body.
  func forgetFirst() {
    _ = asked.popFirst()
    connection?.outstanding = asked.count
  }

  /// Forgets all requests but the oldest ones, and their bodies.
  func forgetRequests(behind count: Int) {
    while asked.count > count { _ = asked.popLast() }
    connection?.outstanding = asked.count
  }
}
