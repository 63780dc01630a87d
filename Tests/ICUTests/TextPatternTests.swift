import ICU
import Testing

struct TextPatternTests {
  private func look(
    _ pattern: String, _ text: String, within limit: Duration = .seconds(600)
  ) throws -> TextMatch {
    try #require(TextPattern(pattern)).matches(text, within: limit)
  }

  @Test(
    arguments: [
      ("b", "abc", true), ("^b", "abc", false), ("^abc$", "abc", true), ("", "abc", true),
      ("", "", true), ("a", "", false), ("(?i)new.*", "New York", true), ("new", "New", false),
      ("^.$", "é", true), ("^.$", "\u{1F3E8}", true), ("\\bHôtel\\b", "Grand Hôtel", true),
      ("^\\p{Lu}", "Élysée", true), ("a.c", "a\nc", false), ("(?s)a.c", "a\nc", true),
      ("^b$", "a\nb", false), ("(?m)^b$", "a\nb", true), ("a.c", "a\rc", true), ("a$", "a\n", true),
      ("(a)(b)\\2", "xabb", true), ("a\u{0}b", "a\u{0}b", true), ("(?<=é)b", "éb", true),
    ] as [(String, String, Bool)])
  func patternIsFoundAnywhere(pattern: String, text: String, found: Bool) throws {
    #expect(try look(pattern, text) == (found ? .matched : .notMatched))
  }

  @Test(arguments: ["(", "[a", "a{2,1}", "*a", "(?<n", "\\", "(?R)", "a{1,99999999999}"])
  func malformedPatternIsNone(pattern: String) {
    #expect(TextPattern(pattern) == nil)
  }

  @Test func j12CatastrophicPatternStopsInTime() throws {
    let text = String(repeating: "a", count: 40) + "!"
    let start = ContinuousClock.now
    #expect(try look("(a+)+$", text, within: .milliseconds(50)) == .tooCostly)
    #expect(start.duration(to: .now) < .seconds(60))
  }

  @Test(arguments: ["[a-z]*\\d", ".*foo", "a*+b", "(?>a*)b", "\\X*b"])
  func longTextStopsInTime(pattern: String) throws {
    let text = String(repeating: "a", count: 500_000)
    let start = ContinuousClock.now
    #expect(try look(pattern, text, within: .milliseconds(20)) == .tooCostly)
    #expect(start.duration(to: .now) < .seconds(60))
  }

  @Test func patternThatKeepsTooMuchStops() throws {
    #expect(try look("(a|a)*b", String(repeating: "a", count: 500_000)) == .tooCostly)
  }

  @Test func backReferenceIsForShortTexts() throws {
    let text = String(repeating: "ab", count: TextPattern.referenceUnits / 2)
    #expect(try look("(ab)\\1", text) == .matched)
    #expect(try look("(ab)\\1", text + "a") == .tooCostly)
    #expect(try look("(?<x>ab)\\k<x>", text + "a") == .tooCostly)
    #expect(try look("(ab)+", text + "a") == .matched)
  }

  @Test func patternMatchesManyTextsAtOnce() async throws {
    let pattern = try #require(TextPattern("^(\\d+)-(?:x|y)+$"))
    let wrong = await withTaskGroup(of: Int.self) { group in
      for task in 0..<8 {
        group.addTask {
          (0..<500).count { number in
            pattern.matches("\(task)\(number)-xyx", within: .seconds(600)) != .matched
              || pattern.matches("\(task)\(number)-xyz", within: .seconds(600)) != .notMatched
          }
        }
      }
      return await group.reduce(0, +)
    }
    #expect(wrong == 0)
  }
}
