import Accounts
import Documents
import HTTPTypes
import Hotels
import Hummingbird
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
  }

  @Test func documentErrorsHaveTheirStatusAndWord() throws {
    let table: [DocumentError.Code: (Int, String)] = [
      .conflict: (409, "conflict"), .missing: (404, "not_found"), .deleted: (404, "not_found"),
      .invalidID: (400, "illegal_docid"), .invalidRevision: (400, "bad_request"),
      .invalidDocument: (400, "doc_validation"), .invalidJSON: (400, "invalid_json"),
      .tooLarge: (413, "document_too_large"), .attachmentsUnsupported: (415, "bad_content_type"),
      .tooManyLeaves: (409, "too_many_leaves"), .revisionCollision: (409, "rev_collision"),
      .damaged: (500, "integrity_error"),
    ]
    for code in DocumentError.Code.allCases {
      let (status, word) = try #require(table[code])
      expect(DocumentError(code, "why"), status, word)
      if code != .damaged { expect(StoreError(DocumentError(code, "why")), status, word) }
    }
    expect(StoreError(DocumentError(.damaged, "why")), 500, "integrity_error")
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

  @Test func storeErrorsHaveTheirStatusAndWord() throws {
    let table: [StoreError.Code: (Int, String)] = [
      .absent: (404, "not_found"), .exists: (412, "file_exists"), .damaged: (503, "store_damaged"),
      .integrity: (500, "integrity_error"), .unavailable: (503, "unavailable"),
      .storage: (503, "storage_error"), .storageFull: (507, "insufficient_storage"),
      .readOnly: (503, "read_only"), .overloaded: (429, "overloaded"),
      .ended: (503, "unavailable"), .quotaExceeded: (507, "quota_exceeded"),
      .rejected: (400, "bad_request"),
    ]
    for code in StoreError.Code.allCases {
      let (status, word) = try #require(table[code])
      let error = StoreError(code, "why", detail: "a file's name")
      expect(error, status, word)
      expect(HotelError(error), status, word)
      expect(AccountError(error), status, word)
    }
  }

  @Test func hotelErrorsHaveTheirStatusAndWord() throws {
    let table: [HotelError.Code: (Int, String)] = [
      .store: (404, "not_found"), .precondition: (412, "precondition_failed"),
      .invalidBatch: (400, "doc_validation"), .invalidHotel: (400, "doc_validation"),
      .tooLarge: (413, "document_too_large"), .occupied: (409, "conflict"),
      .receiptMismatch: (422, "idempotency_key_reused"), .unknownHotel: (404, "not_found"),
    ]
    for code in HotelError.Code.allCases {
      let (status, word) = try #require(table[code])
      expect(HotelError(code, "why"), status, word)
    }
  }

  @Test func accountErrorsHaveTheirStatusAndWord() throws {
    let table: [AccountError.Code: (Int, String)] = [
      .invalidName: (400, "invalid_username"), .invalidPassword: (400, "invalid_password"),
      .noPassword: (403, "forbidden"),
      .taken: (409, "conflict"), .badCredentials: (401, "unauthorized"),
      .invalidToken: (401, "unauthorized"), .expiredToken: (401, "unauthorized"),
      .lockedOut: (429, "too_many_requests"), .tooMany: (429, "too_many_requests"),
      .guestSpent: (410, "guest_spent"), .unknownUser: (404, "not_found"),
      .hashingBusy: (503, "unavailable"), .store: (404, "not_found"), .keys: (503, "unavailable"),
      .issuerUnavailable: (503, "issuer_unavailable"),
    ]
    for code in AccountError.Code.allCases {
      let (status, word) = try #require(table[code])
      let error = AccountError(code, "why", retryAfterSeconds: 7, detail: "a key file's name")
      expect(error, status, word)
      let headers = ErrorTable.problem(for: error).headers
      #expect((headers[.wwwAuthenticate] != nil) == (status == 401))
      if status == 429 { #expect(headers[.retryAfter] == "7") }
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
      StoreError(.unavailable, "why"), StoreError(.storage, "why"), StoreError(.overloaded, "why"),
      SearchError(.unavailable, "why"), AccountError.hashingBusy, CancellationError(),
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
