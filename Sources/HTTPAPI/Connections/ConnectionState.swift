import HTTPTypes
import NIOHTTP1

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
  var refusal: Problem?
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
  let isOld: Bool
  /// What it holds.
  let hold: RequestHold
  /// Bytes of its body as it was sent that are accounted for.
  var sentBytes = 0
}

/// Tells the connection that a route is about to read a body: a client that waits for leave to send it
/// (`Expect: 100-continue`, RFC 9110, section 10.1.1) is given it then and not before.
struct BodyWanted: Sendable {}

/// Tells a connection's last handler that its last answer is written, or that there will be none: requests that
/// wait for their turn are not begun any more (RFC 9112, section 9.6).
struct LastAnswer: Sendable {}
