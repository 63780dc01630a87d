import Documents
import Testing

/// The string classes of JSONTestSuite.
@Suite struct JSONStringTests {
  @Test(
    .bug(id: "J03"),
    arguments: [
      ("\\u0060\\u012a\\u12AB", "`\u{12a}\u{12ab}"), ("\\uD801\\udc37", "\u{10437}"),
      ("\\ud83d\\ude39\\ud83d\\udc8d", "\u{1f639}\u{1f48d}"),
      ("\\\"\\\\\\/\\b\\f\\n\\r\\t", "\"\\/\u{8}\u{c}\n\r\t"),
      ("\\\\u0000", "\\u0000"), ("\\\"", "\""), ("a/*b*/c/*d//e", "a/*b*/c/*d//e"),
      ("\\\\a", "\\a"),
      ("\\\\n", "\\n"), ("\\u0012", "\u{12}"), ("\\uFFFF", "\u{ffff}"), ("asd", "asd"),
      ("\\uDBFF\\uDFFF", "\u{10ffff}"), ("new\\u00A0line", "new\u{a0}line"),
      ("\u{10ffff}", "\u{10ffff}"),
      ("\u{ffff}", "\u{ffff}"), ("\\u0000", "\0"), ("\\u002c", ","), ("\u{3c0}", "\u{3c0}"),
      ("\u{1bfff}", "\u{1bfff}"), (" ", " "), ("\\uD834\\uDd1e", "\u{1d11e}"),
      ("\\u0821", "\u{821}"),
      ("\\u0123", "\u{123}"), ("\u{2028}", "\u{2028}"), ("\u{2029}", "\u{2029}"),
      ("\\u0061\\u30af\\u30EA\\u30b9", "a\u{30af}\u{30ea}\u{30b9}"),
      ("new\\u000Aline", "new\nline"),
      ("\u{7f}", "\u{7f}"), ("\\uA66D", "\u{a66d}"), ("\\u005C", "\\"),
      ("\u{2342}\u{3234}", "\u{2342}\u{3234}"),
      ("\\u0022", "\""), ("\\uDBFF\\uDFFE", "\u{10fffe}"), ("\\uD83F\\uDFFE", "\u{1fffe}"),
      ("\\u200B", "\u{200b}"), ("\\u2064", "\u{2064}"),
      ("\\uFFFE", "\u{fffe}"),
      ("\u{20ac}\u{1d11e}", "\u{20ac}\u{1d11e}"), ("a\u{7f}a", "a\u{7f}a"),
      ("\u{e9}e\u{301}", "\u{e9}e\u{301}"),
      ("eight by tes and more than eight\\n", "eight by tes and more than eight\n"),
    ] as [(String, String)])
  func wellFormedStringIsResolved(_ content: String, _ characters: String) throws {
    let root = try JSONReading.root("[\"\(content)\"]")
    #expect(root[0]?.string.map { Array($0.utf8) } == Array(characters.utf8))
    #expect(root.minified == Array("[\"\(content)\"]".utf8))
    #expect(root[0]?.stringEquals(characters) == true)
    #expect(root[0]?.stringEquals(characters + "x") == false)
  }

  @Test(arguments: [
    JSONRefusal("\"\\uD800\\", 1, .invalidUTF8), JSONRefusal("\"\\uD800\\u\"", 1, .invalidUTF8),
    JSONRefusal("\"\\uD800\\u1\"", 1, .invalidUTF8), JSONRefusal("\"\\ud800\"", 1, .invalidUTF8),
    JSONRefusal("\"ab\\uDADA\"", 3, .invalidUTF8),
    JSONRefusal("\"\\uD888\\u1234\"", 1, .invalidUTF8),
    JSONRefusal("\"\\uD800\\n\"", 1, .invalidUTF8), JSONRefusal("\"\\uDd1ea\"", 1, .invalidUTF8),
    JSONRefusal("\"\\uD800\\uD800\\n\"", 1, .invalidUTF8),
    JSONRefusal("\"\\ud800abc\"", 1, .invalidUTF8),
    JSONRefusal("\"\\uDd1e\\uD834\"", 1, .invalidUTF8), JSONRefusal("\"\\uDFAA\"", 1, .invalidUTF8),
    JSONRefusal("{\"\\uDFAA\":0}", 2, .invalidUTF8),
  ])
  func loneSurrogateIsRefused(_ refusal: JSONRefusal) {
    #expect(JSONReading.fault(refusal.bytes) == refusal.error)
  }

  @Test(
    .bug(id: "J03"),
    arguments: [
      JSONRefusal("[\\u00e9\"\"]", 1), JSONRefusal("\"\\x00\"", 1), JSONRefusal("\"\\\\\\\"", 5),
      JSONRefusal("\"\\\t\"", 1), JSONRefusal("\"\\\u{1f300}\"", 1), JSONRefusal("\"\\\"", 3),
      JSONRefusal("\"\\u00A\"", 1), JSONRefusal("\"\\uD834\\uDd\"", 1, .invalidUTF8),
      JSONRefusal("\"\\a\"", 1), JSONRefusal("\"\\uqqqq\"", 1), JSONRefusal("\"\\U0041\"", 1),
      JSONRefusal("\"\\", 1), JSONRefusal("\"\\u", 1), JSONRefusal("\"\\u12", 1),
      JSONRefusal("\"a\0a\"", 2), JSONRefusal("\"new\nline\"", 4), JSONRefusal("\"\t\"", 1),
      JSONRefusal("\"\u{1f}\"", 1), JSONRefusal("'single quote'", 0), JSONRefusal("\"", 1),
      JSONRefusal("\"\\u 041\"", 1), JSONRefusal("\"\\u+041\"", 1), JSONRefusal("\"\"x", 2),
      JSONRefusal("\"sixteen plain byt\u{1}\"", 18), JSONRefusal("\"\\047\"", 1),
      JSONRefusal("\"\\'\"", 1),
      JSONRefusal("[\"a", 3), JSONRefusal("\u{201c}a\u{201d}", 0), JSONRefusal("\"\\u004g\"", 1),
      JSONRefusal("\"\\u00\u{e9}\"", 1), JSONRefusal("abc\"", 0), JSONRefusal("\"asd", 4),
    ])
  func brokenStringIsRefusedAtTheByte(_ refusal: JSONRefusal) {
    #expect(JSONReading.fault(refusal.bytes) == refusal.error)
  }

  @Test func everyControlCharacterMustBeEscaped() {
    for byte in UInt8(0)..<0x20 {
      for lead in [0, 1, 7, 8, 9, 20] {
        let plain = [UInt8](repeating: 0x61, count: lead)
        let text = [0x22] + plain + [byte, 0x61, 0x61, 0x61, 0x61, 0x61, 0x61, 0x61, 0x61, 0x22]
        #expect(JSONReading.fault(text) == JSONError(code: .invalidJSON, offset: lead + 1))
      }
    }
  }

  @Test func escapedNullCharacterRoundTrips() throws {
    let text = "{\"a\\u0000\":\"\\u0000b\"}"
    let root = try JSONReading.root(text)
    #expect(root["a\0"]?.string == "\0b")
    #expect(root.minified == Array(text.utf8))
    #expect(root.value.bytes == Array(text.utf8))
    #expect(root.canonical == Array(text.utf8))
  }

  @Test(arguments: [0xFDD0, 0xFDEF, 0xFFFE, 0xFFFF] as [UInt16])
  func noncharacterIsAScalarLikeAnyOther(_ unit: UInt16) throws {
    let root = try JSONReading.root("\"\\u\(String(unit, radix: 16))\"")
    #expect(root.string.map { Array($0.utf16) } == [unit])
    #expect(try ParsedJSON(root.canonical, limits: .small).root.string == root.string)
  }
}
