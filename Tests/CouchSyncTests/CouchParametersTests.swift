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

  @Test(arguments: ["", "1", "yes", "null", "true "])
  func flagThatIsNotTrueOrFalseIsRefused(text: String) async {
    #expect(await refusal { try query([("revs", text)]).flag("revs") } == "400 query_parse_error")
  }

  @Test func absentParametersHaveTheirStandard() throws {
    #expect(try query([]).flag("a") == false)
    #expect(try query([]).flag("a", default: true))
    #expect(try query([]).count("a") == nil)
    #expect(try query([]).json("a") == nil)
    #expect(try query([]).revision("a") == nil)
  }

  @Test func malformedJSONIsRefused() async {
    #expect(await refusal { try query([("key", "{")]).json("key") } == "400 query_parse_error")
  }
}
