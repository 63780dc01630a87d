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

  private let outlet: AnswerOutlet
  /// Parts that are written before all others.
  private var waiting: [HTTPResponsePart]
  /// Whether the first piece may be the whole body.
  private var mayBeWhole: Bool

  /// - Parameter hasLength: whether the head says how long the body is.
  init(_ outlet: AnswerOutlet, _ head: HTTPResponse, hasLength: Bool) {
    self.outlet = outlet
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
    let channel = outlet.channel
    guard channel.isActive else { throw ChannelError.ioOnClosedChannel }
    let waits = outlet.unwrittenCount >= Self.piecesAhead || !channel.isWritable
    let sent = waits ? channel.eventLoop.makePromise(of: Void.self) : nil
    outlet.append {
      let pipeline = channel.pipeline.syncOperations
      for part in parts.dropLast() { pipeline.write(NIOAny(part), promise: nil) }
      if let last = parts.last { pipeline.writeAndFlush(NIOAny(last), promise: sent) }
    }
    if let sent { try await Work.waiting({ try await sent.futureResult.get() }) }
  }
}

extension Response {
  /// Writes the answer to a connection or an HTTP/2 stream. The body of an answer with the status 101 gets a
  /// ``WebSocketConnection``.
  /// - Throws: `ChannelError` where the connection is gone; the errors of the body.
  func write(to outlet: AnswerOutlet) async throws {
    var head = head
    head.headerFields.append(outlet.date.now)
    if status == .switchingProtocols {
      return try await body.write(WebSocketConnection.open(outlet.channel, head))
    }
    try await body.write(AnswerWriter(outlet, head, hasLength: body.contentLength != nil))
  }
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
