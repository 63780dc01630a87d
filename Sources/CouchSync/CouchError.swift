package import Stores

/// What a CouchDB client is told instead of an answer: a status and CouchDB's two words.
///
/// Source: CouchDB, "HTTP status codes" and "JSON structure reference: CouchDB error status".
package struct CouchError: Error, Sendable, Equatable, CustomDebugStringConvertible {
  /// The HTTP status, 400 to 599.
  package let status: Int
  /// The short word that clients act upon, such as `not_found`.
  package let error: String
  /// A sentence for the client.
  package let reason: String
  /// What an operator needs. Never shown to a client.
  package let detail: String

  /// An error with its words.
  package init(_ status: Int, _ error: String, _ reason: String, detail: String = "") {
    self.status = status
    self.error = error
    self.reason = reason
    self.detail = detail
  }

  /// 400 for a request that can't be understood.
  package static func badRequest(_ reason: String) -> CouchError {
    CouchError(400, "bad_request", reason)
  }

  /// 400 for a parameter of a query that can't be understood.
  package static func badQuery(_ reason: String) -> CouchError {
    CouchError(400, "query_parse_error", reason)
  }

  /// 404 for a document or revision that was never seen, in CouchDB's words.
  package static let missing = CouchError(404, "not_found", "missing")

  /// 413 for an answer or a request beyond one of ``CouchLimits``.
  package static func tooLarge(_ reason: String) -> CouchError {
    CouchError(413, "too_large", reason)
  }

  /// The status, both words and the detail.
  package var debugDescription: String { "CouchError(\(status) \(error): \(reason) \(detail))" }
}

extension CouchError: StoreFailure {
  /// What a store's failure or refusal is for a client.
  package init(_ error: StoreError) {
    switch error.code {
    case .absent: self.init(404, "not_found", "Database does not exist.")
    case .exists:
      self.init(
        412, "file_exists", "The database could not be created, the file already exists.")
    case .damaged: self.init(503, "store_damaged", error.reason, detail: error.detail)
    case .integrity: self.init(500, "integrity_error", error.reason, detail: error.detail)
    case .unavailable: self.init(503, "unavailable", error.reason, detail: error.detail)
    case .storage: self.init(503, "storage_error", error.reason, detail: error.detail)
    case .storageFull: self.init(507, "insufficient_storage", error.reason, detail: error.detail)
    case .readOnly: self.init(503, "read_only", error.reason, detail: error.detail)
    case .overloaded: self.init(429, "too_many_requests", error.reason, detail: error.detail)
    case .ended: self.init(503, "unavailable", error.reason)
    case .quotaExceeded: self.init(507, "quota_exceeded", error.reason, detail: error.detail)
    case .rejected:
      guard let document = error.document else {
        self = .badRequest(error.reason)
        return
      }
      self.init(document)
    }
  }
}
