import Documents
import SQLite

/// The words that hotels have, to find what somebody meant who wrote another: "swiming", "pools".
///
/// A word stands for others if those are in many more hotels, and differ by a plural's ending or by few letters: one in
/// a word of five letters, two in one of eight. The first letter must be right, which keeps the words to look at few.
/// Only words of plain letters and digits are looked up.
struct Vocabulary {
  /// How many words of a query are looked up, and how many others each may stand for.
  static let (mostWords, mostAlternatives) = (8, 4)
  /// So many times more hotels must have the other word.
  private static let gain: Int64 = 4
  /// Longer words are not looked up, in bytes.
  private static let longestWord = 24

  private let connection: Connection

  /// The words of a catalogue, or of one that is made for one search.
  init(_ connection: Connection) { self.connection = connection }

  /// Keeps the words of a catalogue whose hotels are all in.
  static func write(in connection: Connection) throws {
    try connection.execute(
      """
      CREATE VIRTUAL TABLE temp.terms USING fts5vocab(main, words, row);
      INSERT INTO vocabulary (term, hotels)
      SELECT term, doc FROM temp.terms WHERE length(term) BETWEEN 3 AND 26;
      DROP TABLE temp.terms;
      """)
  }

  /// What words may stand for.
  func alternatives(to words: [String]) throws -> [String: [String]] {
    var found: [String: [String]] = [:]
    for word in words.prefix(Self.mostWords) where found[word] == nil {
      let letters = Array(word.utf8).map { $0 | ((0x41...0x5A).contains($0) ? 0x20 : 0) }
      guard (3...Self.longestWord).contains(letters.count),
        letters.allSatisfy({ (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) })
      else { continue }
      let others = try likely(letters)
      if !others.isEmpty { found[word] = others }
    }
    return found
  }

  /// The most likely ones first: few differences before many, then what many hotels have.
  private func likely(_ word: [UInt8]) throws -> [String] {
    let text = String(decoding: word, as: UTF8.self)
    let own =
      try connection.statement("SELECT hotels FROM vocabulary WHERE term = ?1").first(.text(text)) {
        row in row.int64(0)
      } ?? 0
    var found: [(term: String, differences: Int, hotels: Int64)] = []
    let rows = try connection.statement(
      """
      SELECT term, hotels FROM vocabulary
      WHERE term >= ?1 AND term < ?2 AND length(term) BETWEEN ?3 AND ?4 AND hotels > ?5
      """
    ).all(
      .text(String(text.prefix(1))), .text(Self.next(word[0])), .integer(word.count - 2),
      .integer(word.count + 2), .integer(Int(clamping: own * Self.gain))
    ) { row in (term: try row.string(0), hotels: row.int64(1)) }
    for row in rows where !row.term.equalsBytes(of: text) {
      guard let differences = Self.differences(word, Array(row.term.utf8)) else { continue }
      found.append((row.term, differences, row.hotels))
    }
    found.sort {
      ($0.differences, -$0.hotels, $0.term) < ($1.differences, -$1.hotels, $1.term)
    }
    return found.prefix(Self.mostAlternatives).map(\.term)
  }

  /// The text behind all that begin with a letter or digit.
  private static func next(_ first: UInt8) -> String {
    String(decoding: [first + 1], as: UTF8.self)
  }

  /// How much a word differs from one that it may stand for: 0 for a plural; nil for too much.
  static func differences(_ word: [UInt8], _ other: [UInt8]) -> Int? {
    if isPlural(word, of: other) || isPlural(other, of: word) { return 0 }
    let allowed = word.count < 5 ? 0 : word.count < 8 ? 1 : 2
    let distance = editDistance(word, other)
    return distance <= allowed ? distance : nil
  }

  private static func isPlural(_ plural: [UInt8], of word: [UInt8]) -> Bool {
    let ending = plural.dropFirst(word.count)
    if plural.starts(with: word) {
      return ending.elementsEqual("s".utf8) || ending.elementsEqual("es".utf8)
    }
    return word.last == UInt8(ascii: "y") && plural.count == word.count + 2
      && plural.starts(with: word.dropLast()) && plural.suffix(3).elementsEqual("ies".utf8)
  }

  /// Letters to put in, leave out, change or swap with a neighbour (optimal string alignment).
  static func editDistance(_ first: [UInt8], _ second: [UInt8]) -> Int {
    var (before, last) = ([Int](), Array(0...second.count))
    for (i, letter) in first.enumerated() {
      var row = [i + 1]
      for (j, other) in second.enumerated() {
        var least = min(row[j] + 1, last[j + 1] + 1, last[j] + (letter == other ? 0 : 1))
        if i > 0, j > 0, letter == second[j - 1], first[i - 1] == other {
          least = min(least, before[j - 1] + 1)
        }
        row.append(least)
      }
      (before, last) = (last, row)
    }
    return last[second.count]
  }
}
