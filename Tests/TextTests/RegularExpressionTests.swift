import Testing
import Text

struct RegularExpressionTests {
  private func compiled(_ pattern: String) throws(RegularExpressionError) -> RegularExpression {
    try RegularExpression(ScannedPattern(pattern))
  }

  private func look(
    _ pattern: String, _ text: String, within limit: Duration = .seconds(600)
  ) throws -> RegularExpressionSearch.Outcome {
    var search = RegularExpressionSearch(try compiled(pattern), in: text, within: limit)
    while true {
      if let outcome = search.next() { return outcome }
    }
  }

  @Test(
    arguments: [
      ("b", "abc", true), ("^b", "abc", false), ("^abc$", "abc", true), ("", "abc", true),
      ("", "", true), ("a", "", false), ("(?i)new.*", "New York", true), ("new", "New", false),
      ("^.$", "é", true), ("^.$", "\u{1F3E8}", true), ("Hôtel\\b", "Grand Hôtel", true),
      ("^\\p{Lu}", "Élysée", true), ("a.c", "a\nc", false), ("(?s)a.c", "a\nc", true),
      ("^b$", "a\nb", false), ("(?m)^b$", "a\nb", true), ("a.c", "a\rc", true),
      ("a$", "a\n", false),
      ("a$", "ba", true), ("a\\z", "ab", false), ("[$]", "a$b", true), ("(?i)ÉTÉ", "été", true),
      ("a\u{0}b", "a\u{0}b", true), ("(?<x>a)b", "ab", true), ("\\Qa.b", "xa.by", true),
      ("\\Qa$", "xa$", true), ("\\Qa.b\\E+", "a.bb", true), ("\\x{e9}+", "é", true),
      ("[]a]", "]", true), ("[[:alpha:]]", "1a", true), ("\u{FFFD}", "\u{FFFD}", true),
      ("^(a+)+$", String(repeating: "a", count: 40) + "!", false), ("a{,3}b", "a{,3}b", true),
    ] as [(String, String, Bool)])
  func patternIsFoundAnywhere(pattern: String, text: String, found: Bool) throws {
    #expect(try look(pattern, text) == (found ? .matched : .notMatched))
  }

  @Test(arguments: [
    "(", "[a", "a{2,1}", "*a", "(?<n", "\\", "a{1001}", ")", "a**", "\\p{Foo}", "(?z)",
  ])
  func malformedPatternIsRefused(pattern: String) {
    #expect(throws: RegularExpressionError.malformed) { try compiled(pattern) }
  }

  @Test(
    arguments: [
      ("a(?=b)", "look-ahead"), ("a(?!b)", "look-ahead"), ("(?<=a)b", "look-behind"),
      ("(?<!a)b", "look-behind"), ("(a)\\1", "a back-reference"),
      ("(?<a>b)\\k<a>", "a back-reference"),
      ("(?P<a>b)(?P=a)", "a back-reference"), ("(?>a)b", "an atomic group"),
      ("a*+b", "a possessive quantifier"), ("a++b", "a possessive quantifier"),
      ("a{2}+b", "a possessive quantifier"), ("(?R)", "recursion"), ("(a)(?1)", "recursion"),
      ("(?|a|b)", "a branch reset"), ("(a)?(?(1)b|c)", "a conditional group"),
      ("(?#x)a", "a comment"),
      ("(?x)a b", "the flag x"), ("(*FAIL)", "a verb such as (*FAIL)"), ("a\\Z", "\\Z"),
      ("\\Ga", "\\G"),
      ("a\\Kb", "\\K"), ("\\X", "\\X"), ("\\R", "\\R"), ("[\\h]", "\\h"), ("\\C", "\\C"),
    ] as [(String, String)])
  func constructThatIsNotOfferedIsNamed(pattern: String, name: String) {
    #expect(throws: RegularExpressionError.notOffered(name)) { try compiled(pattern) }
  }

  @Test(arguments: [
    "\\(?=a", "[(?=]", "\\Q(?=a)\\E", "a+?", "a{2}?", "(?-i)a", "(?i:a)", "(?P<n>a)",
  ])
  func whatLooksLikeSuchAConstructIsTaken(pattern: String) throws {
    _ = try compiled(pattern)
  }

  @Test(
    arguments: [
      String(repeating: "a{0,999}", count: 100), String(repeating: "\\pL", count: 300), "\\pL{60}",
      "((.{10}){10}){10}", "(((((a{9}){9}){9}){9}){9}){9}",
    ])
  func programThatTakesLongToMakeIsRefusedBeforeItIsMade(pattern: String) {
    #expect(throws: RegularExpressionError.tooLarge) { try ScannedPattern(pattern) }
  }

  @Test func programBeyondItsMemoryIsRefused() throws {
    let pattern = try ScannedPattern("[^a]{500}")
    _ = try RegularExpression(pattern)
    #expect(throws: RegularExpressionError.tooLarge) {
      try RegularExpression(pattern, memory: 64 << 10)
    }
  }

  @Test func whatIsCutBetweenTwoPartsIsFound() throws {
    for pattern in ["needle", "n[a-z]{4}e", "needle$", "(?i)\\bNEEDLE\\b", "x{3}needle"] {
      for length in [10_000, 100_000, 200_001, 400_000] {
        let straw = String(repeating: "x", count: length)
        let start = straw + (pattern.contains("b") ? " " : "")
        #expect(try look(pattern, start + "needle") == .matched)
        #expect(try look(pattern, start + "needl") == .notMatched)
        let isEnd = pattern.hasSuffix("$")
        #expect(try look(pattern, start + "needle!") == (isEnd ? .notMatched : .matched))
      }
    }
  }

  @Test func endOfAPartIsNoEndOfTheText() throws {
    let text = String(repeating: "a", count: 300_000) + "b"
    #expect(try look("a$", text) == .notMatched)
    #expect(try look("a\\b", text) == .notMatched)
    #expect(try look("a\\z|c", text) == .notMatched)
  }

  @Test(arguments: ["x", "(?i)y", "[xyz]$"])
  func longTextIsLookedThroughInParts(pattern: String) throws {
    let text = String(repeating: "aab", count: 150_000)
    var search = RegularExpressionSearch(try compiled(pattern), in: text, within: .seconds(600))
    #expect(search.next() == nil)
    #expect(try look(pattern, text, within: .zero) == .tooCostly)
  }

  @Test func patternMatchesManyTextsAtOnce() async throws {
    let pattern = try compiled("^(\\d+)-(?:x|y)+$")
    let wrong = await withTaskGroup(of: Int.self) { group in
      for task in 0..<8 {
        group.addTask {
          (0..<500).count { number in
            var good = RegularExpressionSearch(
              pattern, in: "\(task)\(number)-xyx", within: .seconds(9))
            var bad = RegularExpressionSearch(
              pattern, in: "\(task)\(number)-xyz", within: .seconds(9))
            return good.next() != .matched || bad.next() != .notMatched
          }
        }
      }
      return await group.reduce(0, +)
    }
    #expect(wrong == 0)
  }
}
