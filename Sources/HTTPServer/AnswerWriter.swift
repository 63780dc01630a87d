import Glibc
package import HTTPTypes
import HummingbirdCore
import NIOCore
import NIOHTTPTypes
import Scheduling
import Synchronization

/// Writes one answer to a connection. An answer of known length that comes in one piece is written at once. Any other
/// is written piece by piece, no faster than the client takes them.
struct AnswerWriter: ResponseBodyWriter {
  /// How many pieces may be on their way to the event loop, not yet seen by the channel.
  static let piecesAhead = 2

  private let channel: any Channel
  /// Parts that are written before all others.
  private var waiting: [HTTPResponsePart]
  /// Whether the first piece may be the whole body.
  private var mayBeWhole: Bool
  /// Nil while the answer may still be written at once.
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

  /// Sends parts to the event loop. It waits until they are written if the channel is not writable or if too many
  /// pieces are on their way: a client that does not read gets no further pieces.
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
    if let sent { try await Work.waiting({ try await sent.futureResult.get() }) }
  }
}

extension Response {
  /// Writes the answer to a connection or an HTTP/2 stream. The body of an answer with the status 101 gets a
  /// ``WebSocketConnection``.
  /// - Parameter date: supplies its `Date`.
  /// - Throws: `ChannelError` where the connection is gone; the errors of the body.
  func write(to channel: any Channel, on date: DateField) async throws {
    var head = head
    head.headerFields.append(date.now)
    if status == .switchingProtocols {
      return try await body.write(WebSocketConnection.open(channel, head))
    }
    try await body.write(AnswerWriter(channel, head, hasLength: body.contentLength != nil))
  }
}

/// Counts the pieces that are on their way to the event loop.
private final class PiecesAhead: Sendable {
  private let count = Atomic(0)

  /// - Returns: how many there were before.
  func begin() -> Int { count.add(1, ordering: .relaxed).oldValue }

  func end() { count.subtract(1, ordering: .relaxed) }
}

/// The `Date` field of answers, formatted once a second.
///
/// Source: RFC 9110, section 5.6.7.
package final class DateField: Sendable {
  private let clock: @Sendable () -> Int
  private let latest = Mutex((second: Int.min, field: HTTPField(name: .date, value: "")))

  /// - Parameter clock: seconds since 1970, UTC.
  package init(clock: @escaping @Sendable () -> Int = { time(nil) }) { self.clock = clock }

  package var now: HTTPField {
    let second = clock()
    return latest.withLock { latest in
      if latest.second != second {
        latest = (second, HTTPField(name: .date, value: Self.text(second)))
      }
      return latest.field
    }
  }

  private static func text(_ second: Int) -> String {
    var (second, parts) = (second, tm())
    gmtime_r(&second, &parts)
    return String(unsafeUninitializedCapacity: 64) { buffer in
      buffer.withMemoryRebound(to: CChar.self) { text in
        strftime(text.baseAddress, text.count, "%a, %d %b %Y %H:%M:%S GMT", &parts)
      }
    }
  }
}
