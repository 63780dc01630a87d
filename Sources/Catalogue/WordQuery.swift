import Documents
import Hotels
import Text

/// A search by words: what a hotel must have, in the language of FTS5.
///
/// Everything from a client's text is inside double quotes and consists of letters and digits, so nothing in it can act
/// as an operator. <https://sqlite.org/fts5.html#full_text_query_syntax>
struct WordQuery {
  /// The columns with what a hotel says of itself, those with its place, and that with other names of its place.
  static let (all, place, names) = (
    "{name title description amenities address city state country}",
    "{address city state country place}", "{place}"
  )
  /// Those with a place, and the title, which many hotels have instead.
  private static let titles = "{title address city state country place}"

  /// One spelling of a word.
  struct Form: Hashable {
    /// Words of the index, with spaces between them.
    let text: String
    /// Whether the last one may go on, as the last word of a text does while it is typed.
    let isPrefix: Bool
  }

  /// What a hotel must have for one word of a query.
  struct Word {
    /// The first form is the word as it is.
    var forms: [Form]
    /// The first form as a whole word, if ``forms`` have it as a beginning.
    var whole: Form?
    /// The folded word; nil for a term of several parts.
    let single: String?
    /// The words of a term without spaces, as ``PlaceNames`` has them.
    var key = ""
    /// What hotels have, or a place by a name with an ending, as a search names it, in English, and in all languages.
    var offers: [(own: Form, names: [Form], others: [Form])] = []
    /// The article before it in the text, if that does not count: `los`.
    var before = ""
  }

  struct Text {
    /// The columns in which it is looked for.
    var columns: String
    let isAboutPlace: Bool
    /// The word for a hotel of that name, the whole text, and the text from its first word that counts to its last: "hotels in
    /// kent" and "kent". Only one of the last two if they are equal.
    var phrases: [String]
    /// Whether a hotel must have one of them.
    let isPhrase: Bool
    var words: [Word]
    /// A stop word at its end, and the phrase with the word before it: `club med`. It counts if a hotel's name has that. In a
    /// location, and if it is what every result is, it does not: who looks for "avignon hotel" wants all of Avignon.
    var ending: (word: Word, phrase: String)?

    /// The expression for hotels with some form of a word.
    func expression(of word: Word) -> String {
      let forms = ((word.whole.map { [$0] } ?? []) + word.forms).map(WordQuery.quoted)
        .joined(separator: " OR ")
      guard !isAboutPlace else { return "(\(columns) : (\(forms)))" }
      // The beginning of a name that the hotel does not write itself would find too much.
      var texts: Set<String> = []
      let whole = word.forms.map(\.text).filter { texts.insert($0).inserted }
      let known = whole.map { WordQuery.quoted(Form(text: $0, isPrefix: false)) }
        .joined(separator: " OR ")
      return "((\(columns) : (\(forms))) OR (\(WordQuery.names) : (\(known))))"
    }

    /// The expression for hotels whose place has some form of a word as it is.
    func place(of word: Word) -> String {
      "({city state country place} : (\(WordQuery.any(of: word.forms.map(\.text)))))"
    }
  }

  var texts: [Text] = []
  /// The expression for hotels that are not meant; empty, which no hotel matches, if there is none.
  private(set) var excluded = ""

  /// Splits the texts of a query; nil when one has neither a letter nor a digit, which no hotel matches.
  /// - Parameter excludes: whether a hyphen before a word excludes it. If not, a text with one is looked for as a phrase: it
  ///   may be a hotel's name, such as `Hotel Riu -Adults Only`.
  /// - Parameter says: whether a text says what no hotel writes (``SaidWords``), which is all that it asks for then.
  /// - Parameter keepsPrice: whether that is a part of a hotel's name.
  init?(_ query: HotelQuery, excludes: Bool = true, says: Bool = false, keepsPrice: Bool = false) {
    let asked = [(query.description, false), (query.location, true)].compactMap {
      text, isAboutPlace in
      text.map { text in
        let words = ExcludedWords(text)
        let rest = SpelledQuery(words.rest, isAboutPlace: isAboutPlace, keepsPrice: keepsPrice)
        return (words, rest, isAboutPlace)
      }
    }
    let isRefused = asked.contains { !$0.0.refused.isEmpty }
    // Without another word, a hyphen before a word means nothing.
    let hasWords = excludes && (isRefused || asked.contains { !$0.1.isEmpty })
    // "hotel" in Paris means all in Paris, "no pets" all that take none, and "under 100 €" all that cost less.
    let hasOthers =
      excludes && isRefused || says || asked.contains { !$0.1.isEmpty && !$0.1.saysNothing }
    for (asked, rest, isAboutPlace) in asked {
      if hasWords { exclude(asked) }
      let spelled =
        hasWords || asked.isEmpty
        ? rest : SpelledQuery(asked.text, isAboutPlace: isAboutPlace, keepsPrice: keepsPrice)
      guard asked.isEmpty || !spelled.isEmpty else { continue }
      let text = spelled.text
      let plain = FoldedText(text).terms
      guard !plain.isEmpty else { return nil }
      // The location "near me" is any.
      if spelled.saysNothing, hasOthers || isAboutPlace && plain.count > 1 { continue }
      let expanded = FoldedText(text, .expanded).terms
      let counted = Self.withoutPrepositions(
        SearchStopWords.without(Array(plain.indices)) { plain[$0].parts }, plain)
      var words = counted.map { index in
        let term = plain[index]
        var word = Self.word(term, expanded[index], isLast: !term.isClosed && term == plain.last)
        if index > 0, !counted.contains(index - 1) {
          let before = Self.key(plain[index - 1])
          if SortName.articles.contains(before) { word.before = before }
        }
        return word
      }
      Self.addEnglishNames(of: counted.map { plain[$0] }, to: &words)
      var phrases = [Self.phrase(plain.flatMap(\.parts))]
      if let first = counted.first, let last = counted.last {
        // In Nice, nobody asks for what calls itself a nice hotel.
        if first == last, SearchStopWords.doubtful.contains(Self.key(plain[first])) { phrases = [] }
        let counted = plain[first...last]
        if counted.count < plain.count { phrases.append(Self.phrase(counted.flatMap(\.parts))) }
        phrases += Self.possessives(counted)
      }
      // "Ritz" means the hotel of that name before the Ritz-Carlton, but "Malibu" is a place.
      let name = counted.map { Self.key(plain[$0]) }.joined()
      if !isAboutPlace, !PlaceNames.all.isPlace(name) {
        phrases.insert(IndexedText.ofName + name, at: 0)
      }
      texts.append(
        Text(
          columns: isAboutPlace ? Self.place : Self.all, isAboutPlace: isAboutPlace,
          phrases: phrases, isPhrase: !excludes && !asked.isEmpty,
          words: Self.pairsJoined(words),
          ending: isAboutPlace ? nil : Self.ending(of: plain, expanded, counted)))
    }
  }

  /// The last term, if it does not count but another one does.
  private static func ending(
    of terms: [FoldedText.Term], _ expanded: [FoldedText.Term], _ counted: [Int]
  ) -> (word: Word, phrase: String)? {
    guard let last = terms.last, let other = expanded.last, terms.count > 1,
      !counted.contains(terms.count - 1), !SearchStopWords.kinds.contains(key(last))
    else { return nil }
    return (word(last, other, isLast: !last.isClosed), phrase(terms.suffix(2).flatMap(\.parts)))
  }

  private static func key(_ term: FoldedText.Term) -> String { term.parts.map(\.text).joined() }

  /// The numbers of terms that count, without one or two letters before a name that has an ending itself: "w Londynie".
  private static func withoutPrepositions(_ counted: [Int], _ terms: [FoldedText.Term]) -> [Int] {
    counted.filter { index in
      !(key(terms[index]).unicodeScalars.count < 3 && counted.contains(index + 1)
        && PlaceNames.all.meaning(of: key(terms[index + 1])).isInflected)
    }
  }

  /// Leaves out hotels that have any of the words with a hyphen themselves: a hotel of London does not say "Heathrow", although
  /// it is found by it. What is refused in words, "not in Scotland", they must not be found by, either.
  private mutating func exclude(_ asked: ExcludedWords) {
    let terms = asked.words.flatMap { FoldedText($0).terms }
    var wanted = zip(terms, asked.words.flatMap { FoldedText($0, .expanded).terms })
      .map { Self.word($0, $1, isLast: false) }
    Self.addEnglishNames(of: terms, to: &wanted)
    let all = wanted.flatMap { $0.forms + $0.offers.flatMap(\.names) }
      .flatMap { [$0, Form(text: $0.text + "s", isPrefix: false)] }
    let forms = Set(all.map(Self.quoted)).sorted()
    var expressions = forms.isEmpty ? [] : ["(\(Self.all) : (\(forms.joined(separator: " OR "))))"]
    for refused in asked.refused {
      let key = PlaceNames.key(refused.name)
      let own = Self.phrase(FoldedText(refused.name).terms.flatMap(\.parts))
      let names = [own, own + "s", key] + PlaceNames.all.meant(by: key).sorted()
      // A hotel that says "no pets" has none.
      let negations = Set(["no", "without", PlaceNames.folded(refused.negation)]).sorted()
      let said = names.flatMap { name in negations.map { $0 + " " + name } + [name + " not"] }
      let (has, hasNot) = (Self.any(of: names), Self.any(of: said))
      expressions.append("((\(has)) NOT (\(Self.all) : (\(hasNot))))")
    }
    excluded = ((excluded.isEmpty ? [] : [excluded]) + expressions).joined(separator: " OR ")
  }

  /// An expression without the hotels that are not meant.
  func withoutExcluded(_ expression: String) -> String {
    excluded.isEmpty ? expression : "(\(expression)) NOT (\(excluded))"
  }

  /// Whether the query has no text: it matches all hotels.
  var isEmpty: Bool { texts.isEmpty }

  /// The expression for hotels with all words. It begins with the phrases of the first text and with its last word.
  var expression: String {
    let wanted = texts.map { text in
      let phrases = text.phrases.map { phrase in
        "(\(text.columns) : \(Self.quoted(Form(text: phrase, isPrefix: false))))"
      }
      guard !text.isPhrase else { return "(" + phrases.joined(separator: " OR ") + ")" }
      let words = (text.words.suffix(1) + text.words.dropLast()).map(text.expression)
        .joined(separator: " AND ")
      return "(" + (phrases + ["(\(words))"]).joined(separator: " OR ") + ")"
    }.joined(separator: " AND ")
    return withoutExcluded(wanted)
  }

  /// With how many phrases ``expression`` begins that the function `relevance` puts first: those of the first text, and
  /// its last word where hotels match that have only a word that begins with it.
  var leadingPhrases: Int {
    guard let first = texts.first else { return 0 }
    return first.phrases.count + (first.isPhrase || first.words.last?.whole == nil ? 0 : 1)
  }

  /// The query with titles where it asks for a place; nil if it asks for none.
  var withTitles: WordQuery? {
    guard texts.contains(where: \.isAboutPlace) else { return nil }
    var query = self
    for index in texts.indices where texts[index].isAboutPlace {
      query.texts[index].columns = Self.titles
    }
    return query
  }

  /// Whether the query is one term.
  var isOneTerm: Bool { texts.count == 1 && texts[0].words.count == 1 }

  /// Words as one word, with a letter between two of them twice and once: "travellodge" and "travelodge".
  static func joined(_ words: [String]) -> [String] {
    let shared = words.dropFirst().reduce(words.first ?? "") { text, word in
      text + word.dropFirst(word.count > 2 && text.last == word.first ? 1 : 0)
    }
    let joined = words.joined()
    return shared.equalsBytes(of: joined) ? [joined] : [joined, shared]
  }

  /// A name as a whole.
  private static func form(of name: String) -> Form {
    Form(text: phrase(FoldedText(name).terms.flatMap(\.parts)), isPrefix: false)
  }

  /// Adds the English names of what terms, or several in a row, name in another language.
  private static func addEnglishNames(of terms: [FoldedText.Term], to words: inout [Word]) {
    for first in terms.indices {
      var key = ""
      for last in first..<min(first + IndexedText.mostJoined, terms.count) {
        key += Self.key(terms[last])
        let meaning = PlaceNames.all.meaning(of: key)
        let names = meaning.names.sorted().map(form)
        let others = PlaceNames.all.offersByName[key] ?? []
        guard !names.isEmpty || !others.isEmpty else { continue }
        let own = Form(
          text: phrase(terms[first...last].flatMap(\.parts)),
          isPrefix: words[last].forms[0].isPrefix)
        for index in first...last {
          if meaning.isOffer || meaning.isInflected || names.isEmpty {
            words[index].offers.append((own, names, others.map(form)))
          } else {
            words[index].forms += names
          }
        }
      }
    }
  }

  /// The phrases of terms with possessives as others write them: "earl s court" of "earls court", and "earls court" of
  /// "Earl's Court". Words of a search are found so anyway; as a phrase they come first.
  private static func possessives(_ terms: ArraySlice<FoldedText.Term>) -> [String] {
    guard terms.count > 1, terms.allSatisfy({ IndexedText.hasOnlyWords($0.parts) }) else {
      return []
    }
    let own = phrase(terms.flatMap(\.parts))
    let apart = terms.map { term in
      let text = phrase(term.parts)
      return term.parts.count == 1 && text.utf8.count > 3 && text.hasSuffix("s")
        ? text.dropLast() + " s" : text
    }
    let joined = terms.map { $0.parts.map(\.text).joined() }
    return [joined, apart].map { $0.joined(separator: " ") }.filter { !$0.equalsBytes(of: own) }
  }

  /// The words without repetitions, and with pairs such as "b & b" as one word.
  private static func pairsJoined(_ words: [Word]) -> [Word] {
    var known: Set<Form> = []
    var joined: [Word] = []
    for word in words {
      if let last = joined.last?.single, let single = word.single,
        let forms = EqualWords.forms(ofPair: last, single)
      {
        joined.removeLast()
        let texts = forms.map { $0.joined(separator: " ") }
        joined.append(
          Word(
            forms: texts.map { Form(text: $0, isPrefix: false) }, single: nil, key: last + single))
      } else {
        joined.append(word)
      }
    }
    return joined.filter { known.insert($0.forms[0]).inserted }
  }

  /// What Arabic and Hebrew write before a word and together with it: "the", "and", "in", "for".
  static let particles: [(script: ClosedRange<UInt32>, words: [String])] = [
    (0x621...0x64A, ["ال", "و", "وال", "ب", "بال", "لل"]),
    (0x5D0...0x5EA, ["ה", "ו", "וה", "ב", "ל"]),
  ]

  private static func word(
    _ term: FoldedText.Term, _ expanded: FoldedText.Term, isLast: Bool
  ) -> Word {
    let phrase = phrase(term.parts)
    var forms = [phrase, Self.phrase(expanded.parts)]
    // Whole: "Вене" is Vienna's, and no beginning of Venezia.
    let latin = LatinLetters.word(phrase)
    if let latin { forms.append(latin) }
    // The Arabic article is a part of the word.
    let article = "ال"
    if phrase.hasPrefix(article), phrase.unicodeScalars.count > 4 {
      forms.append(String(phrase.dropFirst(article.count)))
    } else if let first = phrase.unicodeScalars.first, phrase.unicodeScalars.count > 2 {
      forms += particles.filter { $0.script.contains(first.value) }.flatMap(\.words).map {
        $0 + phrase
      }
    }
    let site = SpelledQuery.ofSite + key(term)
    if term.parts.count > 1, IndexedText.hasOnlyWords(term.parts) {
      forms += [term.parts, expanded.parts].flatMap { joined($0.map(\.text)) } + [site]
    }
    // A single character of a run is the beginning of the words that the index has.
    let isEnd = isLast && (term.parts.count == 1 || term.parts.last?.text.utf8.count != 1)
    let isCharacter = !IndexedText.hasOnlyWords(term.parts) && !phrase.contains(" ")
    let single = term.parts.count == 1 && IndexedText.hasOnlyWords(term.parts) ? phrase : nil
    var known: Set<String> = []
    let found = forms.filter { known.insert($0).inserted }
      .map { Form(text: $0, isPrefix: (isEnd || isCharacter) && ![latin, site].contains($0)) }
    return Word(
      forms: found, whole: isEnd && !isCharacter ? Form(text: phrase, isPrefix: false) : nil,
      single: single, key: key(term))
  }

  /// The words of the index for parts in a row. The last character of the last run is the beginning of a word.
  static func phrase(_ parts: [FoldedText.Part]) -> String {
    var words = parts.flatMap(\.words)
    if case .run(let text) = parts.last, text.unicodeScalars.count > 1 { words.removeLast() }
    return words.joined(separator: " ")
  }

  static func any(of texts: [String]) -> String {
    texts.map { quoted(Form(text: $0, isPrefix: false)) }.joined(separator: " OR ")
  }

  /// The expression for hotels whose name, address or city has one of some phrases.
  static func named(_ phrases: [String]) -> String {
    "{name title address city} : (\(any(of: phrases)))"
  }

  static func quoted(_ form: Form) -> String {
    "\"" + form.text + "\"" + (form.isPrefix ? " *" : "")
  }
}
