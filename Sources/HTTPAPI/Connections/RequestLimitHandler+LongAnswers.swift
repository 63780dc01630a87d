import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// The account of long answers on their way. One of up to ``pieceBytes`` costs none of this.
extension RequestLimitHandler {
  /// Accounts for an answer of known length.
  /// - Parameter length: its `Content-Length`.
  /// - Returns: whether there is memory for it until the client has taken it.
  func holdsAnswer(_ length: String) -> Bool {
    hold?.giveAnswer()
    // Shorter numbers are none that count.
    guard length.utf8.count > 4, let count = Int(length), count > Self.pieceBytes,
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
    let (head, body) = message(ConnectionProblem.overloaded, to: answered, closes: closes)
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
    while let piece = rest.readSlice(length: min(rest.readableBytes, Self.pieceBytes)),
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
