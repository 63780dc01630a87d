import Documents
import Text

/// The text of a search as hotels write what it means: "LA" written out, stars as "4 star", the end of a phone number,
/// without what no hotel writes (``SaidWords``), and with spaces between what a hotel has in different fields.
struct SpelledQuery {
  /// The name by which ``PlaceNames`` knows both Los Angeles and Louisiana: "Hilton LA", "New Orleans LA".
  static let eitherLA = "USLA"
  /// The same of "la" after a name, where it may also be an article: "downtown la", "hilton la villette".
  static let anyLA = "USLALA"
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

  /// The words for a device: those between others, the kinds, those that count unless a kind is next, and ``WordQuery/particles``.
  static let groups =
    [SearchStopWords.small, SearchStopWords.kinds, SearchStopWords.praise].map { $0.sorted() }
    + [WordQuery.particles.flatMap(\.words)]

  /// A rule of spelling, for ICU and for JavaScript: what replaces the matches of a pattern.
  struct Rule: Sendable {
    let pattern: String
    let replacement: String
    fileprivate let compiled: TextPattern?

    fileprivate init(_ pattern: String, _ replacement: String) {
      (self.pattern, self.replacement) = (pattern, replacement)
      compiled = TextPattern(pattern, ignoresCase: false)
    }
  }

  /// Letters of scripts without spaces, beside which a word in Latin letters stands for itself: "免费wifi".
  private static let unspaced =
    "[\\p{sc=Han}\\p{sc=Hiragana}\\p{sc=Katakana}ー\\p{sc=Hangul}\\p{sc=Thai}]"

  /// The rules by which names and signs stand apart, after ``site``: "pool,gym", "London/Paris", "hotel@paris", "パリのホテル".
  static let apart: [Rule] = {
    let (links, runs) = (SearchStopWords.links, SearchStopWords.runs)
    return [
      Rule("\\s+", " "), site, Rule("([,;])(?=[^\\s\\p{Nd}])", "$1 "),
      Rule("(?<=\\p{L}{3})[/@|](?=\\p{L}{2})", " "),
      Rule(
        "(?<=" + unspaced + ")(?=\\p{sc=Latin}{2})|(?<=\\p{sc=Latin}{2})(?=" + unspaced + ")",
        " "),
      Rule(
        "(?<=\\S)" + SaidWords.either(links) + "?(" + SaidWords.either(runs) + ")(?!\\S)", " $1"),
    ]
  }()

  /// An address of the web becomes its host: "https://www.example.com/rooms".
  private static let site = Rule(
    #"(?<!\S)(?:[Hh][Tt]{2}[Pp][Ss]?://)?(?:[Ww]{3}\d?\.)?((?:[\p{L}\p{N}-]+\.)+\p{L}{2,})(?:[/:?#]\S*)?(?!\S)"#,
    "$1")
  /// What a word of the index for a site begins with, so that it is no other word's beginning. SQLite's tokenizer `ascii` takes
  /// signs of ASCII for spaces, and all others for letters.
  static let ofSite = "＠"

  /// The word of the index for a site; nil if a text is none.
  static func site(in url: String) -> String? {
    let terms = FoldedText(spelled(url, by: [site])).terms
    guard terms.count == 1, terms[0].parts.count > 1 else { return nil }
    return ofSite + terms[0].parts.map(\.text).joined()
  }

  /// What a word of the index for a phone number begins with: a sign that counts as a number, so that another number in a
  /// search is not its beginning. "Motel 6" is none of the motels whose phone numbers begin with 6.
  private static let ofPhone = "ↀ"

  /// The words of the index for phone numbers: the last eight digits of each, which are the same with a country's code, with
  /// a zero before the area and without.
  static func phones(in text: String) -> [String] {
    text.split { !isOfPhone($0) }.map { $0.filter(\.isNumber).suffix(8) }.filter { $0.count == 8 }
      .map { ofPhone + $0 }
  }

  private static func isOfPhone(_ character: Character) -> Bool {
    "0123456789 +()./–-".contains(character)
  }

  private static let stars = Rule(
    "(?<!\\S)([1-5])(?:[*★☆⭐]+|[Ss][Tt][Aa][Rr][Ss]?)(?!\\S)", "$1 star")

  /// The rules for the rest of a text: stars, adjectives beside a kind of hotel, and "LA". It is Louisiana after a name with a
  /// comma, as ME and OR are states there, and Los Angeles if no name is beside it, or that of California or the country is
  /// after it. Before another name it is an article.
  static let spelling: [Rule] = {
    func cased(_ word: String) -> [String] {
      [word, word.prefix(1).uppercased() + String(word.dropFirst()), word.uppercased()]
    }
    func any(_ words: Set<String>) -> String { SaidWords.either(words.flatMap(cased)) + "[,.;!?]*" }
    let accented = ["hôtel", "hôtels", "hotéis", "hébergement", "hébergements", "unterkünfte"]
    let kinds = SearchStopWords.kinds.union(accented)
    let lodging = any(lodgings.union(accented).union(["b&b", "b&bs"]))
    let adjectives = origins.split { $0 == "\n" || $0 == ";" || $0 == " " }.map(String.init)
      .filter { $0.first?.isLowercase == true }
    let adjective = SaidWords.either(adjectives.flatMap(cased))
    let word = any(kinds.union(SearchStopWords.small).union(["us", "usa"]))
    // What stands before a match is looked at last, because it takes longest, and has at most one sign, because ICU wants a
    // longest length.
    func after(_ word: String) -> String { "(?:^|\\s)" + String(word.dropLast()) + "?\\s" }
    func before(_ word: String) -> String { "(?=[,.;!?]*(?:\\s*$|\\s" + word + "(?!\\S)))" }
    func afterName(_ code: String, _ end: String = "\\S") -> String {
      code + "(?<=" + end + "\\s" + code + ")(?<!" + after(word) + code + ")"
    }
    let states = [("LA", "Louisiana"), ("ME", "Maine"), ("OR", "Oregon")].map { code, name in
      Rule(afterName(code, "\\p{L},") + before(any(kinds)), name)
    }
    return [
      Rule("\\s+", " "), stars,
      Rule("(?<!\\S)(" + adjective + ")(?=[,.;!?]*\\s" + lodging + "(?!\\S))", meant + "$1"),
      Rule(
        "(?<!\\S)(" + adjective + ")(?=[,.;!?]*(?!\\S))(?<=" + after(lodging) + adjective + ")",
        meant + "$1"),
      Rule("(?<!\\S)[Ll]\\.[Aa]\\.(?![^\\s,])", "LA"),
      Rule(
        "(?<!\\S)(?:LA|la|La(?=,))(?=,?\\s" + any(["ca", "calif", "california"]) + "(?!\\S))",
        "Los Angeles"),
      Rule(
        "(?<!\\S)[Kk][Hh][áaÁA][cC][hH] [sS][ạaẠA][nN](?:\\s(?:ở|o|tại|tai))?(?=\\s\\S)", "hotel"),
    ] + states + [
      Rule(afterName("LA") + before(word), eitherLA),
      Rule("(?<!\\S)LA" + before(word), "Los Angeles"),
      Rule(afterName("[Ll]a") + before(any(kinds)), anyLA),
      Rule("(?<!\\S)[Ll]a" + before(any(kinds)), "Los Angeles"),
      // "hotel w/ pool", "lond*", "motel6", "4seasons".
      Rule("(?<!\\S)[Ww]/(?=[\\s\\p{L}])", "with "), Rule("(?<=\\p{L})\\*+(?!\\S)", " "),
      Rule("(?<=\\p{L}{3})(?=\\p{Nd}{1,2}(?!\\S))|(?<=(?<!\\S)\\p{Nd})(?=\\p{sc=Latin}{4})", " "),
      // "プール付き", "带游泳池".
      Rule("(?<=" + unspaced + "{2})(?:付き|つき|あり|有り)(?!\\S)|(?<!\\S)带(?=\\p{sc=Han}{2})", " "),
      // "AT & T", "Newcastle-u-Tyne".
      Rule("(?<!\\S)(\\p{L}{1,2})\\s[&+]\\s(?=\\p{L}(?!\\S))", "$1&"),
      Rule("(?<=\\p{L}{2})-(\\p{L})-(?=\\p{L}{2})", " $1 "),
    ]
  }()

  private static func spelled(_ text: String, by rules: [Rule]) -> String {
    rules.reduce(text) { $1.compiled?.replaced(in: $0, by: $1.replacement) ?? $0 }
  }

  /// Whether the text has no word.
  let isEmpty: Bool
  /// Whether the text says no more than what every result is, a price and a stay. False for a text without a word.
  let saysNothing: Bool
  /// The text whose names and signs stand apart, without what no hotel writes if anything else is left.
  private let rest: String
  private let isAboutPlace: Bool

  /// - Parameter isAboutPlace: whether the text is a location, where `US`, "the US" and `LA` are no stop words, and numbers
  ///   are of addresses, and not a phone's.
  /// - Parameter keepsPrice: whether what a text says (``SaidWords``) is a part of a hotel's name: `Hotel Max 506`.
  init(_ text: String, isAboutPlace: Bool, keepsPrice: Bool = false) {
    self.isAboutPlace = isAboutPlace
    let pieces = Self.pieces(of: text)
    let unsaid = keepsPrice ? pieces : SaidWords.removed(from: pieces)
    let hasOthers = !FoldedText(unsaid).terms.isEmpty
    isEmpty = FoldedText(text).terms.isEmpty
    saysNothing =
      (SearchStopWords.areAll(text)
        || !unsaid.equalsBytes(of: pieces) && (!hasOthers || SearchStopWords.areAll(unsaid)))
      && !(isAboutPlace && Self.hasCode(unsaid))
    rest = hasOthers ? unsaid : pieces
  }

  /// Whether a text is the name of a place, or has a code of two capitals.
  private static func hasCode(_ text: String) -> Bool {
    let codes = text.split(whereSeparator: \.isWhitespace).filter { word in
      word.utf8.count == 2 && word.utf8.allSatisfy { $0 < 0x5B }
    }
    return ([text[...]] + codes).contains { PlaceNames.all.isPlace(PlaceNames.key(String($0))) }
  }

  /// The text as hotels write it.
  var text: String {
    let phone =
      !isAboutPlace && rest.allSatisfy(Self.isOfPhone) ? Self.phones(in: rest).first : nil
    return phone ?? Self.spelled(rest, by: Self.spelling)
  }

  /// A text whose names and signs stand apart.
  private static func pieces(of text: String) -> String {
    spelled(text.normalized(.canonical), by: apart).split(separator: " ").flatMap(named)
      .joined(separator: " ")
  }

  /// What a text says about a price and a stay.
  static func said(in text: String) -> [SaidWords.Said] { SaidWords.said(in: pieces(of: text)) }

  /// A text with "4 star" for `4*`, `4★` and `4stars`; also for the index.
  static func withStars(_ text: String) -> String {
    // "s", "S", "*" or the first byte of the other signs.
    let mayFollow: Set<UInt8> = [0x73, 0x53, 0x2A, 0xE2]
    guard
      zip(text.utf8, text.utf8.dropFirst()).contains(where: {
        (0x31...0x35).contains($0) && mayFollow.contains($1)
      })
    else { return text }
    return spelled(text, by: [stars])
  }

  /// The names of which a word of such a script consists, "旧金山酒店停车场"; the word if it has none, or others.
  private static func named(_ token: Substring) -> [String] {
    let letters = Array(token)
    // Full-width Latin letters are none of such a script.
    guard (4...16).contains(letters.count), !token.utf8.allSatisfy({ $0 < 0x80 }),
      case let parts = FoldedText(String(token)).terms.flatMap(\.parts), parts.count == 1,
      case .run = parts[0], let names = names(in: letters[...]), names.count > 1
    else { return [String(token)] }
    return names
  }

  private static func names(in letters: ArraySlice<Character>) -> [String]? {
    let name = String(letters)
    if SearchStopWords.links.contains(name) { return [] }
    if isKnown(name) { return [name] }
    for count in 1..<max(1, letters.count) {
      let first = String(letters.prefix(count))
      let isLink = SearchStopWords.links.contains(first)
      guard isLink || count > 1 && isKnown(first) else { continue }
      if let others = names(in: letters.dropFirst(count)) {
        return (isLink ? [] : [first]) + others
      }
    }
    return nil
  }

  /// Whether a text is the name of a place, of what hotels have or of what every result is, or asks for the cheapest.
  private static func isKnown(_ text: String) -> Bool {
    PlaceNames.all.knows(text) || SearchStopWords.areAll(text)
      || SearchStopWords.runs.contains(text)
      || PriceWish.isCheap(text)
  }
}
