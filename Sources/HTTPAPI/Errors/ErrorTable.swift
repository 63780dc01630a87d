import Accounts
import CouchQuery
import CouchSync
import Documents
import HTTPServer
import HTTPTypes
import Hotels
import Hummingbird
import Lists
import NIOCore
import NIOHTTP1
package import Stores

/// The one mapping of errors to a status and a text.
enum ErrorTable {
  /// The status and the word of a code.
  typealias Row = (status: Int, word: String)

  /// What `/couch` answers, as CouchDB does; `/v1` and `/api`, too, for codes that are not in ``others``.
  ///
  /// Source: CouchDB, "HTTP status codes" and "JSON structure reference: CouchDB error status".
  static let couch: [ServiceError.Code: Row] = [
    .badRequest: (400, "bad_request"), .invalidRevision: (400, "bad_request"),
    .invalidJSON: (400, "bad_request"), .invalidUTF8: (400, "bad_request"),
    .invalidQuery: (400, "query_parse_error"), .invalidArgument: (400, "bad_arg"),
    .invalidID: (400, "illegal_docid"), .invalidDocument: (400, "doc_validation"),
    .duplicateKey: (400, "duplicate_key"), .tooDeep: (400, "too_deep"),
    .tooManyMembers: (400, "too_many_members"), .stringTooLong: (400, "string_too_long"),
    .numberOutOfRange: (400, "number_out_of_range"),
    .invalidDatabaseName: (400, "illegal_database_name"),
    .databaseNameTooLong: (400, "database_name_too_long"),
    .invalidBookmark: (400, "invalid_bookmark"), .invalidBoolean: (400, "invalid_boolean"),
    .invalidBulkDocs: (400, "invalid_bulk_docs"), .invalidDesign: (400, "invalid_design_doc"),
    .invalidDesignLanguage: (400, "invalid_ddoc_lang"), .invalidField: (400, "invalid_field"),
    .invalidFieldName: (400, "invalid_field_name"), .invalidFields: (400, "invalid_fields"),
    .invalidIndex: (400, "invalid_index"), .invalidIndexName: (400, "invalid_index_name"),
    .invalidKey: (400, "invalid_key"), .invalidNonNegativeInteger: (400, "invalid_non_neg_integer"),
    .invalidStaleValue: (400, "invalid_ok_or_false_value"),
    .invalidAttachment: (400, "bad_request"), .digestMismatch: (400, "content_md5_mismatch"),
    .invalidOperator: (400, "invalid_operator"),
    .invalidPartitionedValue: (400, "invalid_partitioned_value"),
    .invalidPositiveInteger: (400, "invalid_pos_integer"),
    .invalidSelector: (400, "invalid_selector"),
    .invalidSelectorJSON: (400, "invalid_selector_json"),
    .invalidSortField: (400, "invalid_sort_field"), .invalidSortJSON: (400, "invalid_sort_json"),
    .invalidString: (400, "invalid_string"), .emptyString: (400, "invalid_empty_string"),
    .missingRequiredKey: (400, "missing_required_key"),
    .noUsableIndex: (400, "no_usable_index"), .notSupported: (400, "not_supported"),
    .selectorTooCostly: (400, "selector_too_costly"),
    .unsupportedMixedSort: (400, "unsupported_mixed_sort"), .invalidName: (400, "invalid_username"),
    .invalidPassword: (400, "invalid_password"),
    .badCredentials: (401, "unauthorized"), .invalidToken: (401, "unauthorized"),
    .expiredToken: (401, "unauthorized"), .guestSpent: (401, "unauthorized"),
    .forbidden: (403, "forbidden"), .noRight: (403, "forbidden"),
    .noPassword: (403, "forbidden"),
    .accountNeeded: (403, "account_needed"),
    .absent: (404, "not_found"), .missing: (404, "not_found"), .deleted: (404, "not_found"),
    .unknownHotel: (404, "not_found"), .unknownUser: (404, "not_found"),
    .missingRevision: (409, "not_found"),
    .conflict: (409, "conflict"), .occupied: (409, "conflict"), .taken: (409, "conflict"),
    .tooManyLeaves: (409, "too_many_leaves"), .revisionCollision: (409, "rev_collision"),
    .notEmpty: (409, "account_not_empty"), .beingFilled: (409, "import_running"),
    .configuration: (409, "configuration"),
    .invitationGone: (410, "invitation_gone"), .undoOver: (410, "undo_over"),
    .missingStub: (412, "missing_stub"), .exists: (412, "file_exists"),
    .precondition: (412, "precondition_failed"),
    .tooLarge: (413, "too_large"), .jsonTooLarge: (413, "too_large"),
    .tooManyValues: (413, "too_large"), .documentTooLarge: (413, "document_too_large"),
    .attachmentTooLarge: (413, "attachment_too_large"),
    .attachmentsUnsupported: (415, "bad_content_type"),
    .unsupportedPhoto: (415, "unsupported_photo"),
    .notAtomic: (417, "not_implemented"),
    .receiptMismatch: (422, "idempotency_key_reused"), .invalidExport: (422, "invalid_export"),
    .importRefused: (422, "import_refused"), .malformedPhoto: (422, "malformed_photo"),
    .tooManyPhotos: (422, "too_many_photos"),
    .overloaded: (429, "too_many_requests"), .tooManyRequests: (429, "too_many_requests"),
    .lockedOut: (429, "too_many_requests"), .tooMany: (429, "too_many_requests"),
    .integrity: (500, "integrity_error"),
    .notImplemented: (501, "not_implemented"),
    .damaged: (503, "store_damaged"), .storage: (503, "storage_error"),
    .readOnly: (503, "read_only"), .moved: (503, "stores_moved"),
    .outcomeUnknown: (503, "outcome_unknown"), .issuerUnavailable: (503, "issuer_unavailable"),
    .unavailable: (503, "unavailable"), .ended: (503, "unavailable"),
    .hashingBusy: (503, "unavailable"), .keys: (503, "unavailable"),
    .storageFull: (507, "insufficient_storage"), .quotaExceeded: (507, "quota_exceeded"),
  ]

  /// What `/v1` and `/api` answer to codes for which CouchDB's answer says too little.
  private static let others: [ServiceError.Code: Row] = [
    .invalidJSON: (400, "invalid_json"), .invalidUTF8: (400, "invalid_utf8"),
    .guestSpent: (410, "guest_spent"), .jsonTooLarge: (413, "document_too_large"),
    .overloaded: (429, "overloaded"),
  ]

  /// The seconds of `Retry-After` if an error does not say how many.
  private static let retrySeconds = 1

  /// The problem that a client gets for an error. An unknown error becomes a 500 without details.
  static func problem(for error: any Error, in dialect: Problem.Dialect = .problem) -> Problem {
    switch error {
    case let problem as Problem: return problem
    case let refusal as ConnectionRefusal: return Problem(refusal)
    case let error as SearchError: return search(error)
    case let conflict as NoteConflict: return Problem(conflict)
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
    let (status, word) = row(error.code, in: dialect)
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
    return Problem(.named(status), word, reason, headers: fields, detail: error.detail)
  }

  /// The status and the word of a code. A code without a row is a fault of the server.
  static func row(_ code: ServiceError.Code, in dialect: Problem.Dialect) -> Row {
    (dialect == .couch ? nil : others[code]) ?? couch[code] ?? (500, "internal_error")
  }

  /// The word of a code within an answer of `/couch`.
  @Sendable static func couchWord(_ code: ServiceError.Code) -> String {
    row(code, in: .couch).word
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
    HTTPResponse.Status(code: code, reasonPhrase: HTTPResponseStatus(statusCode: code).reasonPhrase)
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
    fields[.contentType] = dialect == .couch ? "application/json" : "application/problem+json"
    fields[.cacheControl] = "no-store"
    return fields
  }

  /// The answer's body.
  func bytes(in dialect: Dialect, requestID: String) -> [UInt8] {
    JSONWriter.object { writer in
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
    } + [UInt8(ascii: "\n")]
  }

  /// The 409 with all texts, so that the author can put them together.
  fileprivate init(_ conflict: NoteConflict) {
    let cause =
      switch (conflict.base, conflict.theirs) {
      case (nil, _): "The text that the change began from is not stored"
      case (_, nil): "Somebody has removed the note"
      default: "Somebody has changed the same lines, or the texts are too long together"
      }
    self.init(
      .conflict, "conflict",
      cause + ": put the texts together, and send that with theirsRev, or none, as base")
    let theirs = conflict.theirs
    members = [
      "base": conflict.base.map { .string($0) } ?? .null,
      "theirs": theirs.map { .string($0.markdown) } ?? .null,
      "theirsRev": theirs.map { .string($0.revision.description) } ?? .null,
      "mine": conflict.mine.map { .string($0) } ?? .null,
    ]
  }

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
    case .scattered:
      self.init(
        .badRequest, "bad_request",
        "A body may come in \(RequestLimits.bodyPieces) pieces, and in one more for every "
          + "\(RequestLimits.bytesPerBodyPiece) of its bytes")
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
    case .malformed: self.init(.badRequest, "bad_request", "The request is no HTTP/1.1 (RFC 9112)")
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

extension ServiceError.Code {
  /// The caller uses too many of these at the same time.
  package static let tooManyRequests = Self("tooManyRequests")
  package static let invalidDatabaseName = Self("invalidDatabaseName")
  package static let databaseNameTooLong = Self("databaseNameTooLong")
  /// A file of hotels can't be imported as it is.
  package static let importRefused = Self("importRefused")
  /// An operator has to change something outside of the server first: a setting, a path, a database.
  package static let configuration = Self("configuration")
}
