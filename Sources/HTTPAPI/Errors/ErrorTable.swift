import CouchSync
import HTTPServer
import HTTPTypes
import Hotels
import Hummingbird
import JSON
import NIOCore
import NIOHTTP1
import Stores

/// The one mapping of errors to a status and a text. `/couch` answers each code of ``ServiceError`` as CouchDB does
/// (``ServiceError/couch``). `/v1` and `/api` do the same, except for the codes in ``row(_:)``.
enum ErrorTable {
  /// The seconds of `Retry-After` if an error does not say how many.
  private static let retrySeconds = 1

  /// The problem that a client gets for an error. An unknown error becomes a 500 without details.
  static func problem(for error: any Error, in dialect: Problem.Dialect = .problem) -> Problem {
    switch error {
    case let problem as Problem: return problem
    case let refusal as ConnectionRefusal: return Problem(refusal)
    case let error as SearchError: return search(error)
    case is CancellationError:
      return Problem(
        .serviceUnavailable, "unavailable", "The server is stopping", retryAfter: retrySeconds)
    case let error as any HTTPResponseError: return framework(error.status)
    default:
      guard let error = ServiceError(error) else {
        return Problem(
          .internalServerError, "internal_error", "The server failed to answer",
          detail: String(reflecting: type(of: error)))
      }
      return problem(of: error, in: dialect)
    }
  }

  /// The problem for one of the service's own errors.
  private static func problem(of error: ServiceError, in dialect: Problem.Dialect) -> Problem {
    let (status, code) = dialect == .couch ? error.couch : row(error)
    let reason =
      switch error.code {
      // Something absent and something of another person's get the same bytes.
      case .absent where dialect != .couch: Problem.notFound.reason
      case .keys: "Tokens can't be made now"
      default: error.reason
      }
    var fields: HTTPFields = [:]
    // A passing error gets `Retry-After`. CouchDB's replicator and PouchDB wait longer after each failure by
    // themselves.
    if waits(error, status, in: dialect) {
      fields[.retryAfter] = String(max(1, error.retryAfterSeconds ?? retrySeconds))
    }
    if status == 401 { fields.append(contentsOf: Authentication.challenge) }
    return Problem(.named(status), code, reason, headers: fields, detail: error.detail)
  }

  /// The status and the error name in `/v1` and `/api`.
  private static func row(_ error: ServiceError) -> (status: Int, error: String) {
    switch error.code {
    case .overloaded, .invalidJSON, .invalidUTF8: (error.couch.status, error.code.rawValue)
    case .jsonTooLarge: (413, ServiceError.Code.documentTooLarge.rawValue)
    case .guestSpent: (410, error.code.rawValue)
    default: error.couch
    }
  }

  /// Whether a later attempt may succeed.
  private static func waits(
    _ error: ServiceError, _ status: Int, in dialect: Problem.Dialect
  ) -> Bool {
    guard status == 429 || status == 503 else { return false }
    switch error.code {
    case .damaged, .readOnly, .keys: return dialect == .couch
    default: return true
    }
  }

  private static func search(_ error: SearchError) -> Problem {
    switch error.code {
    case .unavailable:
      Problem(
        .serviceUnavailable, "search_unavailable", error.reason, retryAfter: retrySeconds,
        detail: error.detail)
    case .timeout: Problem(.gatewayTimeout, "search_timeout", error.reason, detail: error.detail)
    case .badAnswer: Problem(.badGateway, "search_bad_answer", error.reason, detail: error.detail)
    }
  }

  private static func framework(_ status: HTTPResponse.Status) -> Problem {
    switch status.code {
    case 404: .notFound
    case 413: Problem(.contentTooLarge, "too_large", "The body is too large")
    case 400..<500:
      Problem(status, "bad_request", "The request can't be understood: \(status.reasonPhrase)")
    default: Problem(.internalServerError, "internal_error", "The server failed to answer")
    }
  }
}

extension HTTPResponse.Status {
  /// A status with its usual phrase. A status made of a number alone has none.
  static func named(_ code: Int) -> HTTPResponse.Status {
    HTTPResponse.Status(
      code: code, reasonPhrase: HTTPResponseStatus(statusCode: code).reasonPhrase)
  }
}

extension Problem {
  /// The beginning of `type`; the error's name follows.
  private static let typePrefix = "urn:hotel-bookmarks:error:"

  /// The answer.
  func response(in dialect: Dialect, requestID: String) -> Response {
    Response(
      status: status, headers: fields(in: dialect),
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes(in: dialect, requestID: requestID))))
  }

  /// The answer's header fields, without its length.
  func fields(in dialect: Dialect) -> HTTPFields {
    var fields = headers
    fields[.contentType] =
      dialect == .couch ? "application/json" : "application/problem+json"
    fields[.cacheControl] = "no-store"
    return fields
  }

  /// The answer's body.
  func bytes(in dialect: Dialect, requestID: String) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    if dialect != .couch {
      writer.member("type", Self.typePrefix + error)
      writer.member("title", status.reasonPhrase)
      writer.member("status", status.code)
      writer.member("detail", reason)
    }
    writer.member("error", error)
    writer.member("reason", reason)
    if dialect != .couch { writer.member("requestId", requestID) }
    for (name, value) in members.members {
      writer.name(name)
      writer.value(value)
    }
    if dialect == .travel {
      writer.member("failure", reason)
      writer.member("message", reason)
    }
    writer.endObject()
    return writer.bytes + [UInt8(ascii: "\n")]
  }
}

extension Problem {
  /// The problem for a request that the server refuses instead of a route.
  init(_ refusal: ConnectionRefusal) {
    switch refusal {
    case .slowHead:
      self.init(
        .requestTimeout, "request_timeout",
        "A request's head must arrive within \(RequestLimits.headerSeconds) seconds")
    case .slowBody:
      self.init(
        .requestTimeout, "request_timeout",
        "A body must come at \(RequestLimits.bodyBytesPerSecond) bytes per second or more, and may pause "
          + "for \(RequestLimits.bodyGraceSeconds) seconds")
    case .headers:
      self.init(
        .requestHeaderFieldsTooLarge, "headers_too_large",
        "A request may have \(RequestLimits.headerFields) header fields of "
          + "\(RequestLimits.headerBytes) bytes together")
    case .target:
      self.init(
        .uriTooLong, "uri_too_long", "The URI is longer than \(RequestTarget.maximumBytes) bytes")
    case .method:
      self.init(
        .methodNotAllowed, "method_not_allowed", "There is no such method",
        headers: [.allow: "GET, HEAD, POST, PUT, PATCH, DELETE, COPY, OPTIONS"])
    case .malformed:
      self.init(.badRequest, "bad_request", "The request is no HTTP/1.1 (RFC 9112)")
    case .overloaded:
      self.init(
        .serviceUnavailable, "overloaded", "The server has more to do than it can; try again soon",
        retryAfter: 1)
    case .slowAnswer:
      self.init(
        .serviceUnavailable, "unavailable",
        "The answer took longer than an answer may (requestSeconds at /v1/limits)", retryAfter: 1)
    case .notServed: self = .notFound
    }
  }
}
