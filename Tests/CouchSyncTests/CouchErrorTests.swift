import CouchSync
import Documents
import Stores
import Testing

struct CouchErrorTests {
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
