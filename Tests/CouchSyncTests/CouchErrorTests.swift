import CouchSync
import Documents
import Stores
import Testing

struct CouchErrorTests {
  @Test func everyStoreErrorHasAStatusAndAWord() {
    for code in StoreError.Code.allCases {
      let error = CouchError(StoreError(code, "Why", detail: "secret"))
      #expect((400..<600).contains(error.status), "\(code)")
      #expect(!error.error.isEmpty)
      #expect(!String(decoding: error.body, as: UTF8.self).contains("secret"))
    }
  }

  @Test(
    arguments: [
      (.conflict, 409, "conflict"), (.missing, 404, "not_found"), (.deleted, 404, "not_found"),
      (.invalidID, 400, "illegal_docid"), (.invalidRevision, 400, "bad_request"),
      (.invalidDocument, 400, "doc_validation"), (.tooLarge, 413, "document_too_large"),
      (.attachmentsUnsupported, 415, "bad_content_type"), (.tooManyLeaves, 409, "too_many_leaves"),
      (.revisionCollision, 409, "rev_collision"), (.damaged, 500, "integrity_error"),
    ] as [(DocumentError.Code, Int, String)])
  func documentErrorHasCouchDBsWord(code: DocumentError.Code, status: Int, word: String) {
    let error = CouchError(StoreError(DocumentError(code, "Why")))
    #expect(error.status == status)
    #expect(error.error == word)
  }

  @Test func existingAndAbsentDatabasesHaveCouchDBsWords() {
    #expect(
      CouchError(StoreError.absent) == CouchError(404, "not_found", "Database does not exist."))
    let exists = CouchError(StoreError(.exists, "Exists"))
    #expect(exists.status == 412)
    #expect(exists.error == "file_exists")
  }

  @Test func bodyIsCouchDBsObject() {
    let body = CouchError(409, "conflict", "Say \"no\".").body
    #expect(
      String(decoding: body, as: UTF8.self) == #"{"error":"conflict","reason":"Say \"no\"."}"#)
  }

  @Test(arguments: [
    (#"{"a":1,"a":2}"#, "400 duplicate_key"), ("{", "400 bad_request"), ("", "400 bad_request"),
    ("[]", "400 bad_request"), (#"{"a":1e999}"#, "400 number_out_of_range"),
  ])
  func j01BodyThatIsNoObjectIsRefused(text: String, expected: String) async {
    #expect(await refusal { try CouchBody.object(Array(text.utf8)) } == expected)
  }

  @Test func bodyBeyondTheLimitIsTooLarge() async {
    let text = "\"" + String(repeating: "x", count: 100) + "\""
    let limits = JSONLimits(maximumBytes: 50)
    #expect(
      await refusal { try CouchBody.parse(Array(text.utf8), limits: limits) } == "413 too_large")
  }
}
