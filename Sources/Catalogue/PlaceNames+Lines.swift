import Text

extension PlaceNames {
  /// All names as lines of text, by which a device finds places without a network: `/page/<version>/places.txt`, which
  /// also has small islands (`map-picture.js`).
  ///
  /// The fields of a line are separated by `|`, names by spaces. All names are ``key(_:)``. The first field is the kind; a
  /// device keeps no file that begins with another one than `f`:
  /// - `c`, a country: its code; names by which a hotel has it and is found in it; names by which a hotel only has it;
  ///   names by which it is only found.
  /// - `t`, a city: its country's code, then as for a country.
  /// - `t` and `s` with a country's code and `/`, a state: as for a city. By the names of `s`, its codes, hotels only have it.
  /// - `r`, a part of a country: its country's code, its names, and its outlines, each of numbers: the first corner's east
  ///   and north in hundredths of a degree, then the steps to each further corner.
  /// - `f`, `l`, `q` and `w`: ``FoldedText/letterPairs``, ``LatinLetters/pairs``, and the groups of ``EqualWords`` and ``SpelledQuery``.
  /// - `p`, `n` and `a`: regular expressions, ``SaidWords/pattern``, ``AmenityNames/refusalPattern`` and
  ///   ``Price/pattern``.
  /// - `x`: the rules of ``SpelledQuery``, each a pattern and what replaces it.
  /// - `m`: a name for a search, and the names of the places that it means, with `_` for a space; `o`: the same of what
  ///   hotels have.
  /// - `e`: the endings of names of cities that may be absent, ``cases`` with ``nominativeEndings``, and ``SortName/articles``.
  package static let lines: [UInt8] = {
    let names = PlaceNames.all
    let equal = EqualWords.groups.map { forms in
      forms.map { $0.joined(separator: " ") }.joined(separator: ",")
    }
    var lines = [
      "f|" + FoldedText.letterPairs, "l|" + LatinLetters.pairs, "q|" + equal.joined(separator: "|"),
      "w|" + SpelledQuery.groups.map { $0.joined(separator: " ") }.joined(separator: "|"),
      "p|" + SaidWords.pattern, "n|" + AmenityNames.refusalPattern, "a|" + Price.pattern,
      "x|"
        + (SpelledQuery.apart + SpelledQuery.spelling)
        .map { $0.pattern + "\t" + $0.replacement }.joined(separator: "\t\t"),
      "e|"
        + [endings, cases, nominativeEndings, SortName.articles.sorted()]
        .map { $0.joined(separator: " ") }.joined(separator: "|"),
    ]
    let meanings = Dictionary(grouping: names.codes.keys) { names.codes[$0] ?? "" }
    for code in Set(names.countries.keys).union(meanings.keys).sorted() {
      let found = names.countries[code] ?? []
      lines.append("c|" + line(code, known: meanings[code] ?? [], found: found))
    }
    let cities = Dictionary(grouping: names.cities.keys) { place in
      String(place.prefix(2)) + " " + sorted(names.cities[place] ?? [])
    }
    lines += cities.values.compactMap { places -> String? in
      guard let first = places.first, let found = names.cities[first] else { return nil }
      let known = places.map { String($0.dropFirst(3)) }
      return "t|" + line(String(first.prefix(2)), known: known, found: found)
    }.sorted()
    for state in NameTable.states {
      let found = joined(Array(state.names.prefix(1)))
      let place = state.country + "/"
      lines.append("t|" + line(place, known: Array(joined(state.names)), found: found))
      lines.append("s|" + line(place, known: [key(state.code)], found: found))
    }
    let codes = NameTable.states.filter { writtenCodes.contains($0.country) }.map(\.code)
    let made =
      [SpelledQuery.eitherLA, SpelledQuery.anyLA]
      + SpelledQuery.places.keys.map(SpelledQuery.meaning)
      + (AmenityNames.all + NameTable.district.rows).flatMap { $0.dropFirst() }
    for name in joined(codes + made).sorted() {
      let meaning = names.meaning(of: name)
      let meant = meaning.names.map { $0.replacing(" ", with: "_") }
      lines.append((meaning.isOffer ? "o|" : "m|") + name + "|" + sorted(Set(meant)))
    }
    for region in NamedRegion.all {
      let outlines = region.outlines.map { outline in
        zip([NamedRegion.Corner(x: 0, y: 0)] + outline, outline)
          .map { "\($1.x - $0.x) \($1.y - $0.y)" }.joined(separator: " ")
      }
      let fields = ["r", region.country, sorted(joined(region.names))] + outlines
      lines.append(fields.joined(separator: "|"))
    }
    return Array(lines.map { $0 + "\n" }.joined().utf8)
  }()

  private static func line(_ code: String, known: [String], found: Set<String>) -> String {
    let known = Set(known)
    return [
      code, sorted(known.intersection(found)), sorted(known.subtracting(found)),
      sorted(found.subtracting(known)),
    ].joined(separator: "|")
  }

  private static func sorted(_ names: Set<String>) -> String {
    names.sorted().joined(separator: " ")
  }
}
