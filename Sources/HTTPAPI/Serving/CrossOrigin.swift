import Documents
import HTTPTypes
import Hummingbird

/// Which pages of other origins may call this server, and which pages may call it with credentials.
///
/// Pages of the server's own origin write with the session cookie. That origin is the one of the URL that clients reach the
/// server by, where the operator has set it: a proxy may pass a `Host` of its own on. Otherwise it is the request's own
/// host, over TLS or not.
///
/// A listed origin is echoed and may send the session cookie. `*` allows every page to send a token and read the
/// answer, but no page to send the cookie. Origins are compared by their exact bytes, in the form that browsers send.
/// `null` is never allowed, because any sandboxed page has it.
///
/// Source: the Fetch standard, "CORS protocol" and "CORS protocol and credentials".
package struct CrossOrigin: Sendable {
  /// How long a browser may cache the answer to a preflight request, in seconds.
  static let preflightSeconds = 600

  private let origins: [String]
  /// The origin of the server's own pages; nil for the request's own host.
  private let own: String?
  private let allowsAny: Bool

  /// - Parameter origins: the allowed origins, each `scheme://host[:port]`; `*` for any; none by default.
  /// - Parameter publicURL: the URL by which clients reach this server; nil for the request's own host.
  package init(origins: [String] = [], publicURL: String? = nil) {
    self.origins = origins.filter { $0 != "*" && $0 != "null" }
    own = publicURL.map { WebOrigin(url: $0)?.text ?? $0 }
    allowsAny = origins.contains("*")
  }

  /// Whether pages of an origin may call with credentials.
  func allows(_ origin: String) -> Bool { origins.contains { $0.equalsBytes(of: origin) } }

  /// Whether a page of an origin may write with the session cookie: one of this server or of a listed origin.
  /// - Parameter authority: the host and port that the request was sent to.
  func allowsWrites(from origin: String, to authority: String?) -> Bool {
    if allows(origin) { return true }
    if let own { return own.equalsBytes(of: origin) }
    guard let authority else { return false }
    return ["http://" + authority, "https://" + authority].contains { $0.equalsBytes(of: origin) }
  }

  /// Whether pages of an origin may call with a token.
  func allowsTokens(from origin: String) -> Bool { allows(origin) || allowsAny && origin != "null" }

  /// Whether a request is a preflight, which browsers send before another request.
  static func isPreflight(_ request: HTTPRequest) -> Bool {
    request.method == .options && request.headerFields[.origin] != nil
      && request.headerFields[.accessControlRequestMethod] != nil
  }

  /// The answer to a preflight request; nil for any other request.
  func preflight(_ request: Request) -> Response? {
    guard Self.isPreflight(request.head), let origin = request.headers[.origin] else { return nil }
    var fields: HTTPFields = [.vary: "Origin"]
    guard admit(origin, &fields) else { return Response(status: .noContent, headers: fields) }
    fields[.accessControlAllowMethods] = "GET, HEAD, POST, PUT, PATCH, DELETE, COPY"
    // No field of a request has a meaning that a page must not use.
    fields[.accessControlAllowHeaders] = request.headers[.accessControlRequestHeaders]
    fields[.accessControlMaxAge] = String(Self.preflightSeconds)
    return Response(status: .noContent, headers: fields)
  }

  /// Adds the fields that allow a page to read the answer.
  /// - Parameter origin: the request's `Origin`.
  func decorate(_ fields: inout HTTPFields, origin: String?) {
    guard !origins.isEmpty || allowsAny else { return }
    let other = fields[.vary].flatMap { $0 == "Origin" ? nil : $0 + ", " } ?? ""
    fields[.vary] = other + "Origin"
    guard let origin, admit(origin, &fields) else { return }
    fields[.accessControlExposeHeaders] = Self.answerHeaders
  }

  /// Adds the fields that allow a page of this origin to read the answer.
  /// - Returns: whether it is allowed.
  private func admit(_ origin: String, _ fields: inout HTTPFields) -> Bool {
    if allows(origin) {
      fields[.accessControlAllowOrigin] = origin
      fields[.accessControlAllowCredentials] = "true"
      return true
    }
    guard allowsTokens(from: origin) else { return false }
    fields[.accessControlAllowOrigin] = "*"
    return true
  }

  private static let answerHeaders =
    "accept-ranges, age, allow, cache-status, content-disposition, content-range, date, etag, link, "
    + "location, preference-applied, renewed-token, retry-after, server-timing, www-authenticate, "
    + "x-content-type-options, x-couch-request-id, x-couchdb-body-time, x-request-id"
}
