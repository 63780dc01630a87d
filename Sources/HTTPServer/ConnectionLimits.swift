import HTTPTypes
package import NIOCore
import NIOHTTP1
import Scheduling

/// The time limits and rates of a connection.
package struct ConnectionLimits: Sendable {
  /// How long the head of a request may take to arrive.
  package var header = TimeAmount.seconds(Int64(RequestLimits.headerSeconds))
  /// How long a body may pause.
  package var bodyGrace = TimeAmount.seconds(Int64(RequestLimits.bodyGraceSeconds))
  /// Bytes per second at which a body has to arrive.
  package var bodyRate = RequestLimits.bodyBytesPerSecond
  /// How long a body may take to arrive, besides the time that its bytes take at ``bodyRate``.
  package var body = TimeAmount.seconds(Int64(RequestLimits.bodySeconds))
  /// How long a body may still take once the server stops.
  package var bodyAtStop = TimeAmount.seconds(Int64(RequestLimits.bodyAtStopSeconds))
  /// From the end of a request to the beginning of its answer.
  package var answer: TimeAmount
  /// How long a client may read nothing of an answer.
  package var stall = TimeAmount.seconds(Int64(RequestLimits.idleSeconds))
  /// Bytes per second at which a client has to read a long answer.
  package var answerRate = RequestLimits.answerBytesPerSecond
  /// How long a connection may continue once the server stops.
  package var stop = TimeAmount.seconds(Int64(RequestLimits.stopSeconds))
  /// How long the server discards what comes after the last answer, before it closes the connection.
  package var linger = TimeAmount.seconds(Int64(RequestLimits.lingerSeconds))

  /// The values of ``RequestLimits``, with this time until an answer begins.
  package init(requestSeconds: Int = RequestLimits.requestSeconds) {
    answer = .seconds(Int64(requestSeconds))
  }

  /// How often the limits of a busy connection are checked: half the shortest of them, so that none is missed.
  var interval: TimeAmount {
    .nanoseconds(min(header, bodyGrace, bodyAtStop, body, answer, stall).nanoseconds / 2)
  }

  /// How long `bytes` may take at `rate` bytes a second; a minute if the number overflows.
  static func time(for bytes: Int, at rate: Int) -> TimeAmount {
    let (product, overflow) = Int64(bytes).multipliedReportingOverflow(by: 1_000_000_000)
    return overflow ? .minutes(1) : .nanoseconds(product / Int64(max(1, rate)))
  }
}

/// The caps that an operator can set.
package struct ConnectionCaps: Sendable, Equatable {
  /// Connections at once.
  package var total = RequestLimits.connections
  /// Connections at once from one address.
  package var perAddress = RequestLimits.connectionsPerAddress
  /// Whether connections from this machine count for their address.
  package var countsLoopback = false
  /// Requests that are answered at the same time.
  package var requestsAtOnce = RequestLimits.requestsAtOnce
  /// Bytes of bodies in memory, together with what the server makes of them.
  package var bodyMemoryBytes = RequestLimits.bodyMemoryBytes
  /// Bytes of answers in memory that clients have not taken yet.
  package var answerMemoryBytes = RequestLimits.answerMemoryBytes
  /// Seconds from the last byte of a request to the first byte of its answer.
  package var requestSeconds = RequestLimits.requestSeconds
  /// The processor time that a request may cost, in milliseconds.
  package var requestProcessorMilliseconds = Int(Work.standardLimit / 1_000_000)

  /// The values of ``RequestLimits``.
  package init() {}
}

/// What the handlers of one HTTP/1 connection share. It is used only on the connection's event loop.
final class ConnectionState {
  /// Heads and ends of requests that the parser has found so far; wraps around.
  var marks: UInt = 0
  /// Whether the parser is inside a request's body.
  var isInBody = false
  /// Requests that were passed on and are not answered yet.
  var outstanding = 0
  /// The memory and the slot of the request whose head is being passed on.
  var reservation: RequestReservation?
  /// Whether the request that was read last is the last of the connection: because of its version, of
  /// `Connection: close`, or of an `Upgrade` field, after which the parser reads no more.
  var isLast = false
  /// Whether the request that was read last uses HTTP/1.0.
  var isOld = false
  /// Whether the request that is being answered uses HTTP/1.0, which has no chunked encoding.
  var answersOld = false
  var failure: HTTPParserError?
  /// The answer to this error.
  var refusal: ConnectionRefusal?
  /// Whether all that arrives is discarded.
  var isDraining = false
  /// Reads more while all that arrives is discarded.
  var read: (() -> Void)?
}

/// A request that was passed on and is not completely answered, with what its answer needs to know.
struct OutstandingRequest {
  let head: HTTPRequest
  /// Whether it uses HTTP/1.0.
  var isOld = false
  /// Whether it is the last of its connection.
  var isLast = false
  /// Whether it is admitted even when the server is overloaded.
  var isAlwaysAdmitted = false
  /// Its memory and its slot, once it is passed on.
  var reservation: RequestReservation?
  /// Bytes of its body, as sent, that are accounted for.
  var sentBytes = 0
}

/// Tells the connection that a route is about to read a body. Only then a client that waits with its body
/// (`Expect: 100-continue`, RFC 9110, section 10.1.1) is told to send it.
package struct BodyWanted: Sendable {
  package init() {}
}

/// Tells the connection that a route reads its body as it comes. The body may have any length and take any time, as
/// long as it arrives at the usual rate. The bytes that have arrived no longer count as memory.
package struct BodyStreamingStarted: Sendable {
  package init() {}
}

/// Tells the connection that a route has done a part of work whose size the client decides, such as one of many
/// commits. The time to the beginning of its answer begins again.
package struct RequestProgressed: Sendable {
  package init() {}
}

/// Tells the last handler of a connection that its last answer is written, or that there will be none. The requests
/// that still wait are not answered (RFC 9112, section 9.6).
struct LastAnswer: Sendable {}

extension ChannelHandlerContext {
  /// Closes the sending side, and the whole connection after `time`. An immediate close could send a reset, which loses
  /// the answer (RFC 9112, section 9.6).
  func close(lingering time: TimeAmount) {
    close(mode: .output, promise: nil)
    let channel = channel
    eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
  }
}
