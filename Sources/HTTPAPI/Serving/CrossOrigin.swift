import Documents
import HTTPTypes
import Hummingbird

/// Which pages of other origins may call this server, and which of them with credentials.
///
/// A listed origin is echoed and may send the session cookie; `*` lets every page read what it may ask for
/// with a token, and no page send the cookie. An origin is listed by its exact bytes, as browsers write it;
/// `null`, which any sandboxed page has, never is.
///
/// Source: the Fetch standard, "CORS protocol" and "CORS protocol and credentials".
package struct CrossOrigin: Sendable {
  /// For how long a browser may keep the answer to a preflight request, in seconds.
  static let preflightSeconds = 600

  private let origins: [String]
  private let allowsAny: Bool

  /// - Parameter origins: the allowed origins, each `scheme://host[:port]`; `*` for any; none by default.
  package init(origins: [String] = []) {
    self.origins = origins.filter { $0 != "*" && $0 != "null" }
    allowsAny = origins.contains("*")
  }

  /// Whether pages of an origin may call with credentials.
  func allows(_ origin: String) -> Bool {
    origins.contains { $0.equalsBytes(of: origin) }
  }

  /// The answer to a preflight request; nil for any other request.
  func preflight(_ request: Request) -> Response? {
    guard request.method == .options, let origin = request.headers[.origin],
      request.headers[.accessControlRequestMethod] != nil
    else { return nil }
    var fields: HTTPFields = [.vary: "Origin"]
    guard admit(origin, &fields) else { return Response(status: .noContent, headers: fields) }
    fields[.accessControlAllowMethods] = "GET, HEAD, POST, PUT, PATCH, DELETE"
    fields[.accessControlAllowHeaders] = Self.requestHeaders
    fields[.accessControlMaxAge] = String(Self.preflightSeconds)
    return Response(status: .noContent, headers: fields)
  }

  /// Adds what a page needs to read the answer.
  func decorate(_ response: inout Response, for request: Request) {
    guard !origins.isEmpty || allowsAny else { return }
    let other = response.headers[.vary].flatMap { $0 == "Origin" ? nil : $0 + ", " } ?? ""
    response.headers[.vary] = other + "Origin"
    guard let origin = request.headers[.origin], admit(origin, &response.headers) else { return }
    response.headers[.accessControlExposeHeaders] = Self.answerHeaders
  }

  /// Says to a browser that a page of this origin may read the answer; false if it may not.
  private func admit(_ origin: String, _ fields: inout HTTPFields) -> Bool {
    if allows(origin) {
      fields[.accessControlAllowOrigin] = origin
      fields[.accessControlAllowCredentials] = "true"
      return true
    }
    guard allowsAny, origin != "null" else { return false }
    fields[.accessControlAllowOrigin] = "*"
    return true
  }

  private static let requestHeaders =
    "accept, authorization, content-encoding, content-type, if-match, if-none-match, "
    + "idempotency-key, prefer"
  private static let answerHeaders = "etag, location, retry-after, renewed-token, x-request-id"
}
