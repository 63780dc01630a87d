import Documents
import Testing

@Suite struct JSONComparisonTests {
  private func isSame(_ one: String, _ other: String) throws -> Bool {
    let one = try ParsedJSON(Array(one.utf8), limits: .document).root
    let other = try ParsedJSON(Array(other.utf8), limits: .document).root
    #expect(one.hasSameValue(as: other) == other.hasSameValue(as: one))
    return one.hasSameValue(as: other)
  }

  @Test(
    arguments: [
      ("1000", "1e3"), ("1000", "1000.0"), ("1E+3", "10e2"), ("0", "-0"), ("0.1", "1e-1"),
      ("0.1", "0.1000000000000000055511151231257827"),
      ("12345678901234567890", "12345678901234567000"),
      (#"{"a":1,"b":[2,{"c":3.0}]}"#, #"{ "b" : [2.0, {"c": 3}], "a" : 1e0 }"#),
      (#"["\"1e3\\",1000]"#, #"["\u00221e3\\",1e3]"#), ("[]", "[ ]"), ("null", "null"),
    ])
  func valueIsTheSameInAnotherSpelling(one: String, other: String) throws {
    #expect(try isSame(one, other))
  }

  @Test(
    arguments: [
      ("1", "2"), ("1", "-1"), ("1", "10"), ("[1]", "[1,1]"), ("[1,2]", "[12]"), ("1", "true"),
      ("1", #""1""#), (#""1000""#, #""1e3""#), (#"["a\\",1]"#, #"["a\\",2]"#),
      (#"{"1":1}"#, #"{"1.0":1}"#), (#"{"a":1}"#, #"{"a":1,"b":1}"#), ("{}", "[]"),
      (#""\u00e9""#, #""e\u0301""#), ("0.1", "0.10000000000000002"), (#"["a","b"]"#, #"["b","a"]"#),
    ])
  func anotherValueIsNotTheSame(one: String, other: String) throws {
    #expect(try !isSame(one, other))
  }
}
