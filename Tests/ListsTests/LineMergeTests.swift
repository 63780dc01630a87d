import TestSupport
import Testing

@testable import Lists

@Suite(.timeLimit(.minutes(60))) struct LineMergeTests {
  @Test(arguments: [
    ("a\nb\nc\n", "A\nb\nc\n", "a\nb\nC\n", "A\nb\nC\n"),
    ("a\nb\nc\n", "a\nb\nc\nd\n", "0\na\nb\nc\n", "0\na\nb\nc\nd\n"),
    ("a\nb\nc\nd\n", "a\nc\nd\n", "a\nb\nc\nD\n", "a\nc\nD\n"),
    ("a\nb\nc\n", "a\nX\nc\n", "a\nX\nc\n", "a\nX\nc\n"),
    ("a\nb\nc", "a\nb\nc\nd", "A\nb\nc", "A\nb\nc\nd"),
    ("- [ ] a\n- [ ] b", "- [x] a\n- [ ] b", "- [ ] a\n- [x] b", "- [x] a\n- [x] b"),
    ("a\nb\nc\nd\n", "A\nB\nc\nd\n", "a\nB\nC\nd\n", "A\nB\nC\nd\n"),
    ("a\n", "", "a\n", ""), ("", "a", "", "a"), ("a", "a", "b", "b"),
  ])
  func whatOneSideChangedSurvives(_ base: String, _ theirs: String, _ mine: String, _ both: String)
    async throws
  {
    #expect(try await LineMerge.merged(base: base, theirs: theirs, mine: mine) == both)
    #expect(try await LineMerge.merged(base: base, theirs: mine, mine: theirs) == both)
  }

  @Test(arguments: [
    ("a\nb\nc\n", "a\nX\nc\n", "a\nY\nc\n"), ("a\nb\nc\n", "a\nc\n", "a\nB\nc\n"),
    ("a\nb\n", "a\nx\nb\n", "a\ny\nb\n"), ("a\nb\n", "A\nb\n", "a\nx\nb\n"), ("", "a", "b"),
    ("a\nb\nc\n", "A\nB\nc\n", "a\nY\nC\n"), ("a\nb\nc\n", "A\nb\nc\n", "a\nB\nx\n c\n"),
  ])
  func changesOfTheSameLinesOrAmbiguousOnesAreAConflict(
    _ base: String, _ theirs: String, _ mine: String
  ) async throws {
    #expect(try await LineMerge.merged(base: base, theirs: theirs, mine: mine) == nil)
  }

  @Test func aSideThatChangedNothingNeverStandsInTheWay() async throws {
    var generator = SeededGenerator(seed: 3)
    for _ in 0..<repetitions(150, nightly: 500) {
      let base = text(&generator)
      let other = edited(base, &generator)
      #expect(try await LineMerge.merged(base: base, theirs: base, mine: other) == other)
      #expect(try await LineMerge.merged(base: base, theirs: other, mine: base) == other)
      #expect(try await LineMerge.merged(base: base, theirs: other, mine: other) == other)
    }
  }

  @Test func changesFarApartAreBothInTheMergedText() async throws {
    var generator = SeededGenerator(seed: 4)
    for _ in 0..<repetitions(150, nightly: 500) {
      let (first, second) = (text(&generator), text(&generator))
      let middle = "==\n--\n==\n"
      let (left, right) = (edited(first, &generator), edited(second, &generator))
      let merged = try await LineMerge.merged(
        base: first + middle + second, theirs: left + middle + second,
        mine: first + middle + right)
      #expect(merged == left + middle + right)
    }
  }

  @Test func aTextOfTooManyDifferencesIsAConflictAndNotAnHourOfWork() async throws {
    let base = (0..<9_000).map { "\($0)\n" }.joined()
    let theirs = (0..<9_000).map { "x\($0)\n" }.joined()
    let mine = (0..<9_000).map { $0 % 2 == 0 ? "y\n" : "\($0)\n" }.joined()
    #expect(try await LineMerge.merged(base: base, theirs: theirs, mine: mine) == nil)
  }

  /// Regression: such a change was refused as a text that is too long, though neither was.
  @Test(arguments: [0, 1])
  func textsThatAreTooLongTogetherAreAConflict(_ excess: Int) async throws {
    let (half, base) = (ListLimits.markdownBytes / 2, "a\nb\nc\n")
    let theirs = String(repeating: "x", count: half - 1) + "\n" + base
    let mine = base + String(repeating: "y", count: half - base.utf8.count + excess)
    let merged = try await LineMerge.merged(base: base, theirs: theirs, mine: mine)
    #expect(merged?.utf8.count == (excess == 0 ? ListLimits.markdownBytes : nil))
  }

  /// 500 long lines that differ in their last bytes only: each is compared by its number.
  @Test func longLinesAreComparedAsFastAsShortOnes() async throws {
    let long = String(repeating: "x", count: 120)
    func text(_ mark: String) -> String { (0..<500).map { "\(long)\($0 % 7)\(mark)\n" }.joined() }
    let (base, theirs, mine) = (text("a"), text("b"), text("c"))
    var lines = NumberedLines()
    #expect(try await lines.numbers(of: base) == (0..<500).map { $0 % 7 })
    #expect(try await lines.numbers(of: theirs) == (0..<500).map { 7 + $0 % 7 })
    let numbers = try #require(try await lines.numbers(of: base))
    #expect(lines.text(of: numbers).utf8.elementsEqual(base.utf8))
    #expect(try await LineMerge.merged(base: base, theirs: theirs, mine: mine) == nil)
  }

  @Test func noMoreLinesAreNumberedThanAreMerged() async throws {
    let most = String(repeating: "\n", count: LineMerge.maximumLines)
    var lines = NumberedLines()
    #expect(try await lines.numbers(of: most)?.count == LineMerge.maximumLines)
    #expect(try await lines.numbers(of: most + "last") == nil)
  }

  private func text(_ generator: inout SeededGenerator) -> String {
    (0..<Int.random(in: 0...12, using: &generator))
      .map { _ in ["a", "b", "c", "d"].randomElement(using: &generator).map { $0 + "\n" } ?? "" }
      .joined()
  }

  private func edited(_ text: String, _ generator: inout SeededGenerator) -> String {
    var lines = text.split(separator: "\n").map(String.init)
    for _ in 0..<Int.random(in: 0...3, using: &generator) {
      let index = Int.random(in: 0...lines.count, using: &generator)
      if index < lines.count, Bool.random(using: &generator) {
        lines.remove(at: index)
      } else {
        lines.insert("new", at: index)
      }
    }
    return lines.map { $0 + "\n" }.joined()
  }
}
