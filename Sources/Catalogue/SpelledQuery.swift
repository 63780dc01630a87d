import Text

/// The text of a search as hotels write what it means: "LA" written out, stars as "4 star", without the most that a
/// night may cost, and with spaces between what a hotel has in different fields.
enum SpelledQuery {
  /// The name by which ``PlaceNames`` knows both Los Angeles and Louisiana: "Hilton LA", "New Orleans LA".
  static let eitherLA = "USLA"
  /// Codes of states that are words of other languages or of English. After a comma they are states.
  private static let states = ["LA": "Louisiana", "ME": "Maine", "OR": "Oregon"]

  /// What stands before the most that a night may cost: "hotel in Paris under 100 €". No hotel writes that, so it does not
  /// count.
  private static let limits = """
    under,below,max,maximum,up to,less than,no more than,cheaper than,unter,bis,bis zu,maximal,höchstens,weniger als,moins de,\
    jusqu'à,maxi,menos de,hasta,por menos de,meno di,fino a,sotto,до,дешевле
    """.split(separator: ",").map(String.init)
  private static let limitKeys = Set(limits.map(PlaceNames.folded))
  /// What stands after it.
  private static let units = SearchStopWords.words(
    """
    euro euros eur dollar dollars usd us pound pounds gbp quid chf yen a per pro par por pp the la die night nights nightly nacht \
    nuit noche notte ночь за евро руб kr zł
    """)
  /// The same rule as ``withoutPrice(_:)``, as a regular expression of JavaScript. It is not ambiguous, so it takes no longer
  /// than the text is long.
  static let pricePattern: String = {
    let before =
      (limits
      + limits.map { FoldedText($0).terms.flatMap(\.parts).map(\.text).joined(separator: " ") })
      .sorted { $0.utf8.count > $1.utf8.count }
    let after = units.sorted { $0.utf8.count > $1.utf8.count }.joined(separator: "|")
    let unit = "(?:" + after + ")(?![\\p{L}\\p{N}])"
    return "(?<!\\S)(?:" + before.joined(separator: "|")
      + ")\\s+[^\\s\\p{L}\\d]?\\d[.,]?\\d(?:[\\d.,]*\\d)?(?:\\s*(?:"
      + unit + "|[^\\s\\p{L}\\d]))*(?!\\S)"
  }()

  /// Adjectives of countries and of their parts, after the English name of the place. Beside a word for a kind of hotel they
  /// mean all there: "French hotels".
  private static let origins = """
    France french französische français françaises francesi franceses;Germany german deutsche allemands alemanes tedeschi
    Italy italian italienische italiens italianos italiani;Spain spanish spanische espagnols españoles spagnoli
    United Kingdom british britische;England english englische;Scotland scottish schottische;Wales welsh;Ireland irish irische
    Portugal portuguese portugiesische;Switzerland swiss schweizer;Austria austrian österreichische;Netherlands dutch
    Belgium belgian;Greece greek griechische;Turkey turkish türkische;Japan japanese japanische;China chinese chinesische
    South Korea korean;Thailand thai;Vietnam vietnamese;India indian;United States american amerikanische;Canada canadian
    Australia australian;Mexico mexican;Brazil brazilian;Morocco moroccan;Egypt egyptian;Poland polish polnische
    Croatia croatian kroatische;Denmark danish dänische;Sweden swedish schwedische;Norway norwegian norwegische
    Finland finnish finnische;Iceland icelandic;Russia russian russische;Hungary hungarian;Czechia czech tschechische
    California californian;Bavaria bavarian bayerische;Sicily sicilian;Tuscany tuscan;Catalonia catalan
    """
  /// The places that each adjective means.
  static let places: [String: String] = {
    var places: [String: String] = [:]
    for line in origins.split(whereSeparator: { $0 == "\n" || $0 == ";" }) {
      // The place's name begins with capital letters.
      let words = line.split(separator: " ")
      let name = words.prefix { $0.first?.isUppercase == true }.joined(separator: " ")
      for word in words {
        if word.first?.isUppercase == false { places[PlaceNames.folded(String(word))] = name }
      }
    }
    return places
  }()
  /// What ``PlaceNames`` knows an adjective by where it means a place. No hotel has such a word.
  static func meaning(_ adjective: String) -> String { meant + adjective }
  /// What such words begin with.
  static let meant = "xx"

  /// What may stand beside such an adjective.
  private static let lodgings = SearchStopWords.kinds.union(
    SearchStopWords.words(
      """
      hostel hostels cottage cottages apartment apartments campsite campsites campground campgrounds guesthouse guesthouses inn \
      inns motel motels resort resorts villa villas b bs bnb bnbs pensionen ferienwohnungen auberges
      """))

  /// The words for a device: those between others, the kinds, those that count unless a kind is next, those that
  /// count unless a kind is before them; then ``SearchStopWords/runs``, ``SearchStopWords/links``, the
  /// adjectives, and ``lodgings``.
  static let groups: [String] = {
    let words = [
      SearchStopWords.small, SearchStopWords.kinds, SearchStopWords.praise, SearchStopWords.after,
    ].map { $0.sorted() }
    let pieces = [SearchStopWords.runs, SearchStopWords.links]
    let others = [Set(places.keys), lodgings].map { $0.sorted() }
    return (words + pieces + others).map { $0.joined(separator: " ") }
  }()

  /// What stands between two spaces, and its folded words: at least one.
  private struct Token {
    let text: String
    let words: [String]

    init?(_ text: String) {
      self.text = text
      words = FoldedText(text).terms.flatMap(\.parts).map(\.text)
      if words.isEmpty { return nil }
    }

    /// Whether it is a number of at least two digits, perhaps with ``units``.
    var isAmount: Bool {
      words.joined().prefix(while: \.isASCIIDigit).count > 1
        && words.allSatisfy { word in
          let unit = word.drop(while: \.isASCIIDigit)
          return unit.isEmpty || units.contains(String(unit))
        }
    }
  }

  static func text(_ text: String) -> String {
    let tokens = withoutPrice(
      withStars(withSpaces(text)).split(separator: " ").flatMap { apart($0) }
        .compactMap(Token.init))
    return tokens.indices.map { spelled(tokens, $0) }.joined(separator: " ")
  }

  private static func spelled(_ tokens: [Token], _ index: Int) -> String {
    let (small, kinds) = (SearchStopWords.small, SearchStopWords.kinds)
    let token = tokens[index]
    let former = index > 0 ? tokens[index - 1] : nil
    let next = index + 1 < tokens.count ? tokens[index + 1] : nil
    if token.words.count == 1, places[token.words[0]] != nil,
      [former, next].contains(where: { $0?.words.allSatisfy(lodgings.contains) ?? false })
    {
      return meaning(token.words[0])
    }
    let isAfterName =
      former.map { !$0.words.allSatisfy { small.contains($0) || kinds.contains($0) } } ?? false
    let isWritten = token.text == "LA"
    let isBeforeName =
      next.map {
        !$0.words.allSatisfy { kinds.contains($0) || isWritten && small.contains($0) }
      } ?? false
    if isAfterName, former?.text.hasSuffix(",") == true, !isBeforeName,
      let state = states[token.text]
    {
      return state
    }
    guard token.words == ["la"] else { return token.text }
    if isBeforeName || isAfterName && !isWritten { return "la" }
    return isAfterName ? eitherLA : "Los Angeles"
  }

  /// The tokens without the most that a night may cost; all of them if there are no others.
  private static func withoutPrice(_ tokens: [Token]) -> [Token] {
    for (index, token) in tokens.enumerated() where token.isAmount {
      let before = (1...3).last { count in
        count <= index
          && limitKeys.contains(tokens[(index - count)..<index].flatMap(\.words).joined())
      }
      guard let before else { continue }
      let rest = tokens[(index + 1)...].drop { $0.words.allSatisfy(units.contains) }
      let others = tokens[..<(index - before)] + rest
      return others.isEmpty ? tokens : Array(others)
    }
    return tokens
  }

  /// A text with "4 star" for `4*`, `4★` and `4stars`; also for the index.
  static func withStars(_ text: String) -> String {
    // "s", "S", "*" or the first byte of the other signs.
    let mayFollow: Set<UInt8> = [0x73, 0x53, 0x2A, 0xE2]
    guard
      zip(text.utf8, text.utf8.dropFirst()).contains(where: {
        (0x31...0x35).contains($0) && mayFollow.contains($1)
      })
    else { return text }
    return text.split(separator: " ", omittingEmptySubsequences: false).map { token -> Substring in
      let sign = token.dropFirst()
      guard let first = token.first, ("1"..."5").contains(first), !sign.isEmpty,
        sign.allSatisfy({ "*★☆⭐".contains($0) }) || ["star", "stars"].contains(sign.lowercased())
      else { return token }
      return "\(first) star"
    }.joined(separator: " ")
  }

  /// A text with a space after each comma and semicolon that is not before a digit, and after a slash between words of at
  /// least three letters: "pool,gym", "London/Paris".
  private static func withSpaces(_ text: String) -> String {
    var spaced = String.UnicodeScalarView()
    let scalars = Array(text.unicodeScalars)
    for (index, scalar) in scalars.enumerated() {
      if let last = spaced.last, last == "," || last == ";", !("0"..."9").contains(scalar) {
        spaced.append(" ")
      }
      let isBetweenWords =
        scalar == "/" && index >= 3 && index + 3 < scalars.count
        && (scalars[(index - 3)..<index] + scalars[(index + 1)...(index + 3)])
          .allSatisfy(\.properties.isAlphabetic)
      spaced.append(isBetweenWords ? " " : scalar)
    }
    return String(spaced)
  }

  /// What every result is stands alone, "パリのホテル", and so do two names of places, "法国巴黎".
  private static func apart(_ token: Substring) -> [String] {
    let (runs, links) = (SearchStopWords.runs, SearchStopWords.links)
    guard let run = runs.first(where: { token.hasSuffix($0) }) else { return named(token) }
    var place = token.dropLast(run.count)
    if let link = links.first(where: { place.hasSuffix($0) }) { place = place.dropLast(link.count) }
    return named(place) + [run]
  }

  private static func named(_ token: Substring) -> [String] {
    let letters = Array(token)
    guard (4...16).contains(letters.count),
      letters.allSatisfy({ $0.unicodeScalars.allSatisfy { $0.value >= 0x3005 } })
    else { return [String(token)] }
    let split = (2...letters.count - 2).first { count in
      [letters[..<count], letters[count...]].allSatisfy { PlaceNames.all.knows(String($0)) }
    }
    guard let split else { return [String(token)] }
    return [String(letters[..<split]), String(letters[split...])]
  }
}

extension Character {
  fileprivate var isASCIIDigit: Bool { ("0"..."9").contains(self) }
}
