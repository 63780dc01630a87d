/// What counts by itself of a query, for hotels with most of it; see `CatalogueSearch.most(of:)`.
extension WordQuery {
  /// A word, a part of a term, or the words of a place's name together.
  struct Part {
    /// The expressions for hotels that have it, and for those whose place has it.
    let any, place: String
    /// The words without spaces, as ``PlaceNames`` has them.
    let key: String
    /// Whether a location asks for it.
    let isAboutPlace: Bool
  }

  var parts: [Part] {
    var known: Set<String> = []
    return texts.flatMap { text in
      // A single letter says nothing: "w Krakowie".
      Self.units(of: text.words.filter { $0.key.utf8.count != 1 }).map { words in
        func all(_ expression: (Word) -> String) -> String {
          "(" + withoutExcluded(words.map(expression).joined(separator: " AND ")) + ")"
        }
        return Part(
          any: all(text.expression), place: all(text.place), key: words.map(\.key).joined(),
          isAboutPlace: text.isAboutPlace)
      }
    }.filter { known.insert($0.any).inserted }
  }

  /// What counts only with the name after it: a hotel in Saint-Florent has nothing of Saint-Malo.
  private static let saints: Set<String> = ["st", "saint", "san", "santa"]

  /// Words that count together. A hotel in New Road has nothing of New York.
  private static func units(of words: [Word]) -> [[Word]] {
    var (units, rest) = ([[Word]](), words[...])
    while let word = rest.first {
      let count =
        (2...IndexedText.mostJoined).last { count in
          let some = rest.prefix(count).map(\.key)
          return some.count == count && !some.contains("")
            && (PlaceNames.all.isPlace(some.joined()) || count == 2 && saints.contains(some[0]))
        } ?? 1
      // A single letter of `O'Callaghan` says nothing.
      let texts = word.forms[0].text.split(separator: " ")
      let parts = texts.filter { $0.utf8.count > 1 }
      let isWhole = word.single != nil || texts.count < 2 || parts.isEmpty
      let isName = PlaceNames.all.isPlace(word.key) || !PlaceNames.all.meant(by: word.key).isEmpty
      if count > 1 || isWhole || isName {
        units.append(Array(rest.prefix(count)))
      } else {
        units += parts.map { [Word(forms: [Form(text: String($0), isPrefix: false)], single: nil)] }
      }
      rest = rest.dropFirst(count)
    }
    return units
  }
}
