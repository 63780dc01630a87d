import Documents
import Stores
import Testing

@testable import Accounts

/// Which names are legal, and which names are the same.
struct UserNameTests {
  @Test(arguments: [
    "a", "0", "demo", "guest", "Demo User", "..a", "user@example.com", "caf\u{E9}", "名前", "Ωmega",
    "a\u{200D}b", "\\x", "a;b", "%2f0", "x\u{338}", "👍1",
    String(repeating: "a", count: 239), String(repeating: "é", count: 119),
  ])
  func legalNames(name: String) throws {
    #expect(try UserName(name).text.utf8.elementsEqual(name.utf8))
  }

  @Test(arguments: [
    "", " ", "..", "-", "👍", "../x", "a/b", "a/\u{338}b", "a:b", "a,b", "a`b", "a\u{0}b", "a\nb",
    "a\r\nb", "a\tb", "a\u{7F}", "a\u{85}b", "a\u{2028}b", "a\u{202E}b", "a\u{2066}b",
    // In normal form C, the Greek varia is a backtick.
    "a\u{1FEF}b",
    String(repeating: "a", count: 240), String(repeating: "é", count: 120),
    String(repeating: "e\u{301}", count: 120), String(repeating: "a", count: 1 << 20),
  ])
  func illegalNames(name: String) {
    #expect(throws: ServiceError.self) { try UserName(name) }
  }

  @Test func theLengthIsThatOfNormalFormC() throws {
    let name = try UserName(String(repeating: "e\u{301}", count: 119))
    #expect(name.text.utf8.count == 238)
  }

  @Test(arguments: [
    ("Demo", "dEMO", true), ("caf\u{E9}", "CAFE\u{301}", true), ("\u{212B}", "\u{E5}", true),
    ("\u{1E9B}\u{323}", "\u{1E9B}\u{323}", true), ("ΣΑΣ", "σασ", true), ("\u{212A}", "k", true),
    ("a", "\u{430}", false), ("ß", "ss", false), ("demo", "demo ", false),
    ("\u{FF41}", "a", false), ("ab", "a\u{200D}b", false),
  ])
  func namesThatAreOne(one: String, other: String, same: Bool) throws {
    let (one, other) = (try UserName(one), try UserName(other))
    #expect((one == other) == same)
    #expect((one.hashValue == other.hashValue) == same)
  }

  @Test func aKeyFitsAnIdWhateverTheName() throws {
    // U+023A has two bytes; its lower case has three.
    let name = try UserName(String(repeating: "\u{23A}", count: 119))
    #expect(AccountKeys.user(name).text.utf8.count == 69)
  }
}
