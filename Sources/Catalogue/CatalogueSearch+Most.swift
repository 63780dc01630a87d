import Hotels
import SQLite

/// When no hotel has all words of a search, the hotels with most of them are its answer.
extension CatalogueSearch {
  /// A word that hotels have, and in how many it was counted.
  private struct CountedWord {
    let part: WordQuery.Part
    let hotels: Int
    var expression: String { part.any }
  }

  /// The most hotels in which words are counted. The commonest words are not counted when they would exceed it.
  private static let mostCounted = 100_000
  /// A word is no rare one if more than so many times as many hotels have it as have the rarest.
  private static let rarity = 4

  /// The hotels with most of the words. Words that no hotel has are left out first; that alone often suffices.
  func most(of words: WordQuery) throws -> Found {
    let parts = words.parts
    // Of a single term, such as a Chinese text, a hotel must have more than half.
    let least = words.isOneTerm ? parts.count / 2 + 1 : 1
    var counted: [CountedWord] = []
    for part in parts {
      let hotels = try vocabulary.count(part.any, atMost: Self.mostCounted)
      guard hotels > 0 else {
        // Who wants to be in Lyon has no use for Tokyo.
        if part.isAboutPlace, PlaceNames.all.isPlace(part.key) { return Found(rows: [], total: 0) }
        continue
      }
      counted.append(CountedWord(part: part, hotels: hotels))
    }
    guard counted.count >= least else { return Found(rows: [], total: 0) }
    counted.sort { $0.hotels < $1.hotels }
    if counted.count < parts.count,
      let found = try all(counted.map(\.expression).joined(separator: " AND "), isMost: true)
    {
      return found
    }
    // What is in another place helps nobody, whatever else it has. To look for a common word in all places takes long.
    let named = try counted.filter { word in
      try vocabulary.isPlace(word.part.key) && vocabulary.count(word.part.place, atMost: 1) > 0
    }
    if !named.isEmpty {
      let place = named.map(\.part.place).joined(separator: " AND ")
      let others = counted.filter { word in !named.contains { $0.expression == word.expression } }
      for expression in [others.isEmpty ? nil : "\(place) AND (\(Self.any(of: others)))", place] {
        if let expression, let found = try all(expression, isMost: true) { return found }
      }
    }
    var sum = 0
    let rare = counted.prefix { word in
      sum += word.hotels
      return sum <= Self.mostCounted
    }
    var some = rare.isEmpty ? Array(counted.prefix(1)) : Array(rare)
    var best = try withMost(of: some.map(\.expression), atLeast: max(2, least))
    if best.isEmpty, least == 1 {
      // Of one word each, only the rare ones say something: "isle of skye".
      let most = some[0].hotels * Self.rarity
      some = some.filter { $0.hotels <= most }
      best = try withMost(of: some.map(\.expression), atLeast: 1)
    }
    guard !best.isEmpty else { return Found(rows: [], total: 0) }
    let rows = try self.words(
      Self.any(of: some), without: best, isOnly: true,
      limit: query.limit + 1, offset: query.offset)
    return Found(rows: rows, total: best.count, hasMostOnly: true)
  }

  private static func any(of words: [CountedWord]) -> String {
    words.map(\.expression).joined(separator: " OR ")
  }

  /// The hotels that match the largest number of expressions, in the catalogue's order.
  private func withMost(of expressions: [String], atLeast least: Int) throws -> [Int64] {
    // An expression has no control character and no backslash.
    let texts = expressions.map { MatchExpression.escaped($0, by: UInt8(ascii: "\\")) }
    let list = "[" + texts.map { "\"\($0)\"" }.joined(separator: ",") + "]"
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
}
