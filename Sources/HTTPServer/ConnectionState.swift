import HTTPTypes
import NIOCore
import NIOHTTP1

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
  /// What is known of the request that the parser refused: the beginning of its target.
  var refused: HTTPRequest?
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
  /// Whether its route waits for its body. With the other methods it runs without it.
  var awaitsBody: Bool {
    switch head.method {
    case .get, .head, .delete, .options: false
    default: true
    }
  }
}

/// What a route tells its connection.
package enum RequestEvent: Sendable {
  /// It is about to read a body. Only then a client that waits with its body (`Expect: 100-continue`, RFC 9110,
  /// section 10.1.1) is told to send it.
  case bodyWanted
  /// It reads its body as it comes. The body may have any length and take any time, as long as it arrives at the usual
  /// rate. The bytes that have arrived no longer count as memory.
  case bodyStreamingStarted
  /// It has done a part of work whose size the client decides, such as one of many commits. The time to the beginning
  /// of its answer begins again.
  case progressed
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
