import HTTPTypes
package import NIOCore
import NIOHTTP1

/// The times and rates that a connection is held to.
package struct ConnectionLimits: Sendable {
  /// How long the head of a request may be on its way.
  package var header = TimeAmount.seconds(Int64(RequestLimits.headerSeconds))
  /// How long a body may pause.
  package var bodyGrace = TimeAmount.seconds(Int64(RequestLimits.bodyGraceSeconds))
  /// Bytes per second of a body.
  package var bodyRate = RequestLimits.bodyBytesPerSecond
  /// How long a body may be on its way.
  package var body = TimeAmount.seconds(Int64(RequestLimits.bodySeconds))
  /// From the end of a request to the beginning of its answer.
  package var answer = TimeAmount.seconds(Int64(RequestLimits.requestSeconds))
  /// How long a client may take nothing of an answer.
  package var stall = TimeAmount.seconds(Int64(RequestLimits.idleSeconds))
  /// Bytes per second that a client has to take of a long answer.
  package var answerRate = RequestLimits.answerBytesPerSecond
  /// How long a connection may go on once the server stops.
  package var stop = TimeAmount.seconds(Int64(RequestLimits.stopSeconds))
  /// How long what comes after the last answer is thrown away before the connection is cut.
  package var linger = TimeAmount.seconds(Int64(RequestLimits.lingerSeconds))

  /// The limits that ``RequestLimits`` names.
  package init() {}

  /// How often a busy connection is looked at: often enough that none of the limits is missed.
  var interval: TimeAmount {
    .nanoseconds(min(header, bodyGrace, body, answer, stall).nanoseconds / 2)
  }

  /// The time that so many bytes are good for at so many a second; a minute for more than can be said.
  static func time(for bytes: Int, at rate: Int) -> TimeAmount {
    let (product, overflow) = Int64(bytes).multipliedReportingOverflow(by: 1_000_000_000)
    return overflow ? .minutes(1) : .nanoseconds(product / Int64(max(1, rate)))
  }
}

/// How many of each there may be, as an operator has set them.
package struct ConnectionCaps: Sendable, Equatable {
  /// Connections at once.
  package var total = RequestLimits.connections
  /// Connections at once from one address.
  package var perAddress = RequestLimits.connectionsPerAddress
  /// Whether this machine's own connections count for their address.
  package var countsLoopback = false
  /// Requests that are answered at once, at most.
  package var requestsAtOnce = RequestLimits.requestsAtOnce
  /// Bytes of bodies in memory, with what is made of them.
  package var bodyMemoryBytes = RequestLimits.bodyMemoryBytes
  /// Bytes of answers in memory that clients have not taken yet.
  package var answerMemoryBytes = RequestLimits.answerMemoryBytes

  /// The caps that ``RequestLimits`` names.
  package init() {}
}

/// What the handlers of one HTTP/1 connection know together. Touched on the connection's event loop alone.
final class ConnectionState {
  /// Heads and ends of requests that the parser has found so far; wraps around.
  var marks: UInt = 0
  /// Whether the parser is within a request's body.
  var isInBody = false
  /// Requests that were passed on and are not answered yet.
  var outstanding = 0
  /// What the request holds whose head is being passed on.
  var hold: RequestHold?
  /// Whether the request that was read last is the last of the connection: by its version, by
  /// `Connection: close`, or because an upgrade was asked for, after which the parser reads no more.
  var isLast = false
  /// Whether the request that was read last is of HTTP/1.0.
  var isOld = false
  /// Whether the request that is being answered is of HTTP/1.0, which knows no chunks.
  var answersOld = false
  /// What the parser stopped at.
  var failure: HTTPParserError?
  /// The answer to that.
  var refusal: ConnectionRefusal?
  /// Whether whatever comes is thrown away.
  var isDraining = false
  /// Goes on reading while what comes is thrown away.
  var read: (() -> Void)?
}

/// A request that was passed on and is not answered to its end, for what its answer has to know of it.
struct AskedRequest {
  /// Its head.
  let head: HTTPRequest
  /// Whether it is of HTTP/1.0.
  var isOld = false
  /// Whether it is the last of its connection.
  var isLast = false
  /// Whether it is begun however much there is to do.
  var isAlwaysBegun = false
  /// What it holds, once it is passed on.
  var hold: RequestHold?
  /// Bytes of its body as it was sent that are accounted for.
  var sentBytes = 0
}

/// Tells the connection that a route is about to read a body: a client that waits for leave to send it
/// (`Expect: 100-continue`, RFC 9110, section 10.1.1) is given it then and not before.
package struct BodyWanted: Sendable {
  /// The event.
  package init() {}
}

/// Tells the connection that a route takes its body as it comes: it may be of any length and take any time, as long as
/// it comes at the rate of every body, and what has come of it is no longer in memory.
package struct BodyTakenAsItComes: Sendable {
  /// The event.
  package init() {}
}

/// Tells a connection's last handler that its last answer is written, or that there will be none: requests that
/// wait for their turn are not begun any more (RFC 9112, section 9.6).
struct LastAnswer: Sendable {}

/// What a connection and a request may have and take; the composition root hands them to the HTTP server.
package enum RequestLimits {
  /// Bytes of a request's line and header fields, together and of one, at most.
  package static let headerBytes = 16 * 1024
  /// Header fields of a request at most.
  package static let headerFields = 64
  /// Seconds after which a connection on which nothing happens is closed; also how long a client may take
  /// nothing of an answer.
  package static let idleSeconds = 60
  /// Seconds in which a request's head has to arrive, from its first byte; and a TLS handshake.
  package static let headerSeconds = 10
  /// Seconds that a body may pause, however fast it came before.
  package static let bodyGraceSeconds = 10
  /// Bytes per second that a body has to come at, on average after the pause that it may make.
  package static let bodyBytesPerSecond = 1_024
  /// Seconds in which a body has to arrive.
  package static let bodySeconds = 120
  /// Bytes per second that a client has to take of an answer of more than 64 KiB, on average after the pause
  /// that it may make. A feed may be read as slowly as one likes, down to ``idleSeconds`` for each 64 KiB.
  package static let answerBytesPerSecond = 8_192
  /// Bytes of a long answer that are written at a time: as much as a client has to take within ``idleSeconds``.
  package static let answerPieceBytes = 64 << 10
  /// Seconds from a request's last byte to the first of its answer. A feed answers at once.
  package static let requestSeconds = 60
  /// Seconds that a connection is read from after its last answer, so that the answer is not lost.
  package static let lingerSeconds = 1
  /// Seconds from the order to stop to the end of every connection, whatever is on its way there. Thirty
  /// are what service managers grant a process at least; the stores are closed in the rest.
  package static let stopSeconds = 20
  /// Connections at once, where the limit on file descriptors leaves room for as many.
  package static let connections = 10_000
  /// Connections at once from one address, or from the 64-bit prefix of an IPv6 address.
  package static let connectionsPerAddress = 256
  /// Requests that are being answered at once, at most; fewer while the server falls behind. One whose body is
  /// on its way is not among them until that has come.
  package static let requestsAtOnce = 1_024
  /// Bytes of bodies over 64 KiB in memory, as they were sent, unpacked and with what is made of them, of all the
  /// requests whose handlers run; an eighth of the memory that the process may take where that is less.
  package static let bodyMemoryBytes = 256 << 20
  /// The same where the process may take little memory: enough for one body of the longest.
  package static let leastBodyMemoryBytes = 80 << 20
  /// Bytes of answers over 64 KiB in memory that clients have not taken yet, of all connections; an eighth of the
  /// memory that the process may take where that is less.
  package static let answerMemoryBytes = 256 << 20
  /// The same where the process may take little memory: enough for one answer of the longest.
  package static let leastAnswerMemoryBytes = 64 << 20
  /// Streams open at once on one HTTP/2 connection.
  package static let streams = 100
}

extension ChannelHandlerContext {
  /// Ends what is written and cuts the connection a little later, so that an answer on its way is not lost to
  /// a reset (RFC 9112, section 9.6).
  func close(lingering time: TimeAmount) {
    close(mode: .output, promise: nil)
    let channel = channel
    eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
  }
}
