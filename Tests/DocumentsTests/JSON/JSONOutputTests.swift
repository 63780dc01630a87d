import Documents
import Testing

/// The minified and the canonical form.
@Suite struct JSONOutputTests {
  @Test func minifiedDropsOnlyTheSpaceBetweenTokens() throws {
    let text =
      " { \"b\" : [ 1.0 , -0 ,\r\n1e2 ] ,\t\"a b\" : \" \\u0061\\/ \" , \"c\" : { } , \"d\":[ ] } \n"
    let minified = "{\"b\":[1.0,-0,1e2],\"a b\":\" \\u0061\\/ \",\"c\":{},\"d\":[]}"
    #expect(try JSONReading.minified(text) == minified)
    #expect(try JSONReading.minified(minified) == minified)
  }

  @Test func aPartOfATextIsMinifiedAlone() throws {
    let root = try JSONReading.root("[ {\"a\" : [ 1, 2 ]}, \"x\" ]")
    var output = Array("hotel=".utf8)
    root[0]?.appendMinified(to: &output)
    #expect(String(decoding: output, as: UTF8.self) == "hotel={\"a\":[1,2]}")
    #expect(root[1]?.minified == Array("\"x\"".utf8))
    #expect(root[0]?["a"]?.minified == Array("[1,2]".utf8))
  }

  @Test(arguments: [
    "1.0", "-0", "1e2", "12345678901234567890",
    "0.10000000000000000000000000000000000000000000000000",
    "\"\\u0041\\/\"", "{\"b\":1,\"a\":2}", "[true,false,null]",
  ])
  func minifiedTextIsByteForByteWhatCame(_ text: String) throws {
    #expect(try JSONReading.minified(text) == text)
    #expect(try JSONReading.minified(" [ \(text) ] ") == "[\(text)]")
  }

  @Test(arguments: [
    "{\"a\":1,\"b\":{\"c\":[1,{\"y\":0,\"x\":0}],\"d\":\"\u{e9}/\\n\"}}",
    "{\"b\":{\"d\":\"\\u00e9\\/\\u000A\",\"c\":[1,{\"x\":0,\"y\":0}]},\"a\":1}",
    " {\"\\u0062\" : {\"c\":[1, {\"y\":0,\"\\u0078\":0}],\"d\":\"\u{e9}/\\n\"}, \"a\":1}",
  ])
  func canonicalIgnoresOrderEscapesAndSpace(_ text: String) throws {
    let canonical = "{\"a\":1,\"b\":{\"c\":[1,{\"x\":0,\"y\":0}],\"d\":\"\u{e9}/\\n\"}}"
    #expect(try JSONReading.canonical(text) == canonical)
    #expect(try JSONReading.canonical(canonical) == canonical)
  }

  @Test(arguments: [
    ("1", "1.0"), ("0", "-0"), ("[1,2]", "[2,1]"), ("\"\u{e9}\"", "\"e\u{301}\""), ("1e2", "1E2"),
  ])
  func canonicalKeepsDifferentValuesApart(_ one: String, _ other: String) throws {
    #expect(try JSONReading.root(one).canonical != JSONReading.root(other).canonical)
  }

  @Test func canonicalOrdersNamesByTheirBytes() throws {
    let names = [
      "\u{1f600}", "\u{ffff}", "b", "\u{e9}", "e\u{301}", "", "a\0", "ab", "a", "B", "12345678",
      "123456789", "1234567",
    ]
    let text =
      "{" + names.map { "\"\($0 == "a\0" ? "a\\u0000" : $0)\":0" }.joined(separator: ",") + "}"
    let sorted = names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    let canonical = try ParsedJSON(try JSONReading.root(text).canonical, limits: .document).root
    #expect(canonical.members.map { Array($0.name.utf8) } == sorted.map { Array($0.utf8) })
  }

  @Test func canonicalStringsHaveTheFewestEscapes() throws {
    let escapes = (0..<0x22).map {
      "\\u00" + ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true)
    }
    let text = "\"" + escapes.joined() + "\\u005C\\/\\u007F\\u2028\\uD83D\\uDE00\""
    let canonical =
      "\"\\u0000\\u0001\\u0002\\u0003\\u0004\\u0005\\u0006\\u0007\\b\\t\\n\\u000b\\f\\r\\u000e\\u000f"
      + "\\u0010\\u0011\\u0012\\u0013\\u0014\\u0015\\u0016\\u0017\\u0018\\u0019\\u001a\\u001b\\u001c"
      + "\\u001d\\u001e\\u001f !\\\\/\u{7f}\u{2028}\u{1f600}\""
    #expect(try JSONReading.canonical(text) == canonical)
    #expect(try JSONReading.root(text).value.bytes == Array(canonical.utf8))
  }

  @Test func writtenObjectsAndArraysAreClosed() {
    let bytes = JSONWriter.object { writer in
      writer.member("a", 1)
      writer.object("b") { $0.member("c", "d") }
      writer.objects("e", of: [1, 2]) { $1.member("f", $0) }
      writer.array("g", of: [3, 4]) { $1.int($0) }
      writer.name("h")
      writer.array([String]()) { $1.string($0) }
      writer.member("i", true)
    }
    #expect(
      String(decoding: bytes, as: UTF8.self)
        == #"{"a":1,"b":{"c":"d"},"e":[{"f":1},{"f":2}],"g":[3,4],"h":[],"i":true}"#)
  }
}
