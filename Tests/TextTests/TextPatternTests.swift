import Testing
import Text

@Suite struct TextPatternTests {
  @Test func aMatchHasItsGroupsAndWhatStandsBesideIt() throws {
    let pattern = try #require(TextPattern("(?<!\\S)(?:under (\\p{Nd}+)|(cheap))(?!\\S)"))
    let matches = pattern.matches(in: "🏨 Under 100, CHEAP under 90")
    #expect(matches.map(\.text) == ["CHEAP", "under 90"])
    #expect(matches.map(\.groups) == [[nil, "CHEAP"], ["90", nil]])
    #expect(matches.first?.before == "🏨 Under 100, " && matches.first?.after == " under 90")
    #expect(pattern.matches(in: "").isEmpty)
  }

  @Test func aTextHasAnotherOneForEachMatch() throws {
    let stars = try #require(TextPattern("([1-5])[*★]+", ignoresCase: false))
    #expect(stars.replaced(in: "4* and 5★★ 🏨", by: "$1 star") == "4 star and 5 star 🏨")
    #expect(stars.replaced(in: "Four", by: "$1 star") == "Four")
    #expect(TextPattern("x", ignoresCase: false)?.replaced(in: "Xx", by: "") == "X")
    #expect(TextPattern("(") == nil)
  }

  /// A pattern that tries too much finds nothing, instead of keeping the thread.
  @Test func aMatchThatTakesTooLongIsNone() throws {
    let pattern = try #require(TextPattern("(?:a+)+b"))
    #expect(pattern.matches(in: String(repeating: "a", count: 64)).isEmpty)
  }
}
