import SQLite
import Text

/// What a search says about the price of a night: "hotel in Paris under 100 €", "50-80 euros", "cheap". No hotel writes that, so
/// it does not count as words; it orders the hotels instead. Currencies are not converted.
struct PriceWish: Equatable {
  /// The least that a night may cost; 0 if the search does not say it.
  private(set) var least = 0.0
  /// The most that it may cost; nil for "cheap".
  private(set) var most: Double?

  /// What some tokens of a text say.
  struct Said {
    let wish: PriceWish
    let tokens: Range<Int>
  }

  /// What stands before the most that a night may cost.
  private static let limits = list(
    """
    under,below,max,maximum,up to,less than,no more than,cheaper than,unter,bis,bis zu,maximal,höchstens,weniger als,moins de,\
    jusqu'à,maxi,menos de,bajo,hasta,por menos de,meno di,fino a,sotto,до,дешевле
    """)
  private static let limitKeys = Set(limits.map(PlaceNames.folded))
  /// What stands before two prices, and between them.
  private static let (from, to) = (
    list("between,zwischen,entre,from,von,de,tra,da,от"), list("and,und,to,bis,et,à,a,y,e,до,и")
  )
  private static let (fromKeys, toKeys) = (
    Set(from.map(PlaceNames.folded)), Set(to.map(PlaceNames.folded))
  )
  private static let (dashes, signs) = ("-–—~", "€$£¥₹₺₽₩฿₪")
  /// What stands after a price.
  private static let currencies = SearchStopWords.words(
    "euro euros eur dollar dollars usd us pound pounds gbp quid chf yen руб kr zł")
  private static let units = currencies.union(
    SearchStopWords.words(
      "a per pro par por pp the la die night nights nightly nacht nuit noche notte ночь за"))
  /// What a number counts that is no price: "max 20 km".
  private static let counted = SearchStopWords.words(
    """
    km m mi mile miles meter metres minutes min minuten people persons personen guests gäste rooms zimmer years jahre \
    beds betten kilometer
    """)
  /// What asks for the cheapest.
  private static let cheap = list(
    """
    cheap,cheapest,affordable,inexpensive,günstig,günstige,günstigen,günstiges,günstigste,billig,billige,billiges,pas cher,\
    bon marché,barato,baratos,economico,economici,goedkoop,goedkope,tanie,ucuz,дешевые,дешево,недорогие,недорогой,недорого,\
    安い,格安,便宜
    """)
  private static let cheapKeys = Set(cheap.map(PlaceNames.folded))

  private static func list(_ text: String) -> [String] {
    text.split(separator: ",").map(String.init)
  }

  /// The same rules as ``said(in:)``, as a regular expression of JavaScript. No part of it is ambiguous, so it takes no longer
  /// than the text is long.
  static let pattern: String = {
    func either(_ words: some Sequence<String>) -> String {
      let plain = words.map {
        FoldedText($0).terms.flatMap(\.parts).map(\.text).joined(separator: " ")
      }
      return "(?:"
        + Set(Array(words) + plain).sorted { ($1.utf8.count, $0) < ($0.utf8.count, $1) }
        .joined(separator: "|") + ")"
    }
    let end = "(?![\\p{L}\\p{N}])"
    let amount = "\\d[.,]?\\d(?:[\\d.,]*\\d)?"
    let currency = either(currencies)
    let signed = "(?:[^\\s\\p{L}\\d]\\s*|" + currency + "\\s+)?" + amount
    let unit = "(?:\\s*(?:[" + signs + "]|" + currency + end + "))"
    let second = unit + "?(?:\\s*[" + dashes + "]\\s*|\\s+" + either(to) + "\\s+)" + signed
    let forms = [
      either(limits) + "[.:]?\\s+" + signed + "(?:" + second + ")?(?!\\s*" + either(counted) + end
        + ")",
      either(from) + "\\s+" + signed + second,
      "(?:[" + signs + "]\\s*|" + currency + "\\s+)" + amount + "(?:" + second + ")?",
      amount + "(?:" + second + ")?" + unit,
    ]
    return "(?<!\\S)(?:(?:" + forms.joined(separator: "|") + ")(?:\\s*(?:" + either(units) + end
      + "|[^\\s\\p{L}\\d]))*|" + either(cheap) + "[.,;!?]*)(?!\\S)"
  }()

  /// What a token says about a price.
  private struct Amount {
    let least: Double
    let most: Double
    var hasCurrency: Bool
  }

  private static func amount(_ token: SpelledQuery.Token) -> Amount? {
    guard !token.words.isEmpty,
      token.words.joined().prefix(while: \.isASCIIDigit).count > 1,
      token.words.allSatisfy({ word in
        let unit = word.drop(while: \.isASCIIDigit)
        return unit.isEmpty || units.contains(String(unit))
      })
    else { return nil }
    let numbers = token.text.split { dashes.contains($0) }.compactMap {
      Price.number(in: String($0))
    }
    guard let last = numbers.last, numbers.count <= 2 else { return nil }
    return Amount(
      least: numbers.count > 1 ? numbers[0] : 0, most: last,
      hasCurrency: token.text.contains { signs.contains($0) }
        || token.words.contains { currencies.contains(String($0.drop(while: \.isASCIIDigit))) })
  }

  private static func isCurrency(_ token: SpelledQuery.Token) -> Bool {
    token.words.isEmpty
      ? token.text.count == 1 && token.text.contains { signs.contains($0) }
      : token.words.allSatisfy(currencies.contains)
  }

  /// The price that tokens name, and the wish for the cheapest.
  static func said(in tokens: [SpelledQuery.Token]) -> [Said] {
    var said: [Said] = []
    for index in tokens.indices where said.last.map({ $0.tokens.upperBound <= index }) ?? true {
      if let price = price(at: index, of: tokens) {
        said.append(price)
      } else if let count = [2, 1].first(where: { count in
        index + count <= tokens.count
          && cheapKeys.contains(tokens[index..<index + count].flatMap(\.words).joined())
      }) {
        said.append(Said(wish: PriceWish(), tokens: index..<index + count))
      }
    }
    return said
  }

  /// The price whose first number is in a token.
  private static func price(at index: Int, of tokens: [SpelledQuery.Token]) -> Said? {
    guard var first = amount(tokens[index]) else { return nil }
    var (start, end) = (index, index + 1)
    if start > 0, tokens[start - 1].words.isEmpty || isCurrency(tokens[start - 1]) {
      start -= 1
      if isCurrency(tokens[start]) { first.hasCurrency = true }
    }
    var next = end
    while next < tokens.count, isCurrency(tokens[next]) { next += 1 }
    if next + 1 < tokens.count, isJoint(tokens[next]) {
      var other = next + 1
      if isCurrency(tokens[other]) { other += 1 }
      if other < tokens.count, first.least == 0, let second = amount(tokens[other]) {
        first = Amount(
          least: first.most, most: second.most,
          hasCurrency: first.hasCurrency || second.hasCurrency || other > next + 1)
        end = other + 1
      }
    }
    while end < tokens.count,
      tokens[end].words.isEmpty || tokens[end].words.allSatisfy(units.contains)
    {
      if isCurrency(tokens[end]) { first.hasCurrency = true }
      end += 1
    }
    let before = (1...3).last { count in
      count <= start
        && limitKeys.contains(tokens[(start - count)..<start].flatMap(\.words).joined())
    }
    if let before {
      guard
        first.hasCurrency || end == tokens.count || !tokens[end].words.allSatisfy(counted.contains)
      else { return nil }
      start -= before
    } else if first.least > 0, start > 0, fromKeys.contains(tokens[start - 1].words.joined()) {
      start -= 1
    } else if !first.hasCurrency {
      return nil
    }
    return Said(wish: PriceWish(least: first.least, most: first.most), tokens: start..<end)
  }

  private static func isJoint(_ token: SpelledQuery.Token) -> Bool {
    token.words.isEmpty
      ? token.text.count == 1 && token.text.allSatisfy { dashes.contains($0) }
      : toKeys.contains(token.words.joined())
  }
}

extension CatalogueSearch {
  /// The hotels that match an expression: those that cost what a search says come first, then those whose price is not known
  /// or less; for "cheap" the cheapest. The parameters are those of `words(_:leading:without:isOnly:limit:offset:)`.
  func wished(
    _ wish: PriceWish, _ expression: String, leading phrases: Int, without known: [Int64],
    isOnly: Bool, _ limit: Int, _ offset: Int
  ) throws -> [OpenCatalogue.HotelRow] {
    try connection.statement(
      """
      SELECT hotel.id, hotel.body FROM (
        SELECT matching.seq AS seq, score,
          CASE WHEN ?10 IS NULL THEN ifnull(price, 9e15) WHEN price BETWEEN ?9 AND ?10 THEN 0
          WHEN price > ?10 THEN 1 + price ELSE 1 END AS wished
        FROM (
          SELECT rowid AS seq, relevance(words, ?7, 10, 4, 1, 3, 1, 4, 2, 1, ?8) AS score
          FROM words
          WHERE words MATCH ?1 AND (rowid IN (SELECT value FROM json_each(?4))) = ?6
          ORDER BY rowid LIMIT ?5
        ) AS matching CROSS JOIN sorting ON sorting.seq = matching.seq
        ORDER BY wished, score, matching.seq LIMIT ?2 OFFSET ?3
      ) AS found CROSS JOIN hotel ON hotel.seq = found.seq
      ORDER BY found.wished, found.score, found.seq
      """
    ).all(
      .text(expression), .integer(limit), .integer(offset), Self.list(known),
      .integer(Self.mostOrdered), .integer(isOnly ? 1 : 0), .integer(phrases), .real(placeWeight),
      .real(wish.least), wish.most.map { .real($0) } ?? .null, row: OpenCatalogue.HotelRow.init)
  }
}

extension Character {
  fileprivate var isASCIIDigit: Bool { ("0"..."9").contains(self) }
}
