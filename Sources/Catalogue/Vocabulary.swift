import Documents
import Hotels
import SQLite

/// The words of all hotels, as ``IndexedText`` has them, to find what a search means: "swiming", "pools", "guesthouse".
/// Runs of scripts without spaces are left out.
///
/// The plural or singular of a query's word replaces it. Another word may if more than four times as many hotels have it
/// and it differs by few letters: one from five letters on, two from eight on, and no other word by fewer. The first letter
/// must be the same, which limits the number of words to compare. Nothing else replaces a word that ten hotels have, a
/// number or the name of a hotel's place, and nothing at all the name of a place that everybody knows: "Paris" is no plural.
struct Vocabulary {
  /// How many words of a query are looked up, and how many alternatives each may have.
  static let (mostWords, mostAlternatives) = (8, 4)
  /// The alternative must occur in more than this many times as many hotels.
  private static let gain: Int64 = 4
  /// A word that so many hotels have is no mistake: "hostel" does not mean "hotel".
  private static let right: Int64 = 10
  /// The longest word that is looked up, in characters.
  private static let longestWord = 24
  /// The longest word that is kept.
  private static let longestTerm = 40

  /// The alternatives that were found for words of earlier searches. A catalogue's file never changes, so they stay
  /// right. Confined to the reader that has the catalogue open.
  final class Known {
    /// How many words are known at most; then all are forgotten.
    private static let limit = 4_096
    private var words: [String: [String]] = [:]

    func words(_ key: String, _ find: () throws -> [String]) rethrows -> [String] {
      if let found = words[key] { return found }
      let found = try find()
      if words.count == Self.limit { words = [:] }
      words[key] = found
      return found
    }
  }

  /// The most hotels with a word in another language that are counted. If more have the English one, that counts, too.
  static let mostCounted = 1_000

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
      SELECT term, doc FROM temp.terms
      WHERE length(term) BETWEEN 2 AND 40 AND (term < '§' OR term > '§') AND term < char(0xE00);
      DROP TABLE temp.terms;
      """)
  }

  /// Whether a hotel has a word, or a word that begins so.
  func has(_ word: String, isPrefix: Bool) throws -> Bool {
    guard word.unicodeScalars.count <= Self.longestTerm else { return false }
    let first = try connection.statement(
      "SELECT term FROM vocabulary WHERE term >= ?1 ORDER BY term LIMIT 1"
    ).first(.text(word)) { row in try row.string(0) }
    guard let first else { return false }
    return isPrefix ? first.utf8.starts(with: word.utf8) : first.equalsBytes(of: word)
  }

  /// The two words that hotels have of which a word may consist, with a space between them: "guest house". They may share
  /// a letter, as in "Travelodge". The pairs whose rarer word most hotels have come first.
  func pairs(in word: String) throws -> [String] {
    let letters = Array(word.unicodeScalars)
    guard (4...Self.longestWord).contains(letters.count) else { return [] }
    return try known.words("+" + word) {
      var found: [(pair: String, hotels: Int64)] = []
      for end in 2...(letters.count - 2) {
        for start in [end, end - 1] {
          let (first, second) = (Self.text(letters[..<end]), Self.text(letters[start...]))
          let hotels = min(try self.hotels(first), try self.hotels(second))
          if hotels > 0 { found.append((first + " " + second, hotels)) }
        }
      }
      return found.sorted { ($1.hotels, $0.pair) < ($0.hotels, $1.pair) }
        .prefix(Self.mostAlternatives).map(\.pair)
    }
  }

  /// Words that may be meant by a word.
  func alternatives(to word: String) throws -> [String] {
    let letters = Array(word.unicodeScalars)
    // Who asks for Porto means no port, even if no hotel is there.
    guard (3...Self.longestWord).contains(letters.count), letters[0].value < 0xE00,
      !PlaceNames.all.isPlace(word)
    else { return [] }
    return try known.words(word) { try likely(letters, word) }
  }

  /// How many hotels match an expression, but no more than some.
  func count(_ expression: String, atMost most: Int = .max) throws -> Int {
    try connection.statement(
      "SELECT count(*) FROM (SELECT rowid FROM words WHERE words MATCH ?1 LIMIT ?2)"
    ).first(.text(expression), .integer(most)) { row in Int(clamping: row.int64(0)) } ?? 0
  }

  /// Whether so many hotels have a word that it is no mistake.
  func isRight(_ word: String) throws -> Bool { try hotels(word) >= Self.right }

  /// Whether a country, a state or a city is called so: one that everybody knows, or one of a hotel.
  func isPlace(_ key: String) throws -> Bool {
    if PlaceNames.all.isPlace(key) { return true }
    return try Place.Kind.allCases.contains { kind in
      let name = kind.rawValue + "/" + key
      // The character after "/" is "0".
      return try connection.statement(
        "SELECT 1 FROM place WHERE key > ?1 || '/' AND key < ?1 || '0' AND hotels > 0 LIMIT 1"
      ).first(.text(name)) { row in row.int64(0) } != nil
    }
  }

  private func hotels(_ word: String) throws -> Int64 {
    try connection.statement("SELECT hotels FROM vocabulary WHERE term = ?1").first(.text(word)) {
      row in row.int64(0)
    } ?? 0
  }

  private static func text(_ letters: some Sequence<Unicode.Scalar>) -> String {
    String(String.UnicodeScalarView(letters))
  }

  /// The most likely alternatives first: by fewer differences, then by more hotels.
  private func likely(_ word: [Unicode.Scalar], _ text: String) throws -> [String] {
    var own = try hotels(text)
    var found: [(term: String, differences: Int, hotels: Int64)] = []
    for other in Self.numbers(of: text) {
      let hotels = try hotels(other)
      if hotels > 0 { found.append((other, 0, hotels)) }
      // The plural of a right word is right: "hostels" does not mean "hotels".
      own += hotels
    }
    if try own < Self.right && word[0].properties.numericType == nil && !isPlace(text) {
      let similar = try similar(to: word, text, own, without: found.map(\.term))
      let least = similar.map(\.differences).min()
      found += similar.filter { $0.differences == least }
    }
    found.sort {
      ($0.differences, -$0.hotels, $0.term) < ($1.differences, -$1.hotels, $1.term)
    }
    return found.prefix(Self.mostAlternatives).map(\.term)
  }

  /// The words that differ by few letters and that many more hotels have.
  private func similar(
    to word: [Unicode.Scalar], _ text: String, _ own: Int64, without known: [String]
  ) throws -> [(term: String, differences: Int, hotels: Int64)] {
    let allowed = Self.allowed(in: word)
    guard allowed > 0 else { return [] }
    // Each word is compared while SQLite reads it, so the search's time limit holds here, too.
    return try connection.statement(
      """
      SELECT term, hotels FROM vocabulary
      WHERE term >= ?1 AND term < ?2 AND length(term) BETWEEN ?3 AND ?4 AND hotels > ?5
      """
    ).all(
      .text(Self.text(word.prefix(1))), .text(Self.next(word[0])), .integer(word.count - allowed),
      .integer(word.count + allowed), .integer(Int(clamping: own * Self.gain))
    ) { row -> (term: String, differences: Int, hotels: Int64)? in
      let term = try row.string(0)
      let other = Array(term.unicodeScalars)
      // "Brighton" is not "bright" with two letters too many, and not Brixton.
      guard !([text] + known).contains(where: { $0.equalsBytes(of: term) }),
        let differences = Self.differences(word, other),
        differences < 2
          || !word.starts(with: other) && !other.starts(with: word)
            && !PlaceNames.all.sights.contains(term)
      else { return nil }
      return (term, differences, row.int64(1))
    }.compactMap(\.self)
  }

  /// The end of the range of texts that start with a letter or digit.
  private static func next(_ first: Unicode.Scalar) -> String {
    Unicode.Scalar(first.value + 1).map { String($0) } ?? ""
  }

  /// How many differences a word of so many letters may have.
  private static func allowed(in word: [Unicode.Scalar]) -> Int {
    word.count < 5 ? 0 : word.count < 8 ? 1 : 2
  }

  /// The number of letters to insert, delete, change or swap with a neighbour between a word and an alternative (optimal string
  /// alignment); nil for too many.
  static func differences(_ word: [Unicode.Scalar], _ other: [Unicode.Scalar]) -> Int? {
    let allowed = allowed(in: word)
    guard abs(word.count - other.count) <= allowed else { return nil }
    var (before, last, least) = ([Int](), Array(0...other.count), 0)
    for (i, letter) in word.enumerated() {
      var (row, nearest) = ([i + 1], i + 1)
      for (j, scalar) in other.enumerated() {
        var found = min(row[j] + 1, last[j + 1] + 1, last[j] + (letter == scalar ? 0 : 1))
        if i > 0, j > 0, letter == other[j - 1], word[i - 1] == scalar {
          found = min(found, before[j - 1] + 1)
        }
        row.append(found)
        nearest = min(nearest, found)
      }
      // What follows is no less than this row, or than the one before with letters swapped.
      guard min(nearest, least + 1) <= allowed else { return nil }
      (before, last, least) = (last, row, nearest)
    }
    return last[other.count] <= allowed ? last[other.count] : nil
  }

  /// What may be the plural of a word, and the word of which it may be one. What has less than three letters is none: `IV` is
  /// not that of `Ives`.
  static func numbers(of word: String) -> [String] {
    let endings = [("", "s"), ("", "es"), ("y", "ies"), ("ies", "y"), ("es", ""), ("s", "")]
    return endings.filter { word.hasSuffix($0.0) }.map { word.dropLast($0.0.count) + $0.1 }
      .filter { $0.utf8.count > 2 }
  }
}
