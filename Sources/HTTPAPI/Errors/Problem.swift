package import HTTPTypes
package import JSON

/// An answer that says what went wrong and what to change.
///
/// Source: RFC 9457; `error` and `reason` are CouchDB's names, which sync clients read.
package struct Problem: Error, Sendable {
  /// The answer's status.
  package let status: HTTPResponse.Status
  /// The error's name: lower-case words joined by `_`. Each has its line on the book's Errors page.
  package let error: String
  /// A sentence for the client that says what to change.
  package let reason: String
  /// Header fields beside the usual ones: `Allow`, `Retry-After`, `WWW-Authenticate`.
  package var headers: HTTPFields
  /// What an operator needs, for the log alone.
  package var detail: String
  /// What the answer says besides; the names are none of a problem's own.
  package var members: JSONObject = [:]

  /// A problem with its words.
  package init(
    _ status: HTTPResponse.Status, _ error: String, _ reason: String, headers: HTTPFields = [:],
    detail: String = ""
  ) {
    self.status = status
    self.error = error
    self.reason = reason
    self.headers = headers
    self.detail = detail
  }

  /// A problem that may be gone after so many seconds.
  package init(
    _ status: HTTPResponse.Status, _ error: String, _ reason: String, retryAfter seconds: Int,
    detail: String = ""
  ) {
    self.init(
      status, error, reason, headers: [.retryAfter: String(max(1, seconds))], detail: detail)
  }

  /// The answer to what is not there, or is another's: the same bytes for both.
  package static let notFound = Problem(.notFound, "not_found", "There is nothing here")
}
