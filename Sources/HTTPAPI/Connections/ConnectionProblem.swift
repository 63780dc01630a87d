import HTTPTypes
import NIOCore
import NIOHTTP1

/// What is answered before there is a request that a route could take, or in its place.
enum ConnectionProblem {
  /// A head that took too long.
  static let late = Problem(
    .requestTimeout, "request_timeout",
    "A request's head must arrive within \(RequestLimits.headerSeconds) seconds")
  /// A body that took too long.
  static let slowBody = Problem(
    .requestTimeout, "request_timeout",
    "A body must come at \(RequestLimits.bodyBytesPerSecond) bytes per second or more, and within "
      + "\(RequestLimits.bodySeconds) seconds")
  /// Too many bytes or fields.
  static let headers = Problem(
    .requestHeaderFieldsTooLarge, "headers_too_large",
    "A request may have \(RequestLimits.headerFields) header fields of \(RequestLimits.headerBytes) "
      + "bytes together")
  /// A target that is longer than a head may be.
  static let target = Problem(
    .uriTooLong, "uri_too_long", "The URI is longer than \(RequestTarget.maximumBytes) bytes")
  /// A method that nobody knows.
  static let method = Problem(
    .methodNotAllowed, "method_not_allowed", "There is no such method",
    headers: [.allow: "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS"])
  /// Anything else that is no HTTP/1.1.
  static let malformed = Problem(
    .badRequest, "bad_request", "The request is no HTTP/1.1 (RFC 9112)")
  /// More requests, bodies or connections than the server takes.
  static let overloaded = Problem(
    .serviceUnavailable, "overloaded", "The server has more to do than it can; try again soon",
    retryAfter: 1)
  /// An answer that nobody waits for any more.
  static let tooLong = Problem(
    .serviceUnavailable, "unavailable",
    "The answer took longer than \(RequestLimits.requestSeconds) seconds", retryAfter: 1)

  /// Ends what is written and cuts the connection a little later, so that an answer on its way is not lost to
  /// a reset (RFC 9112, section 9.6).
  static func linger(_ context: ChannelHandlerContext, _ time: TimeAmount) {
    context.close(mode: .output, promise: nil)
    let channel = context.channel
    context.eventLoop.scheduleTask(in: time) { channel.close(promise: nil) }
  }
}

extension Problem {
  /// Whether a request is answered however much there is to do: operators ask then.
  static func mustAnswer(_ request: HTTPRequest) -> Bool {
    request.path.flatMap { OperationQuestion(target: $0) } != nil
  }

  /// Head and body of the connection's last answer.
  func message(to request: HTTPRequest?, closes: Bool) -> (head: HTTPResponse, body: ByteBuffer) {
    let dialect = Dialect(path: request?.path ?? "/")
    let bytes = self.bytes(in: dialect, requestID: "none")
    var fields = self.fields(in: dialect)
    fields[.contentLength] = String(bytes.count)
    fields[.xContentTypeOptions] = "nosniff"
    if closes { fields[.connection] = "close" }
    return (HTTPResponse(status: status, headerFields: fields), ByteBuffer(bytes: bytes))
  }

  /// The connection's last answer as it goes over the wire, for where nothing writes answers yet.
  var buffer: ByteBuffer {
    let (head, body) = message(to: nil, closes: true)
    var buffer = ByteBuffer(
      string: "HTTP/1.1 \(head.status.code) \(head.status.reasonPhrase)\r\n")
    for field in head.headerFields {
      buffer.writeString("\(field.name.rawName): \(field.value)\r\n")
    }
    buffer.writeString("\r\n")
    buffer.writeImmutableBuffer(body)
    return buffer
  }
}
