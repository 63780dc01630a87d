import Accounts
import CouchQuery
import CouchSync
import Documents
import Foundation
import HTTPTypes
import Hotels
import Hummingbird
import NIOCore
import Stores
import Testing

@testable import HTTPAPI

@Suite struct ErrorTableTests {
  private struct Unknown: Error {
    let secret = "path of the data"
  }

  private func expect(
    _ error: any Error, _ status: Int, _ word: String,
    at location: SourceLocation = #_sourceLocation
  ) {
    let problem = ErrorTable.problem(for: error)
    #expect(problem.status.code == status, "\(error)", sourceLocation: location)
    #expect(problem.error == word, "\(error)", sourceLocation: location)
    #expect(!problem.reason.isEmpty, "\(error)", sourceLocation: location)
    #expect(!problem.status.reasonPhrase.isEmpty, "\(error) has no title", sourceLocation: location)
  }

  @Test func documentErrorsHaveTheirStatusAndWord() throws {
    let table: [DocumentError.Code: (Int, String)] = [
      .conflict: (409, "conflict"), .missing: (404, "not_found"), .deleted: (404, "not_found"),
      .invalidID: (400, "illegal_docid"), .invalidRevision: (400, "bad_request"),
      .invalidDocument: (400, "doc_validation"), .invalidJSON: (400, "invalid_json"),
      .tooLarge: (413, "document_too_large"), .invalidAttachment: (400, "bad_request"),
      .attachmentLimit: (400, "bad_request"), .missingStub: (412, "missing_stub"),
      .tooManyLeaves: (409, "too_many_leaves"), .revisionCollision: (409, "rev_collision"),
      .damaged: (500, "integrity_error"),
    ]
    for code in DocumentError.Code.allCases {
      let (status, word) = try #require(table[code])
      expect(DocumentError(code, "why"), status, word)
      let couch = ErrorTable.problem(for: DocumentError(code, "why"), in: .couch)
      #expect(
        (couch.status.code, couch.error) == (status, code == .invalidJSON ? "bad_request" : word))
      expect(ServiceError(DocumentError(code, "why")), status, word)
    }
  }

  @Test func parserErrorsKeepTheirWord() {
    let words: [JSONError.Code] = [
      .invalidJSON, .invalidUTF8, .duplicateKey, .tooDeep, .tooManyMembers, .stringTooLong,
      .numberOutOfRange,
    ]
    for code in words {
      expect(JSONError(code: code, offset: 1), 400, code.rawValue)
      expect(DocumentError(JSONError(code: code, offset: 1)), 400, code.rawValue)
    }
    expect(JSONError(code: .tooLarge, offset: 1), 413, "document_too_large")
  }

  /// The answer of `/v1` to each code. The codes of Mango and of databases' names occur only under `/couch`.
  private static let table: [ServiceError.Code: (Int, String)] = [
    .importRefused: (422, "import_refused"), .unsupportedPhoto: (415, "unsupported_photo"),
    .malformedPhoto: (422, "malformed_photo"), .tooManyPhotos: (422, "too_many_photos"),
    .absent: (404, "not_found"), .exists: (412, "file_exists"), .damaged: (503, "store_damaged"),
    .integrity: (500, "integrity_error"), .unavailable: (503, "unavailable"),
    .storage: (503, "storage_error"), .storageFull: (507, "insufficient_storage"),
    .readOnly: (503, "read_only"), .moved: (503, "stores_moved"),
    .outcomeUnknown: (503, "outcome_unknown"),
    .overloaded: (429, "overloaded"), .ended: (503, "unavailable"),
    .quotaExceeded: (507, "quota_exceeded"),
    .missingRevision: (409, "not_found"),
    .conflict: (409, "conflict"), .missing: (404, "not_found"), .deleted: (404, "not_found"),
    .invalidID: (400, "illegal_docid"), .invalidRevision: (400, "bad_request"),
    .invalidDocument: (400, "doc_validation"), .documentTooLarge: (413, "document_too_large"),
    .attachmentsUnsupported: (415, "bad_content_type"), .tooManyLeaves: (409, "too_many_leaves"),
    .revisionCollision: (409, "rev_collision"),
    .invalidJSON: (400, "invalid_json"), .invalidUTF8: (400, "invalid_utf8"),
    .duplicateKey: (400, "duplicate_key"), .tooDeep: (400, "too_deep"),
    .tooManyMembers: (400, "too_many_members"), .stringTooLong: (400, "string_too_long"),
    .numberOutOfRange: (400, "number_out_of_range"), .jsonTooLarge: (413, "document_too_large"),
    .tooManyValues: (413, "too_large"),
    .badRequest: (400, "bad_request"), .tooLarge: (413, "too_large"),
    .forbidden: (403, "forbidden"), .noRight: (403, "forbidden"),
    .notImplemented: (501, "not_implemented"), .tooManyRequests: (429, "too_many_requests"),
    .precondition: (412, "precondition_failed"), .unknownHotel: (404, "not_found"),
    .occupied: (409, "conflict"), .receiptMismatch: (422, "idempotency_key_reused"),
    .invalidName: (400, "invalid_username"), .invalidPassword: (400, "invalid_password"),
    .noPassword: (403, "forbidden"), .taken: (409, "conflict"),
    .badCredentials: (401, "unauthorized"), .invalidToken: (401, "unauthorized"),
    .expiredToken: (401, "unauthorized"), .lockedOut: (429, "too_many_requests"),
    .tooMany: (429, "too_many_requests"), .guestSpent: (410, "guest_spent"),
    .unknownUser: (404, "not_found"), .hashingBusy: (503, "unavailable"),
    .issuerUnavailable: (503, "issuer_unavailable"), .keys: (503, "unavailable"),
  ]

  @Test(arguments: ErrorTable.couch.keys)
  func everyCodeHasItsStatusAndWord(code: ServiceError.Code) throws {
    let error = ServiceError(code, "why", retryAfterSeconds: 7, detail: "a file's name")
    let said = ErrorTable.problem(for: error)
    if let (status, word) = Self.table[code] { expect(error, status, word) }
    #expect((400..<600).contains(said.status.code))
    #expect(
      said.error.utf8.allSatisfy { (0x61...0x7A).contains($0) || [0x5F, 0x35, 0x38].contains($0) })
    #expect(!said.reason.contains("file"))
    #expect((said.headers[.wwwAuthenticate] != nil) == (said.status == .unauthorized))
    if said.status == .tooManyRequests { #expect(said.headers[.retryAfter] == "7") }
  }

  /// Each code is declared in an extension of its target, so that no compiler knows all of them.
  @Test func tableHasARowForEachDeclaredCode() throws {
    let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(
      path: "../../Sources")
    let files = try #require(
      FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
    var declared: Set<ServiceError.Code> = []
    for case let file as URL in files where file.pathExtension == "swift" {
      let parts = try String(contentsOf: file, encoding: .utf8)
        .split(separator: "extension ServiceError.Code {").dropFirst()
      for line in parts.flatMap({ $0.split(separator: "\n") }) {
        if let found = line.firstMatch(of: /static let (\w+) = Self\("(\w+)"\)$/) {
          #expect(found.1 == found.2)
          #expect(declared.insert(ServiceError.Code(String(found.2))).inserted, "\(found.2)")
        }
      }
    }
    #expect(declared == Set(ErrorTable.couch.keys))
    #expect(
      ErrorTable.problem(for: ServiceError(.init("new"), "why")).status == .internalServerError)
  }

  @Test(arguments: [
    ("websocket", 500, 503), ("WebSocket", 507, 503), ("websocket", 401, 401), ("h2c", 500, 500),
  ])
  func handshakeThatFailsIsUnavailable(_ upgrade: String, _ status: Int, _ wanted: Int) {
    let head = HTTPRequest(
      method: .get, scheme: nil, authority: "localhost", path: "/",
      headerFields: [.upgrade: upgrade])
    let request = Request(head: head, body: RequestBody(buffer: ByteBuffer()))
    let problem = Problem(.named(status), "error", "why")
    #expect(RequestRouter.status(of: problem, for: request).code == wanted)
  }

  @Test func databasesSayAnErrorAsCouchDBDoes() {
    let table: [(ServiceError, Int, String, String)] = [
      (.absent, 404, "not_found", "Database does not exist."),
      (ServiceError(.exists, "why"), 412, "file_exists", "why"),
      (ServiceError(.overloaded, "why"), 429, "too_many_requests", "why"),
      (ServiceError(.guestSpent, "why"), 401, "unauthorized", "why"),
      (ServiceError(.invalidJSON, "why"), 400, "bad_request", "why"),
      (ServiceError(.jsonTooLarge, "why"), 413, "too_large", "why"),
      (ServiceError(.noUsableIndex, "why"), 400, "no_usable_index", "why"),
      (ServiceError(.quotaExceeded, "why"), 507, "quota_exceeded", "why"),
    ]
    for (error, status, word, reason) in table {
      let problem = ErrorTable.problem(for: error, in: .couch)
      #expect(problem.status.code == status && problem.error == word && problem.reason == reason)
    }
  }

  @Test func searchErrorsHaveTheirStatusAndWord() throws {
    let table: [SearchError.Code: (Int, String)] = [
      .unavailable: (503, "search_unavailable"), .timeout: (504, "search_timeout"),
      .badAnswer: (502, "search_bad_answer"),
    ]
    for code in SearchError.Code.allCases {
      let (status, word) = try #require(table[code])
      expect(SearchError(code, "why", detail: "the upstream's URL"), status, word)
    }
  }

  @Test func whatMayPassSoonSaysWhen() {
    let passing: [any Error] = [
      ServiceError(.unavailable, "why"), ServiceError(.storage, "why"),
      ServiceError(.overloaded, "why"),
      SearchError(.unavailable, "why"), ServiceError.hashingBusy, CancellationError(),
    ]
    for error in passing {
      #expect(ErrorTable.problem(for: error).headers[.retryAfter] == "1", "\(error)")
    }
  }

  @Test func unknownErrorsSayNothing() {
    let problem = ErrorTable.problem(for: Unknown())
    #expect(problem.status == .internalServerError)
    #expect(problem.error == "internal_error")
    #expect(!problem.reason.contains("Unknown") && !problem.detail.contains("path"))
    #expect(problem.detail.contains("Unknown"))
  }

  @Test func theFrameworksErrorsAreProblemsToo() {
    expect(HTTPError(.notFound), 404, "not_found")
    expect(HTTPError(.contentTooLarge), 413, "too_large")
    expect(HTTPError(.badRequest), 400, "bad_request")
    expect(HTTPError(.internalServerError), 500, "internal_error")
    expect(CancellationError(), 503, "unavailable")
    expect(Problem(.tooEarly, "odd", "why"), 425, "odd")
  }
}
