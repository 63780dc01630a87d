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
