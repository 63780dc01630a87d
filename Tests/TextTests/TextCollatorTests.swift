import Testing
import Text

struct TextCollatorTests {
  private let collator: TextCollator

  init() throws {
    collator = try #require(TextCollator())
  }

  /// The printable characters of ASCII, in order. CouchDB's "Views collation" has the same order except for "`" and
  /// "^", which came first in the ICU of that time.
  private static let characters = """
    _ - , ; : ! ? . ' " ( ) [ ] { } @ * / \\ & # % ` ^ + < = > | ~ $ 0 1 2 3 4 5 6 7 8 9 \
    a A b B c C d D e E f F g G h H i I j J k K l L m M n N o O p P q Q r R s S t T u U v V w W x X \
    y Y z Z
    """.split(separator: " ").map(String.init)
  private static let words = [
    "", "a", "A", "aa", "aA", "Aa", "AA", "b", "B", "ba", "bb", "\u{FFFF}",
  ]

  @Test(arguments: [[" "] + characters, words])
  func orderIsThatOfCouchDB(texts: [String]) {
    for (index, text) in texts.enumerated() {
      #expect(collator.compare(text, text) == 0)
      for later in texts[(index + 1)...] {
        #expect(collator.compare(text, later) < 0, "\(text) \(later)")
        #expect(collator.compare(later, text) > 0, "\(later) \(text)")
      }
    }
  }

  @Test(arguments: [
    ("caf\u{E9}", "cafe\u{301}"), ("a\u{0}b", "ab"), ("\u{1}", ""),
    ("\u{AC00}", "\u{1100}\u{1161}"),
  ])
  func textsThatTheCollationTakesAsOneHaveOneKey(one: String, other: String) {
    #expect(collator.compare(one, other) == 0)
    #expect(collator.sortKey(of: one) == collator.sortKey(of: other))
  }

  @Test func keysOrderAsTheTextsDo() {
    var random = RandomTexts(seed: 11)
    for _ in 0..<5_000 {
      let (one, other) = (random.text(), random.text())
      let (key, otherKey) = (collator.sortKey(of: one), collator.sortKey(of: other))
      let order = collator.compare(one, other)
      #expect(order == 0 ? key == otherKey : key != otherKey)
      #expect((order < 0) == key.lexicographicallyPrecedes(otherKey), "\(one) \(other)")
      #expect(key.last == 0 && !key.dropLast().contains(0))
    }
  }

  @Test func printableASCIINeverCollatesEqual() {
    let characters = (0x20...0x7E).map { String(UnicodeScalar(UInt8($0))) }
    for (index, one) in characters.enumerated() {
      for other in characters[(index + 1)...] {
        #expect(collator.compare(one, other) != 0)
        #expect(collator.compare(one + other, other + one) != 0)
      }
    }
  }

  /// The range of `$beginsWith` depends on this: a longer text comes after its ASCII prefix and before the prefix
  /// with a greater last letter.
  @Test(arguments: ["a", "l", "L", "z", "9"])
  func asciiBeginningComesBeforeWhatIsLonger(beginning: String) {
    let end = ["a": "b", "l": "m", "L": "m", "9": "a"][beginning]
    for value in stride(from: UInt32(1), through: 0x10FFFF, by: 3) {
      guard let scalar = Unicode.Scalar(value) else { continue }
      let longer = beginning + String(Character(scalar))
      guard collator.compare(beginning, longer) <= 0 else {
        Issue.record("U+\(String(value, radix: 16))")
        return
      }
      guard let end else { continue }
      guard collator.compare(longer, end) < 0 else {
        Issue.record("U+\(String(value, radix: 16))")
        return
      }
    }
  }

  @Test func longTextHasAWholeKey() {
    let text = String(repeating: "é", count: 200_000)
    let key = collator.sortKey(of: text)
    #expect(key.count > 400_000 && key.last == 0)
    #expect(key.lexicographicallyPrecedes(collator.sortKey(of: text + "a")))
  }

  @Test func manyThreadsShareOneCollator() async {
    let collator = collator
    let key = collator.sortKey(of: "Straße 12")
    let differences = await withTaskGroup(of: Int.self) { group in
      for task in 0..<8 {
        group.addTask {
          var random = RandomTexts(seed: UInt64(task))
          var differences = 0
          for _ in 0..<500 {
            _ = collator.sortKey(of: random.text())
            if collator.sortKey(of: "Straße 12") != key { differences += 1 }
            if collator.compare("Straße 12", "strasse 12") <= 0 { differences += 1 }
          }
          return differences
        }
      }
      return await group.reduce(0, +)
    }
    #expect(differences == 0)
  }

  @Test func versionNamesCollationAndLibrary() {
    let parts = collator.version.split(separator: "-")
    #expect(parts.map { $0.split(separator: ".").count } == [4, 4])
    #expect(TextCollator()?.version == collator.version)
  }
}
