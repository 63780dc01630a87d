import Text

/// The words under which the index `words` has a text, each followed by a space.
///
/// First come the words in order. After ``gap``, which no query contains, come further forms of them:
/// - the parts of a term joined: `wifi` of `Wi-Fi`, `us` of `U.S.`, `ocallaghans` of `O'Callaghan's`;
/// - words with an umlaut as they are written without one: `zuerich` of `Zürich`;
/// - Cyrillic and Greek words in Latin letters: `berezka` of `Берёзка`;
/// - what ``EqualWords`` regards as equal: `saint` of `St`, and `north` of `N` in an address or a place's name.
enum IndexedText {
  /// The text between the words and their further forms. It equals no word.
  static let gap = "§"
  /// What the word of the index for a hotel's whole name begins with, so that it is no other word's beginning.
  static let ofName = "＝"
  /// The most parts of a term that are joined. A longer term is a URL or no word.
  static let mostJoined = 4

  static func text(_ text: String, isOfPlace: Bool = false) -> String {
    guard !text.isEmpty else { return "" }
    let text = SpelledQuery.withStars(text)
    let folded = FoldedText(text)
    let words = folded.terms.flatMap(\.parts).flatMap(\.words)
    var forms = folded.terms.flatMap { joined($0.parts) }
    let isASCII = text.utf8.allSatisfy { $0 < 0x80 }
    let expanded = isASCII ? folded : FoldedText(text, .expanded)
    if expanded != folded {
      for (plain, other) in zip(folded.terms, expanded.terms) where plain != other {
        forms += other.parts.flatMap(\.words) + joined(other.parts)
      }
    }
    if !isASCII { forms += words.compactMap(LatinLetters.word) }
    // "A/C" is equal to what its letters together are.
    // The end of "King's" is no south.
    let alone = isOfPlace ? folded.terms.filter { $0.parts.count == 1 }.map(\.parts[0].text) : []
    let equal = EqualWords.forms(in: words + [gap] + forms, ofPlace: alone)
    forms += equal.flatMap { [gap] + $0 }
    if !forms.isEmpty { forms.insert(gap, at: 0) }
    return (words + forms).joined(separator: " ")
  }

  /// The words under which the names of a place are indexed. A name is one word, so that "great" does not find what is
  /// in Great Britain.
  static func names(_ names: Set<String>) -> String {
    names.sorted().flatMap { name in
      let parts = FoldedText(name).terms.flatMap(\.parts)
      return [gap] + (Self.hasOnlyWords(parts) ? [name] : parts.flatMap(\.words))
    }.joined(separator: " ")
  }

  /// The joined forms of neighbouring parts of a term.
  private static func joined(_ parts: [FoldedText.Part]) -> [String] {
    guard parts.count > 1 else { return [] }
    return parts.indices.flatMap { first -> [String] in
      (2...mostJoined).map { parts[first...].prefix($0) }.enumerated()
        .filter { $1.count == $0 + 2 && hasOnlyWords($1) }.map { $1.map(\.text).joined() }
    }
  }

  static func hasOnlyWords(_ parts: some Sequence<FoldedText.Part>) -> Bool {
    parts.allSatisfy { if case .word = $0 { true } else { false } }
  }
}

/// Abbreviations that names of hotels and addresses have: a hotel with one form is also found by the others.
enum EqualWords {
  /// The groups, with a bar between two of them and a comma between two forms.
  static let groups: [[[String]]] =
    """
    wifi,wlan,wi fi|free wifi,free internet,free wi fi,free wlan|air conditioning,air conditioned,aircon,air con,ac|\
    swimming pool,pool|gym,fitness center,fitness centre,fitness room|jacuzzi,hot tub,hottub,whirlpool|\
    pet friendly,pets ok,pets allowed,pets welcome,dog friendly,dogs allowed,dogs welcome|\
    campsite,campground,camping,camp site,camp ground|24 hour,24 hours,24h,24 hr|sea view,ocean view,sea views,ocean views|\
    wheelchair accessible,wheelchair access,disabled access|st,saint,sankt|ste,sainte|mt,mount|st,street|str,strasse|rd,road|\
    ave,avenue,av|av,avda,avenida|ln,lane|pl,place|pl,platz|pl,plaza|dr,drive|pkwy,parkway|gdns,gardens|ul,ulica|ул,улица|\
    apt,apartment|apts,apartments|calif,california|natl,national|blvd,boulevard,bd|sq,square|hwy,highway|ctr,center,centre|theater,theatre|\
    harbor,harbour|intl,international|hbf,hauptbahnhof|bhf,bahnhof|1st,first|2nd,second|3rd,third|4th,fourth|5th,fifth|6th,sixth|\
    7th,seventh|8th,eighth|9th,ninth|10th,tenth|b b,bnb,b n b,b and b,bed breakfast,bed and breakfast,b bs,bnbs|\
    gt,great|vegetarian,veggie|np,national park|n,north,northern|s,south,southern|e,east,eastern|w,west,western|u,upon|two,2|three,3|four,4|\
    five,5|six,6|seven,7|eight,8|nine,9|ten,10
    """.split(separator: "|").map { group in
      group.split(separator: ",").map { form in form.split(separator: " ").map(String.init) }
    }
    + [
      ("1", "one un ein un"), ("2", "two deux zwei dos due"), ("3", "three trois drei tres tre"),
      ("4", "four quatre vier cuatro quattro"), ("5", "five cinq funf cinco cinque"),
    ].map(stars)

  /// The forms of a number of stars.
  private static func stars(_ number: String, _ words: String) -> [[String]] {
    let nouns = ["star", "stars", "etoiles", "sterne", "estrellas", "stelle"]
    return nouns.map { [number, $0] }
      + zip(words.split(separator: " "), ["star"] + nouns[2...]).map { [String($0), $1] }
      + [[words.prefix { $0 != " " }, "stars"].map { String($0) }]
  }

  /// The other forms of an abbreviation of one word.
  static let others = groups.filter { $0.allSatisfy { $0.count == 1 } }.map { $0.map { $0[0] } }
    .reduce(into: [String: [String]]()) { others, group in
      for form in group { others[form, default: []] += group.filter { $0 != form } }
    }

  /// The groups of each first word, with the words that follow it.
  private static let byFirst: [String: [(rest: ArraySlice<String>, group: Int)]] = {
    var found: [String: [(rest: ArraySlice<String>, group: Int)]] = [:]
    for (number, group) in groups.enumerated() {
      for form in group {
        if let first = form.first { found[first, default: []].append((form.dropFirst(), number)) }
      }
    }
    return found
  }()

  /// The forms of an abbreviation of two words, such as "b b"; nil for any other two words.
  static func forms(ofPair first: String, _ second: String) -> [[String]]? {
    byFirst[first]?.first { $0.rest.elementsEqual([second]) }.map { groups[$0.group] }
  }

  /// Whether a group is for addresses and names of places only, because its abbreviation is a letter: `N. Orange Ave`.
  private static func isOfPlaces(_ group: Int) -> Bool {
    groups[group][0].count == 1 && groups[group][0][0].utf8.count == 1
  }

  /// All forms of the abbreviations that occur, and names of streets with their other ending: `bahnhofstr` of
  /// `Bahnhofstraße`.
  /// - Parameter alone: the words that stand alone in an address or in a place's name.
  static func forms(in words: [String], ofPlace alone: [String]) -> [[String]] {
    var found = Set(alone.flatMap { byFirst[$0] ?? [] }.map { $0.group }.filter(isOfPlaces))
    var streets: [[String]] = []
    for (index, word) in words.enumerated() {
      if word.utf8.count > 4, word.hasSuffix("str") { streets.append([word + "asse"]) }
      if word.utf8.count > 8, word.hasSuffix("strasse") {
        streets.append([String(word.dropLast(4))])
      }
      for (rest, group) in byFirst[word] ?? []
      where !isOfPlaces(group) && words[(index + 1)...].starts(with: rest) { found.insert(group) }
    }
    return found.sorted().flatMap { groups[$0] } + streets
  }
}
