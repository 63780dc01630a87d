import CouchSync
import Documents
import JSON
import Stores
import Testing

struct CouchErrorTests {
  @Test func everyStoreErrorHasAStatusAndACode() {
    for code in ServiceError.Code.allCases {
      let error = ServiceError(code, "Why", detail: "secret")
      #expect((400..<600).contains(error.couch.status), "\(code)")
      #expect(!error.couch.error.isEmpty)
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
    let error = ServiceError(DocumentError(code, "Why"))
    #expect(error.couch.status == status)
    #expect(error.couch.error == word)
  }

  @Test func existingAndAbsentDatabasesHaveCouchDBsWords() {
    let absent = ServiceError.absent
    #expect(absent.couch == (404, "not_found") && absent.reason == "Database does not exist.")
    let exists = ServiceError(.exists, "Exists")
    #expect(exists.couch.status == 412)
    #expect(exists.couch.error == "file_exists")
  }

  @Test(
    .bug(id: "J01"),
    arguments: [
      (#"{"a":1,"a":2}"#, "400 duplicate_key"), ("{", "400 bad_request"), ("", "400 bad_request"),
      ("[]", "400 bad_request"), (#"{"a":1e999}"#, "400 number_out_of_range"),
    ])
  func bodyThatIsNoObjectIsRefused(text: String, expected: String) async {
    #expect(await refusal { try CouchBody.object(Array(text.utf8)) } == expected)
  }

  @Test func bodyBeyondTheLimitIsTooLarge() async {
    let text = "\"" + String(repeating: "x", count: 100) + "\""
    let limits = JSONLimits(maximumBytes: 50)
    #expect(
      await refusal { try CouchBody.parse(Array(text.utf8), limits: limits) } == "413 too_large")
  }
}
