import Accounts
import Documents
import HTTPTypes
import Hotels
import Hummingbird
import Lanes
import NIOCore
import Stores

/// The one mapping of every layer's errors to a status and words.
enum ErrorTable {
  /// How many seconds a client should wait when nothing better is known.
  private static let retrySeconds = 1

  /// The problem that an error is for a client. Anything unknown is a 500 that says nothing.
  static func problem(for error: any Error) -> Problem {
    switch error {
    case let problem as Problem: problem
    case let error as HotelError: hotel(error)
    case let error as StoreError: store(error)
    case let error as DocumentError: document(error)
    case let error as JSONError where error.code == .tooManyValues:
      Problem(.contentTooLarge, "too_large", error.reason)
    case let error as JSONError: document(DocumentError(error))
    case let error as AccountError: account(error)
    case let error as SearchError: search(error)
    case is CancellationError, is WorkEnded:
      Problem(
        .serviceUnavailable, "unavailable", "The server is stopping", retryAfter: retrySeconds)
    case let error as any HTTPResponseError: framework(error.status)
    default:
      Problem(
        .internalServerError, "internal_error", "The server failed to answer",
        detail: String(reflecting: type(of: error)))
    }
  }

  private static func document(_ error: DocumentError) -> Problem {
    switch error.code {
    case .conflict: Problem(.conflict, "conflict", error.reason)
    case .missing, .deleted: Problem(.notFound, "not_found", error.reason)
    case .invalidID: Problem(.badRequest, "illegal_docid", error.reason)
    case .invalidRevision: Problem(.badRequest, "bad_request", error.reason)
    case .invalidDocument: Problem(.badRequest, "doc_validation", error.reason)
    case .invalidJSON:
      Problem(.badRequest, error.json?.code.rawValue ?? "invalid_json", error.reason)
    case .tooLarge: Problem(.contentTooLarge, "document_too_large", error.reason)
    case .attachmentsUnsupported:
      Problem(.unsupportedMediaType, "bad_content_type", error.reason)
    case .tooManyLeaves: Problem(.conflict, "too_many_leaves", error.reason)
    case .revisionCollision: Problem(.conflict, "rev_collision", error.reason)
    case .damaged: Problem(.internalServerError, "integrity_error", error.reason)
    }
  }

  private static func store(_ error: StoreError) -> Problem {
    switch error.code {
    case .absent: .notFound
    case .exists: Problem(.preconditionFailed, "file_exists", error.reason)
    case .damaged:
      Problem(.serviceUnavailable, "store_damaged", error.reason, detail: error.detail)
    case .integrity:
      Problem(.internalServerError, "integrity_error", error.reason, detail: error.detail)
    case .unavailable:
      Problem(
        .serviceUnavailable, "unavailable", error.reason, retryAfter: retrySeconds,
        detail: error.detail)
    case .storage:
      Problem(
        .serviceUnavailable, "storage_error", error.reason, retryAfter: retrySeconds,
        detail: error.detail)
    case .readOnly:
      Problem(.serviceUnavailable, "read_only", error.reason, detail: error.detail)
    case .storageFull:
      Problem(insufficientStorage, "insufficient_storage", error.reason, detail: error.detail)
    case .overloaded:
      Problem(.tooManyRequests, "overloaded", error.reason, retryAfter: retrySeconds)
    case .ended: Problem(.serviceUnavailable, "unavailable", error.reason, retryAfter: retrySeconds)
    case .quotaExceeded: Problem(insufficientStorage, "quota_exceeded", error.reason)
    case .rejected:
      error.document.map(document) ?? Problem(.badRequest, "bad_request", error.reason)
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

  /// Source: RFC 4918, section 11.5.
  static let insufficientStorage = HTTPResponse.Status(
    code: 507, reasonPhrase: "Insufficient Storage")
}

extension ErrorTable {
  /// What the bookmark rules refuse.
  static func hotel(_ error: HotelError) -> Problem {
    switch error.code {
    case .precondition: Problem(.preconditionFailed, "precondition_failed", error.reason)
    case .receiptMismatch:
      Problem(.unprocessableContent, "idempotency_key_reused", error.reason)
    case .invalidBatch, .invalidHotel: Problem(.badRequest, "doc_validation", error.reason)
    case .tooLarge: Problem(.contentTooLarge, "document_too_large", error.reason)
    case .unknownHotel: Problem(.notFound, "not_found", error.reason)
    case .occupied: Problem(.conflict, "conflict", error.reason)
    case .store: error.store.map { problem(for: $0) } ?? .notFound
    }
  }
}

extension ErrorTable {
  /// What accounts refuse.
  static func account(_ error: AccountError) -> Problem {
    let wait = error.retryAfterSeconds ?? 1
    return switch error.code {
    case .invalidName: Problem(.badRequest, "invalid_username", error.reason)
    case .invalidPassword: Problem(.badRequest, "invalid_password", error.reason)
    case .noPassword: Problem(.forbidden, "forbidden", error.reason)
    case .taken: Problem(.conflict, "conflict", error.reason)
    case .badCredentials, .invalidToken, .expiredToken:
      Problem(
        .unauthorized, "unauthorized", error.reason, headers: Authentication.challenge)
    case .lockedOut, .tooMany:
      Problem(.tooManyRequests, "too_many_requests", error.reason, retryAfter: wait)
    case .guestSpent: Problem(.gone, "guest_spent", error.reason)
    case .unknownUser: Problem(.notFound, "not_found", error.reason)
    case .hashingBusy:
      Problem(.serviceUnavailable, "unavailable", error.reason, retryAfter: wait)
    case .issuerUnavailable:
      Problem(
        .serviceUnavailable, "issuer_unavailable", error.reason, retryAfter: wait,
        detail: error.detail)
    case .store: error.store.map { problem(for: $0) } ?? .notFound
    case .keys:
      Problem(.serviceUnavailable, "unavailable", "Tokens can't be made now", detail: error.detail)
    }
  }
}

extension Problem {
  /// Which words and type an answer has.
  enum Dialect: Sendable {
    /// `application/problem+json` (RFC 9457).
    case problem
    /// CouchDB's `{"error","reason"}` as `application/json`.
    case couch
    /// A problem that says its reason once more as `failure` and `message`, which the travel-sample's apps read.
    case travel

    /// The dialect of a path's family.
    init(path: String) {
      if path == "/couch" || path.utf8.starts(with: "/couch/".utf8) {
        self = .couch
      } else {
        self = path.utf8.starts(with: "/api/".utf8) ? .travel : .problem
      }
    }
  }

  /// What `type` starts with: the error's name follows.
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
    if dialect == .travel {
      writer.member("failure", reason)
      writer.member("message", reason)
    }
    writer.endObject()
    return writer.bytes + [UInt8(ascii: "\n")]
  }
}
