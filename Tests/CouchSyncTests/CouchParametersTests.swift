import CouchSync
import Testing

struct CouchParametersTests {
  @Test func lastOfTwoValuesCounts() throws {
    #expect(try query([("limit", "1"), ("limit", "2")]).count("limit") == 2)
  }

  @Test func namesCompareByBytes() {
    #expect(query([("caf\u{E9}", "1")])["cafe\u{301}"] == nil)
  }

  @Test(arguments: ["", "-1", "+1", "1.0", "1e3", "x", "9999999999999999999", "١"])
  func countThatIsNoWholeNumberIsRefused(text: String) async {
    #expect(
      await refusal { try query([("limit", text)]).count("limit") } == "400 query_parse_error")
  }

  /// CouchDB refuses such a value in `_all_docs`, and ignores it elsewhere.
  @Test(arguments: ["", "1", "yes", "null", "true "])
  func flagThatIsNotTrueOrFalseIsRefusedOrIgnored(text: String) async throws {
    let given = query(
      ["descending", "revs", "meta", "latest", "include_docs", "attachments"].map { ($0, text) })
    #expect(await refusal { try AllDocumentsQuery(given) } == "400 query_parse_error")
    #expect(try DocumentQuery(given).extras == DocumentExtras())
    #expect(try !ChangesQuery(given).descending && !ChangesQuery(given).includesDocuments)
    _ = try await BulkGetRequest(json(#"{"docs":[]}"#), given)
    #expect(query([("revs", "True")]).isTrue("revs") && !given.isFalse("revs"))
  }

  @Test func absentParametersHaveTheirStandard() throws {
    #expect(try query([]).flag("a") == false)
    #expect(try query([]).flag("a", default: true))
    #expect(!query([]).isTrue("a") && !query([]).isFalse("a"))
    #expect(try query([]).count("a") == nil)
    #expect(try query([]).json("a") == nil)
    #expect(try query([]).revision("a") == nil)
  }

  @Test func malformedJSONIsRefused() async {
    #expect(await refusal { try query([("key", "{")]).json("key") } == "400 bad_request")
  }
}
