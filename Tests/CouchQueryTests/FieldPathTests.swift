import CouchQuery
import Documents
import TestSupport
import Testing

struct FieldPathTests {
  @Test(
    arguments: [
      ("ab", ["ab"]), ("a.b", ["a", "b"]), ("a\\.b", ["a.b"]), ("a.b.c", ["a", "b", "c"]),
      ("a.b\\.c", ["a", "b.c"]), ("\\$a", ["$a"]), ("a\\\\.b", ["a\\", "b"]), ("a\\b", ["ab"]),
      ("é.\u{1F3E8}", ["é", "\u{1F3E8}"]), ("_id", ["_id"]), ("a.0", ["a", "0"]),
    ] as [(String, [String])])
  func namesAreJoinedByDots(text: String, names: [String]) throws {
    #expect(try FieldPath(text).names == names)
    #expect(try FieldPath(text).text == text)
  }

  @Test(arguments: [
    "", ".", "a.", ".a", "a..b", "\\", "a\\", "a\\\\\\", "a.\\",
    String(repeating: "a.", count: 64) + "a",
  ])
  func pathWithoutANameIsRefused(text: String) async {
    #expect(refusal { try FieldPath(text) } == "invalidFieldName")
  }

  @Test func pathIsAsLongAsADocumentIsDeep() throws {
    let path = try FieldPath(String(repeating: "a.", count: 63) + "a")
    #expect(path.names.count == FieldPath.maximumNames)
  }

  @Test(
    arguments: [
      ("a", "1"), ("b.c", "2"), ("b.d.0", "3"), ("b.d.1.e", "4"), ("b.d.+0", "3"), ("b.d.00", "3"),
      ("x\\.y", "5"), ("b", #"{"c":2,"d":[3,{"e":4}]}"#), ("n", "null"),
      ("c", nil), ("b.x", nil), ("a.x", nil), ("b.d.2", nil), ("b.d.-1", nil), ("b.d.x", nil),
      ("x.y", nil), ("n.a", nil), ("b.d.1٠", nil), ("b.d.99999999999999999999", nil),
    ] as [(String, String?)])
  func pathLeadsToItsValue(path: String, value: String?) throws {
    let document = try json(#"{"a":1,"b":{"c":2,"d":[3,{"e":4}]},"x.y":5,"n":null}"#)
    let found = try FieldPath(path).value(in: document)
    #expect(found.map { String(decoding: $0.minified, as: UTF8.self) } == value)
  }

  @Test func namesAreTheirBytes() throws {
    let document = try node(["caf\u{E9}": 1])
    #expect(try FieldPath("caf\u{E9}").value(in: document) != nil)
    #expect(try FieldPath("cafe\u{301}").value(in: document) == nil)
    #expect(try FieldPath("caf\u{E9}") != FieldPath("cafe\u{301}"))
    #expect(try Set([FieldPath("a\\b"), FieldPath("ab"), FieldPath("a.b")]).count == 2)
  }
}
