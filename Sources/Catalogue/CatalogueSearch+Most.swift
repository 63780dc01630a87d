import Hotels
import SQLite

/// When no hotel has all words of a search, the hotels with most of them are its answer.
extension CatalogueSearch {
  /// A word that hotels have, in how many it was counted, and whether it is in the title or the place of one.
  private struct CountedWord {
    let expression: String
    let isTitle: Bool
    let isPlace: Bool
    let hotels: Int
  }

  /// The most hotels in which words are counted. The commonest words are not counted when they would exceed it.
  private static let mostCounted = 100_000

  /// The hotels with most of the words. Words that no hotel has are left out first; that alone often suffices.
  func most(of words: WordQuery) throws -> Found {
    let parts = words.parts
    // Of a single term, such as a Chinese text, a hotel must have more than half.
    let least = words.isOneTerm ? parts.count / 2 + 1 : 1
    var counted: [CountedWord] = []
    for part in parts {
      let hotels = try countAtMost(Self.mostCounted, inWords: part.any)
      guard hotels > 0 || !part.isRequired else { return Found(rows: [], total: 0) }
      guard hotels > 0 else { continue }
      counted.append(
        CountedWord(
          expression: part.any, isTitle: try countAtMost(1, inWords: part.titled) > 0,
          isPlace: try countAtMost(1, inWords: part.place) > 0, hotels: hotels))
    }
    guard counted.count >= least else { return Found(rows: [], total: 0) }
    counted.sort { $0.hotels < $1.hotels }
    if counted.count < parts.count,
      let found = try some(inWords: counted.map(\.expression).joined(separator: " AND "))
    {
      return found
    }
    // What is in another place helps nobody, whatever else it has. A title may be a place's name or not: "apartments in
    // paris".
    for isPlace in [\CountedWord.isTitle, \.isPlace] {
      let place = counted.filter { $0[keyPath: isPlace] }.map(\.expression)
        .joined(separator: " AND ")
      let others = counted.filter { !$0[keyPath: isPlace] }.map(\.expression)
        .joined(separator: " OR ")
      guard !place.isEmpty, !others.isEmpty else { continue }
      for expression in ["\(place) AND (\(others))", place] {
        if let found = try some(inWords: expression) { return found }
      }
    }
    var sum = 0
    let rare = counted.prefix { word in
      sum += word.hotels
      return sum <= Self.mostCounted
    }
    let some = rare.isEmpty ? Array(counted.prefix(1)) : Array(rare)
    let best = try withMost(of: some.map(\.expression), atLeast: least)
    guard !best.isEmpty else { return Found(rows: [], total: 0) }
    let rows = try self.words(
      some.map(\.expression).joined(separator: " OR "), without: best, isOnly: true,
      limit: query.limit + 1, offset: query.offset)
    return Found(rows: rows, total: best.count, hasMostOnly: true)
  }

  /// The hotels that match an expression; nil if there are none.
  private func some(inWords expression: String) throws -> Found? {
    let total = try count(inWords: expression)
    guard total > 0 else { return nil }
    let rows = try words(expression, limit: query.limit + 1, offset: query.offset)
    return Found(rows: rows, total: total, hasMostOnly: true)
  }

  private func countAtMost(_ most: Int, inWords expression: String) throws -> Int {
    try connection.statement(
      "SELECT count(*) FROM (SELECT rowid FROM words WHERE words MATCH ?1 LIMIT ?2)"
    ).first(.text(expression), .integer(most)) { row in Int(clamping: row.int64(0)) } ?? 0
  }

  /// The hotels that match the largest number of expressions, in the catalogue's order.
  private func withMost(of expressions: [String], atLeast least: Int) throws -> [Int64] {
    let list = "[" + expressions.map { "\"" + Self.escaped($0) + "\"" }.joined(separator: ",") + "]"
    return try connection.statement(
      """
      WITH counted AS MATERIALIZED (
        SELECT seq, count(*) AS found FROM (
          SELECT words.rowid AS seq FROM json_each(?1) AS word CROSS JOIN words
          WHERE words MATCH word.value
        ) GROUP BY seq
      )
      SELECT seq FROM counted WHERE found = max(?3, (SELECT max(found) FROM counted))
      ORDER BY seq LIMIT ?2
      """
    ).all(.text(list), .integer(Self.mostOrdered), .integer(least)) { row in row.int64(0) }
  }

  /// An expression within a JSON string. It has no control character and no backslash.
  private static func escaped(_ expression: String) -> String {
    String(
      decoding: expression.utf8.flatMap { byte in
        byte == UInt8(ascii: "\"") ? [UInt8(ascii: "\\"), byte] : [byte]
      }, as: UTF8.self)
  }
}
