package import Documents
import Lanes
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

extension CouchError {
  /// What the document rules' refusal is for a client.
  package init(_ error: DocumentError) {
    switch error.code {
    case .conflict: self.init(409, "conflict", error.reason)
    case .missing, .deleted: self.init(404, "not_found", error.reason)
    case .invalidID: self.init(400, "illegal_docid", error.reason)
    case .invalidRevision: self.init(400, "bad_request", error.reason)
    case .invalidDocument: self.init(400, "doc_validation", error.reason)
    case .invalidJSON, .tooLarge:
      guard let json = error.json else {
        self.init(413, "document_too_large", error.reason)
        return
      }
      self.init(json)
    case .attachmentsUnsupported: self.init(415, "bad_content_type", error.reason)
    case .tooManyLeaves: self.init(409, "too_many_leaves", error.reason)
    case .revisionCollision: self.init(409, "rev_collision", error.reason)
    case .damaged: self.init(500, "integrity_error", error.reason)
    }
  }

  /// What the parser's refusal of a request's body is for a client: `bad_request` for a text that is no
  /// JSON at all, otherwise the name of the rule that it breaks.
  package init(_ error: JSONError) {
    switch error.code {
    case .invalidJSON, .invalidUTF8: self.init(400, "bad_request", error.reason)
    case .tooLarge, .tooManyValues: self.init(413, "too_large", error.reason)
    case .duplicateKey, .tooDeep, .tooManyMembers, .stringTooLong, .numberOutOfRange:
      self.init(400, error.code.rawValue, error.reason)
    }
  }

  /// The refusal as it stands in an array of a peer's revisions (`new_edits=false`).
  ///
  /// What no repetition could make acceptable is `forbidden` there: PouchDB reports such a document as
  /// denied and goes on, while any other word makes it push the same batch again for ever.
  var forReplication: CouchError {
    switch error {
    case "bad_content_type", "bad_request", "document_too_large", "illegal_docid",
      "doc_validation", "rev_collision", "too_many_leaves":
      CouchError(403, "forbidden", reason, detail: detail)
    default: self
    }
  }
}

extension CouchError {
  /// Gives way to others where the slice is over, in work that a client sizes.
  /// - Throws: 503 when nobody waits for the answer any more.
  static func givingWay() async throws(CouchError) {
    do { try await Slice.giveWay() } catch { throw CouchError(StoreError.ended) }
  }
}

extension Selector {
  /// Whether a document, with its `_id`, matches; gives way to others while it finds out.
  /// - Throws: 400 `selector_too_costly`; 503 when nobody waits for the answer any more.
  func matches(
    _ root: JSONNode, givingWay budget: inout SelectorBudget
  ) async throws(CouchError) -> Bool {
    guard !matchesAll else { return true }
    var match = match(root)
    while true {
      let isMatch = match.next(&budget)
      guard !budget.isSpent else { throw SelectorBudget.spent }
      if let isMatch { return isMatch }
      try await CouchError.givingWay()
    }
  }
}

extension CouchError {
  /// The body of the answer: `{"error":…,"reason":…}`.
  package var body: [UInt8] {
    var writer = JSONWriter(reserving: 96)
    writer.beginObject()
    appendMembers(to: &writer)
    writer.endObject()
    return writer.bytes
  }

  /// Writes the two members into an open object.
  func appendMembers(to writer: inout JSONWriter) {
    writer.member("error", error)
    writer.member("reason", reason)
  }
}
