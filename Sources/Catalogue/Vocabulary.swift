import Documents
import SQLite

/// The words of all hotels, to correct misspelt words and plurals in a search: "swiming", "pools".
///
/// Another word may replace a query's word if more than four times as many hotels have it and it differs by a
/// plural ending or by few letters: one from five letters on, two from eight on. The first letter must be the same,
/// which limits the number of words to compare. Only words of ASCII letters and digits are looked up.
struct Vocabulary {
  /// How many words of a query are looked up, and how many alternatives each may have.
  static let (mostWords, mostAlternatives) = (8, 4)
  /// The alternative must occur in more than this many times as many hotels.
  private static let gain: Int64 = 4
  /// The longest word that is looked up, in bytes.
  private static let longestWord = 24

  /// The alternatives that were found for words of earlier searches. A catalogue's file never changes, so they stay
  /// right. Confined to the reader that has the catalogue open.
  final class Known {
    /// How many words are known at most; then all are forgotten.
    private static let limit = 4_096
    private var alternatives: [String: [String]] = [:]

    func alternatives(to word: String, _ find: () throws -> [String]) rethrows -> [String] {
      if let found = alternatives[word] { return found }
      let found = try find()
      if alternatives.count == Self.limit { alternatives = [:] }
      alternatives[word] = found
      return found
    }
  }

  private let connection: Connection
  private let known: Known

  /// The vocabulary of a catalogue, or of a ``ScratchCatalogue``.
  init(_ connection: Connection, _ known: Known) {
    self.connection = connection
    self.known = known
  }

  /// Stores the words of a catalogue after all hotels are added.
  static func write(in connection: Connection) throws {
    try connection.execute(
      """
      CREATE VIRTUAL TABLE temp.terms USING fts5vocab(main, words, row);
      INSERT INTO vocabulary (term, hotels)
      SELECT term, doc FROM temp.terms WHERE length(term) BETWEEN 3 AND 26;
      DROP TABLE temp.terms;
      """)
  }

  /// The alternatives of words. Words without any are left out.
  func alternatives(to words: [String]) throws -> [String: [String]] {
    var found: [String: [String]] = [:]
    for word in words.prefix(Self.mostWords) where found[word] == nil {
      let letters = Array(word.utf8).map { $0 | ((0x41...0x5A).contains($0) ? 0x20 : 0) }
      guard (3...Self.longestWord).contains(letters.count),
        letters.allSatisfy({ (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) })
      else { continue }
      let text = String(decoding: letters, as: UTF8.self)
      let others = try known.alternatives(to: text) { try likely(letters, text) }
      if !others.isEmpty { found[word] = others }
    }
    return found
  }

  /// The most likely alternatives first: by fewer differences, then by more hotels.
  private func likely(_ word: [UInt8], _ text: String) throws -> [String] {
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

  /// The end of the range of texts that start with a letter or digit.
  private static func next(_ first: UInt8) -> String {
    String(decoding: [first + 1], as: UTF8.self)
  }

  /// The number of differences between a word and an alternative: 0 for a plural; nil for too many.
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

  /// The number of letters to insert, delete, change or swap with a neighbour (optimal string alignment).
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
