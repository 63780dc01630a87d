package import Documents
package import HTTPTypes

/// An answer that says what went wrong and what to change.
///
/// Source: RFC 9457; `error` and `reason` are CouchDB's names, which sync clients read.
package struct Problem: Error, Sendable {
  /// The answer's status.
  package let status: HTTPResponse.Status
  /// The error's name: lower-case words joined by `_`. The book's Errors page lists every name.
  package let error: String
  /// A sentence that tells the client what to change.
  package let reason: String
  /// Additional header fields: `Allow`, `Retry-After`, `WWW-Authenticate`.
  package var headers: HTTPFields
  /// Details for an operator, only for the log.
  package var detail: String
  /// Additional members of the answer; none has the name of a problem's own member.
  package var members: JSONObject = [:]

  /// A problem with its texts.
  /// - Parameter seconds: after which it may have passed; nil if it does not pass.
  package init(
    _ status: HTTPResponse.Status, _ error: String, _ reason: String, headers: HTTPFields = [:],
    retryAfter seconds: Int? = nil, detail: String = ""
  ) {
    (self.status, self.error, self.reason) = (status, error, reason)
    (self.headers, self.detail) = (headers, detail)
    if let seconds { self.headers[.retryAfter] = String(max(1, seconds)) }
  }

  /// The answer for something that is absent or belongs to another person: the same bytes for both.
  package static let notFound = Problem(.notFound, "not_found", "There is nothing here")

  /// The answer for a body that is not as the operation wants it.
  static func badRequest(_ reason: String) -> Problem {
    Problem(.badRequest, "bad_request", reason)
  }

  /// The answer for a parameter of the query that is not as the operation wants it.
  static func invalidParameter(_ reason: String) -> Problem {
    Problem(.badRequest, "invalid_parameter", reason)
  }

  /// The answer for a header field that is not as the operation wants it.
  static func invalidHeader(_ reason: String) -> Problem {
    Problem(.badRequest, "invalid_header", reason)
  }

  /// The form of an error's answer.
  enum Dialect: Sendable {
    /// `application/problem+json` (RFC 9457).
    case problem
    /// CouchDB's `{"error","reason"}` as `application/json`.
    case couch
    /// A problem that repeats its reason as `failure` and `message`, which the travel-sample's apps read.
    case travel

    /// The dialect for a request without a route: that of the routes below the same path. A route declares its own.
    init(path: String) {
      if path == "/couch" || path.utf8.starts(with: "/couch/".utf8) {
        self = .couch
      } else {
        self = path.utf8.starts(with: "/api/".utf8) ? .travel : .problem
      }
    }
  }
}
