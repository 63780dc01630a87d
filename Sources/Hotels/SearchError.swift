/// Why a search has no answer. A client may see the reason.
package struct SearchError: Error, Sendable, Equatable, CustomDebugStringConvertible {
  /// What went wrong. A closed set, so that each adapter maps every case.
  package enum Code: String, Sendable, CaseIterable {
    /// The upstream can't be reached, or says that it can't answer now (503).
    case unavailable
    /// The upstream did not answer in time (504).
    case timeout
    /// The upstream's answer can't be parsed, or the upstream refused the request (502).
    case badAnswer
  }

  /// What went wrong.
  package let code: Code
  /// A sentence for the client.
  package let reason: String
  /// Details for an operator. Never shown to a client.
  package let detail: String
  /// Whether an immediate second attempt may succeed.
  package let mayRetry: Bool

  /// Makes an error.
  package init(_ code: Code, _ reason: String, detail: String = "", mayRetry: Bool = false) {
    self.code = code
    self.reason = reason
    self.detail = detail
    self.mayRetry = mayRetry
  }

  package var debugDescription: String { "SearchError(\(code.rawValue): \(reason) \(detail))" }
}
