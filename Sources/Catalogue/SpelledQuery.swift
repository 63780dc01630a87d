import Text

/// The text of a search as hotels write what it means: "LA" written out, stars as "4 star", without what it says about a
/// price (``PriceWish``), and with spaces between what a hotel has in different fields.
enum SpelledQuery {
  /// The name by which ``PlaceNames`` knows both Los Angeles and Louisiana: "Hilton LA", "New Orleans LA".
  static let eitherLA = "USLA"
  /// Codes of states that are words of other languages or of English. After a comma they are states.
  private static let states = ["LA": "Louisiana", "ME": "Maine", "OR": "Oregon"]

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

  /// What stands between two spaces, and its folded words.
  struct Token {
    let text: String
    let words: [String]

    init(_ text: String) {
      self.text = text.uppercased() == "L.A." ? "LA" : text
      words = FoldedText(self.text).terms.flatMap(\.parts).map(\.text)
    }
  }

  /// - Parameter keepsPrice: whether what a text says about a price is a part of a hotel's name: `Hotel Max 506`.
  static func text(_ text: String, keepsPrice: Bool = false) -> String {
    var tokens = tokens(of: text)
    if !keepsPrice { tokens = withoutPrice(tokens) }
    tokens = tokens.filter { !$0.words.isEmpty }
    return tokens.indices.map { spelled(tokens, $0) }.joined(separator: " ")
  }

  private static func tokens(of text: String) -> [Token] {
    withStars(withSpaces(text)).split(separator: " ").flatMap { apart($0) }.map(Token.init)
  }

  /// Whether a text says no more than what every result is, and a price. False for a text without a word.
  static func saysNothing(_ text: String) -> Bool {
    if SearchStopWords.areAll(text) { return true }
    let tokens = tokens(of: text)
    guard !PriceWish.said(in: tokens).isEmpty else { return false }
    let others = others(tokens)
    return others.isEmpty || SearchStopWords.areAll(others.map(\.text).joined(separator: " "))
  }

  /// What a text says about a price, and the phrases by which the name of a hotel says it. A single word is one only beside
  /// its neighbour: "Cheap Sleep".
  static func price(in text: String) -> (wishes: [PriceWish], names: [String]) {
    let tokens = tokens(of: text)
    let said = PriceWish.said(in: tokens)
    let names = said.flatMap { said -> [Range<Int>] in
      guard tokens[said.tokens].flatMap(\.words).count == 1 else { return [said.tokens] }
      let (start, end) = (said.tokens.lowerBound, said.tokens.upperBound)
      return [max(0, start - 1)..<end, start..<min(tokens.count, end + 1)]
        .filter { tokens[$0].flatMap(\.words).count > 1 }
    }.map { range in
      WordQuery.phrase(
        FoldedText(tokens[range].map(\.text).joined(separator: " ")).terms.flatMap(\.parts))
    }
    return (said.map(\.wish), names)
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

  /// The tokens without what they say about a price; all of them if there are no others.
  private static func withoutPrice(_ tokens: [Token]) -> [Token] {
    let others = others(tokens)
    return others.isEmpty ? tokens : others
  }

  private static func others(_ tokens: [Token]) -> [Token] {
    let said = PriceWish.said(in: tokens)
    return tokens.indices.filter { index in !said.contains { $0.tokens.contains(index) } }
      .map { tokens[$0] }.filter { !$0.words.isEmpty }
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

  /// A text with a space after each comma and semicolon that is not before a digit, and for a sign between words of at least
  /// three letters: "pool,gym", "London/Paris", "hotel@paris".
  private static func withSpaces(_ text: String) -> String {
    var spaced = String.UnicodeScalarView()
    let scalars = Array(text.unicodeScalars)
    for (index, scalar) in scalars.enumerated() {
      if let last = spaced.last, last == "," || last == ";", !("0"..."9").contains(scalar) {
        spaced.append(" ")
      }
      let isBetweenWords =
        "/@|".unicodeScalars.contains(scalar) && index >= 3 && index + 3 < scalars.count
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
