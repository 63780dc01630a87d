import HTTPTypes
import HummingbirdCore
import NIOCore
import NIOHTTPTypes
import Synchronization

/// Writes one answer to a connection: in one go where its length is known and it is given in one piece, piece
/// by piece otherwise, no faster than the client takes them.
struct AnswerWriter: ResponseBodyWriter {
  /// Pieces on their way to the event loop, of which the channel does not know yet, at most.
  static let piecesAhead = 2

  private let channel: any Channel
  /// What is to be written before anything else.
  private var waiting: [HTTPResponsePart]
  /// Whether the first piece may be all there is.
  private var mayBeWhole: Bool
  /// None for an answer in one go.
  private var ahead: PiecesAhead?

  /// - Parameter hasLength: whether the head says how long the body is.
  init(_ channel: any Channel, _ head: HTTPResponse, hasLength: Bool) {
    self.channel = channel
    waiting = [.head(head)]
    waiting.reserveCapacity(3)
    mayBeWhole = hasLength
  }

  /// - Throws: `ChannelError` where the connection is gone.
  mutating func write(_ buffer: ByteBuffer) async throws {
    waiting.append(.body(buffer))
    guard !mayBeWhole else {
      mayBeWhole = false
      return
    }
    let parts = waiting
    waiting = []
    ahead = ahead ?? PiecesAhead()
    try await send(parts)
  }

  consuming func finish(_ trailers: HTTPFields?) async throws {
    var parts = waiting
    parts.append(.end(trailers))
    try await send(parts)
  }

  /// Returns when there is room for more: who does not take an answer gets no further one.
  private func send(_ parts: [HTTPResponsePart]) async throws {
    guard channel.isActive else { throw ChannelError.ioOnClosedChannel }
    let isFarAhead = ahead.map { $0.begin() >= Self.piecesAhead } ?? false
    let waits = isFarAhead || !channel.isWritable
    let sent = waits ? channel.eventLoop.makePromise(of: Void.self) : nil
    channel.eventLoop.execute { [channel, ahead] in
      let pipeline = channel.pipeline.syncOperations
      for part in parts.dropLast() { pipeline.write(NIOAny(part), promise: nil) }
      if let last = parts.last { pipeline.writeAndFlush(NIOAny(last), promise: sent) }
      ahead?.end()
    }
    try await sent?.futureResult.get()
  }
}

/// Counts pieces on their way to the event loop.
private final class PiecesAhead: Sendable {
  private let count = Atomic(0)

  /// - Returns: how many there are already.
  func begin() -> Int { count.add(1, ordering: .relaxed).oldValue }

  func end() { count.subtract(1, ordering: .relaxed) }
}

/// How a long answer is taken: at a rate, after a pause as long as a client may take nothing. While the client has
/// taken all that was given, it is the server that is waited for.
struct AnswerPace {
  private let limits: ConnectionLimits
  private var end: NIODeadline
  private var pause: NIODeadline?

  /// An answer that begins.
  init(_ limits: ConnectionLimits, at now: NIODeadline) {
    self.limits = limits
    end = now + limits.stall
  }

  /// When it is too late for the next bytes; nil while the server is waited for.
  var due: NIODeadline? { pause == nil ? end : nil }

  /// The client, or the buffers on the way to it, took bytes: they buy time, as much as the pause.
  /// - Parameter isAll: whether nothing more was given yet.
  mutating func took(_ bytes: Int, at now: NIODeadline, isAll: Bool) {
    end = min(
      end + ConnectionLimits.time(for: bytes, at: limits.answerRate), now + limits.stall)
    if isAll { pause = now }
  }

  /// More is given.
  mutating func goOn(at now: NIODeadline) {
    if let pause { end = end + (now - pause) }
    pause = nil
  }
}

/// How a body comes: it has to keep to a rate, may pause for a while, and has to end some day. For rate and
/// pause only the time counts in which the server waits for the client; the end comes whoever waits.
struct BodyPace {
  private let limits: ConnectionLimits
  /// When it is too late for the next byte.
  private var due: NIODeadline
  /// When it is too late for the last byte.
  private var end: NIODeadline
  /// Since when the server reads nothing.
  private var paused: NIODeadline?
  /// Bytes that have come.
  private(set) var count = 0

  /// A body that begins.
  init(_ limits: ConnectionLimits, at now: NIODeadline) {
    self.limits = limits
    due = now + limits.bodyGrace
    end = now + limits.body
  }

  /// When to look again.
  var deadline: NIODeadline { paused == nil ? min(due, end) : end }

  /// Whether the client is too slow.
  func isLate(at now: NIODeadline) -> Bool { now >= deadline }

  /// Takes bytes: they buy time, as much as the pause that a body may make.
  mutating func came(_ bytes: Int, at now: NIODeadline) {
    count += bytes
    due = min(due + ConnectionLimits.time(for: bytes, at: limits.bodyRate), now + limits.bodyGrace)
  }

  /// The server stops reading, or begins again.
  mutating func isRead(_ reads: Bool, at now: NIODeadline) {
    if !reads {
      paused = paused ?? now
    } else if let since = paused {
      paused = nil
      due = due + (now - since)
    }
  }

  /// The server stops: the body has to end within the time that it might pause.
  mutating func hurry(at now: NIODeadline) {
    end = min(end, now + limits.bodyGrace)
  }

  /// The body may take any time, unless the server stops.
  mutating func goOnForEver(stopping: Bool) {
    if !stopping { end = .distantFuture }
  }

  /// The client may have waited for leave to send.
  mutating func restart(at now: NIODeadline) {
    due = now + limits.bodyGrace
  }
}
