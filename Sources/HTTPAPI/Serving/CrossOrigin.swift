import Documents
import HTTPTypes
import Hummingbird

/// Which pages of other origins may call this server with credentials.
///
/// Source: the Fetch standard, "CORS protocol"; `*` is not enough for credentials, so the origin is echoed.
package struct CrossOrigin: Sendable {
  private let origins: [String]
  private let allowsAny: Bool

  /// - Parameter origins: the allowed origins, each `scheme://host[:port]`; `*` for any; none by default.
  package init(origins: [String] = []) {
    self.origins = origins
    allowsAny = origins.contains("*")
  }

  /// Whether pages of an origin may call.
  func allows(_ origin: String) -> Bool {
    guard origin != "null" else { return false }
    return allowsAny || origins.contains { $0.equalsBytes(of: origin) }
  }

  /// The answer to a preflight request; nil for any other request.
  func preflight(_ request: Request) -> Response? {
    guard request.method == .options, let origin = request.headers[.origin],
      request.headers[.accessControlRequestMethod] != nil
    else { return nil }
    var fields: HTTPFields = [.vary: "Origin"]
    guard allows(origin) else { return Response(status: .noContent, headers: fields) }
    fields[.accessControlAllowOrigin] = origin
    fields[.accessControlAllowCredentials] = "true"
    fields[.accessControlAllowMethods] = "GET, HEAD, POST, PUT, PATCH, DELETE"
    fields[.accessControlAllowHeaders] = Self.requestHeaders
    fields[.accessControlMaxAge] = "600"
    return Response(status: .noContent, headers: fields)
  }

  /// Adds what a page needs to read the answer.
  func decorate(_ response: inout Response, for request: Request) {
    guard !origins.isEmpty else { return }
    response.headers[.vary] = "Origin"
    guard let origin = request.headers[.origin], allows(origin) else { return }
    response.headers[.accessControlAllowOrigin] = origin
    response.headers[.accessControlAllowCredentials] = "true"
    response.headers[.accessControlExposeHeaders] = Self.answerHeaders
  }

  private static let requestHeaders =
    "accept, authorization, content-type, if-match, if-none-match, idempotency-key, prefer"
  private static let answerHeaders = "etag, location, retry-after, renewed-token, x-request-id"
}
