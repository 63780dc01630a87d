import Scheduling
import Text

/// The names under which people look for the place of a hotel: a country's codes, its English and own names and its
/// nicknames; a city's English and own names. All are ``key(_:)``.
package struct PlaceNames: Sendable {
  /// The names of all countries, made at the first use.
  static let all = PlaceNames()

  /// Makes ``all`` and the patterns of searches, which takes some 100 ms of a processor, on a thread that yields to no other.
  /// Threads that search yield to all others, so on a busy machine it would take them seconds.
  static func make() async { await Work.waiting { await making.value } }

  private static let making = Task.detached {
    await ThreadPool.with(name: "places") { threads in
      await threads.run {
        _ = (all, SpelledQuery("-", isAboutPlace: true).text, ExcludedWords("-"))
      }
    }
  }

  /// The names of a country, by its code.
  private(set) var countries: [String: Set<String>] = [:]
  /// The code of a country, by each of its names.
  private(set) var codes: [String: String] = [:]
  /// The names of a city, by its country's code, a space, and each of its names.
  private(set) var cities: [String: Set<String>] = [:]
  /// Each name of a city or of a sight in one, and each in ``states``.
  private var cityNames: Set<String> = []
  /// The names of sights.
  private(set) var sights: Set<String> = []
  private var stateNames: Set<String> = []
  /// The English name of a state, by its country's code, a space, and each of its names or its code.
  private(set) var states: [String: String] = [:]

  /// The English names of countries and cities, by each name that only other languages have.
  private var meanings: [String: Set<String>] = [:]
  /// Those of ``meanings`` that name what hotels have; see ``AmenityNames``.
  private var offers: Set<String> = []
  /// All names of what hotels have, by each of them.
  private(set) var offersByName: [String: [String]] = [:]

  /// The keys of the names so far, while the table is made: many are in several lists.
  private var made: [String: [String]] = [:]

  private init() {
    let regions = RegionNames.all()
    for region in regions {
      add(region.names, toCountry: region.code)
      // The codes come before the English name.
      let names = region.names.drop { $0.utf8.count <= 3 }
      mean(names.first, by: region.foreignNames, beside: region.names)
      for city in region.cities {
        add(city.names, in: region.code, city.foreignNames)
        mean(city.names.first, by: city.foreignNames, beside: city.names)
      }
    }
    for row in NameTable.country.rows { add(Array(row.dropFirst()), toCountry: row[0]) }
    // Some lists have a part of the United Kingdom as the country.
    for region in NamedRegion.byCountry["GB"] ?? [] {
      know(joined(region.names), asCountry: region.country)
    }
    // A country's own names come before another's name in a foreign language.
    for region in regions { know(joined(region.foreignNames), asCountry: region.code) }
    for row in NameTable.city.rows { add(Array(row.dropFirst()), in: row[0]) }
    for row in NameTable.airport.rows {
      // As people say the codes: "CDG airport".
      let codes = row.dropFirst().filter { name in
        name.utf8.count == 3 && name.utf8.allSatisfy { (0x41...0x5A).contains($0) }
      }
      add(row.dropFirst() + codes.map { $0 + " Airport" }, in: row[0])
    }
    for row in NameTable.foreign.rows where row.count > 1 {
      add([row[1]], in: row[0], Array(row[2...]))
      mean(row[1], by: Array(row[2...]), beside: [])
    }
    // A name in another language has those of both lists.
    let known = cities
    for (place, names) in known {
      cities[place] = names.reduce(names) { $0.union(known[String(place.prefix(3)) + $1] ?? []) }
    }
    for row in NameTable.sight.rows { add(Array(row.dropFirst()), asSightsIn: row[0]) }
    for row in NameTable.district.rows {
      let names = Array(row.dropFirst())
      add(names, in: row[0])
      for name in names { mean(name, by: names, beside: []) }
    }
    for words in AmenityNames.all {
      let name = FoldedText(words[0]).terms.flatMap(\.parts).map(\.text).joined(separator: " ")
      for other in joined(words) where offersByName[other] == nil { offersByName[other] = words }
      for other in joined(Array(words.dropFirst())) {
        if meanings[other] == nil { offers.insert(other) }
        meanings[other, default: []].insert(name)
      }
    }
    for name in ["Los Angeles", "Louisiana"] {
      mean(name, by: [SpelledQuery.eitherLA, SpelledQuery.anyLA], beside: [])
    }
    mean("la", by: [SpelledQuery.anyLA], beside: [])
    for (adjective, name) in SpelledQuery.places {
      for name in [name, adjective] {
        mean(name, by: [SpelledQuery.meaning(adjective)], beside: [])
      }
    }
    for state in NameTable.states {
      let name = state.names.first.map(Self.key)
      for other in joined(state.names + [state.code]) { states[state.country + " " + other] = name }
      let isCodeWritten = Self.writtenCodes.contains(state.country)
      mean(state.names.first, by: state.names + (isCodeWritten ? [state.code] : []), beside: [])
    }
    made = [:]
    cityNames.formUnion(cities.keys.map { String($0.dropFirst(3)) })
    stateNames = Set(states.keys.map { String($0.dropFirst(3)) })
  }

  /// A name without spaces and stop words, by which names are compared.
  static func key(_ name: String) -> String { words(name).joined() }

  private static func words(_ name: String) -> [String] {
    SearchStopWords.without(FoldedText(name).terms, \.parts).flatMap(\.parts).map(\.text)
  }

  /// A name without spaces.
  static func folded(_ name: String) -> String {
    FoldedText(name).terms.flatMap(\.parts).map(\.text).joined()
  }

  /// The beginning of a name as ``key(_:)`` makes it. The last word is only a beginning, so it is no stop word: `new y`.
  static func beginning(_ text: String) -> String {
    let terms = FoldedText(text).terms
    let last = terms.last.map { $0.parts.map(\.text).joined() } ?? ""
    return SearchStopWords.without(Array(terms.dropLast()), \.parts).flatMap(\.parts).map(\.text)
      .joined() + last
  }

  /// The keys of names, also with other forms of abbreviations: `St Pancras` and `Saint Pancras`, `N. Ireland`.
  static func joined(_ names: [String]) -> Set<String> {
    Set(names.flatMap(keys)).subtracting([""])
  }

  private static func keys(of name: String) -> [String] {
    let words = words(name)
    return words.reduce([""]) { keys, word in
      // A word alone may be the code of a state, and a file's city may be a text of any length.
      let hasOthers = (2...mostAbbreviated).contains(words.count) && keys.count < mostKeys
      let others = hasOthers ? EqualWords.others[word] ?? [] : []
      return keys.flatMap { key in ([word] + others).map { key + $0 } }
    }
  }

  /// The most words of a name whose abbreviations have other forms, and how many keys have none added any more: each
  /// abbreviation multiplies them.
  private static let (mostAbbreviated, mostKeys) = (12, 16)

  /// The same while the table is made.
  private mutating func joined(_ names: [String]) -> Set<String> {
    for name in names where made[name] == nil { made[name] = Self.keys(of: name) }
    return Set(names.flatMap { made[$0] ?? [] }).subtracting([""])
  }

  private mutating func add(_ names: [String], toCountry code: String) {
    let names = joined(names)
    countries[code, default: []].formUnion(names)
    know(names, asCountry: code)
  }

  private mutating func know(_ names: Set<String>, asCountry code: String) {
    for name in names where codes[name] == nil { codes[name] = code }
  }

  private mutating func add(_ names: [String], in code: String, _ foreignNames: [String] = []) {
    var names = joined(names)
    // The lists overlap: ICU's cities and ours.
    for name in names { names.formUnion(cities[code + " " + name] ?? []) }
    for name in names.union(joined(foreignNames)) {
      cities[code + " " + name] = names
      if code == "HK" || code == "MO" { cities["CN " + name] = names }
    }
  }

  /// Adds names of sights to those by which a city is found that has one of the names. A sight is no name of the city: what is
  /// in Manhattan, Kansas, is not in New York.
  private mutating func add(_ names: [String], asSightsIn code: String) {
    let names = joined(names)
    cityNames.formUnion(names)
    sights.formUnion(names.filter { cities[code + " " + $0] == nil })
    for code in code == "HK" ? ["HK", "CN"] : [code] {
      let all = names.reduce(names) { $0.union(cities[code + " " + $1] ?? []) }
      for name in all where cities[code + " " + name] != nil { cities[code + " " + name] = all }
    }
  }

  private mutating func mean(_ name: String?, by foreign: [String], beside own: [String]) {
    guard let name = name.map(Self.key), !name.isEmpty else { return }
    for other in joined(foreign).subtracting(joined(own)) where other != name {
      meanings[other, default: []].insert(name)
    }
  }

  /// What a name in another language than English means.
  struct Meaning: Sendable {
    /// The English names. Empty for other words.
    var names: Set<String> = []
    /// Whether it is what hotels have, and not a place.
    var isOffer = false
    /// Whether the name has an ending that says "in", "of" or "with".
    var isInflected = false
  }

  /// The English names of what a name in another language means, for a search: `london` for `Londres`, ロンドン and
  /// `Londýně`.
  /// - Parameter key: the name as ``key(_:)`` makes it.
  func meaning(of key: String) -> Meaning {
    for other in [key] + Self.withoutEnding(key) {
      if let names = meanings[other] {
        return Meaning(names: names, isOffer: offers.contains(other))
      }
    }
    guard !isPlace(key) else { return Meaning() }
    // "札幌駅".
    let whole = Self.withoutEnding(key).filter(isPlace)
    guard whole.isEmpty else { return Meaning(names: Set(whole)) }
    let nominatives = Self.nominatives(of: key)
    for other in nominatives {
      if let names = meanings[other] {
        // A "balcony" is no case of the Spanish one.
        return Meaning(
          names: names.union([other]), isOffer: offers.contains(other),
          isInflected: !names.contains(key))
      }
    }
    let names = Set(nominatives.filter(isPlace))
    return Meaning(names: names, isInflected: !names.isEmpty)
  }

  /// The names of ``meaning(of:)``.
  func meant(by key: String) -> Set<String> { meaning(of: key).names }

  /// Whether a country, a state or a city has a name, as ``key(_:)`` makes it, in any language.
  func isPlace(_ key: String) -> Bool {
    codes[key] != nil || cityNames.contains(key) || stateNames.contains(key)
  }

  /// Whether a place has such a name in any language.
  func knows(_ name: String) -> Bool {
    let key = Self.key(name)
    return codes[key] != nil || cityNames.contains(key) || !meant(by: key).isEmpty
  }

  /// Endings by which Russian, Ukrainian, Polish, Czech, Turkish, Finnish and Hungarian say "in", "of" or "with", and what a
  /// name may have instead: Москве and Москва, `Paryżu` and `Paryż`, `Szkocji` and `Szkocja`, `Londra'da`, `Pariisissa`,
  /// `Párizsban`, `havuzlu`; some change the letter before it: `Praze` and `Praha`, `Englannissa` and `Englanti`. Short ones
  /// of Hungarian (`-on`, `-en`) are those of English words. The last ones are plurals: `piscinas`.
  static let (cases, nominativeEndings) = (
    SaidWords.list(
      """
      е,и,а,ы,у,і,ою,ом,ем,e,i,u,y,a,ie,m,em,da,de,ta,te,dan,den,tan,ten,daki,deki,taki,teki,li,lu,ssa,issa,lla,sta,ista,ban,ben,\
      ze,dze,ce,зі,ці,nnissa,ngissa,s,es
      """), ["", "а", "ь", "я", "a", "o", "ha", "ga", "ka", "га", "ка", "nti", "nki"]
  )

  /// What a name may be the case of, and a Hebrew or Arabic one without "in": "בפריז". At least three letters stay; a Latin
  /// name has four, so that codes have no cases.
  private static func nominatives(of name: String) -> [String] {
    guard let first = name.unicodeScalars.first else { return [] }
    if "בלبل".unicodeScalars.contains(first) { return [String(name.dropFirst())] }
    let stems = cases.filter { name.hasSuffix($0) }.map { String(name.dropLast($0.count)) }
      .filter { $0.unicodeScalars.count > 2 }
    let names = stems.flatMap { stem in nominativeEndings.map { stem + $0 } }
    return names.filter { $0.utf8.count > 3 }
  }

  /// The English names that names with a beginning in another language mean.
  func meant(beginning key: String) -> Set<String> {
    meanings.reduce(into: []) { names, meaning in
      guard meaning.key.utf8.starts(with: key.utf8) else { return }
      if !meaning.key.utf8.starts(with: SpelledQuery.meant.utf8) { names.formUnion(meaning.value) }
    }
  }

  /// The other names of a hotel's place. A hotel of the United Kingdom whose position is not known may be in any part of it.
  func names(of hotel: HotelText) -> Set<String> {
    var names = names(ofCountry: hotel.country).union(names(ofCity: hotel.city, in: hotel.country))
    if let state = name(ofState: hotel.state, in: hotel.country) { names.insert(state) }
    if let region = region(of: hotel) { return names.union(Self.joined(region.names)) }
    guard hotel.keys.location == nil, countries["GB"]?.contains(Self.key(hotel.country)) == true
    else { return names }
    return names.union(partNames())
  }

  /// The region of a hotel by its position; nil for one of which these have no region.
  func region(of hotel: HotelText) -> NamedRegion? {
    guard let point = hotel.keys.location, let code = code(of: hotel.country) else { return nil }
    return NamedRegion.region(of: point, in: code)
  }

  /// The names of the parts of the United Kingdom, but for some of them by their English names.
  func partNames(without states: Set<String> = []) -> Set<String> {
    let regions = NamedRegion.byCountry["GB"] ?? []
    return Self.joined(regions.filter { !states.contains(Self.key($0.names[0])) }.flatMap(\.names))
  }

  /// The English name of a state, and those of the part of the country that is called so.
  func names(ofState state: String, in country: String) -> Set<String> {
    let name = name(ofState: state, in: country) ?? Self.key(state)
    let regions = code(of: country).flatMap { NamedRegion.byCountry[$0] } ?? []
    let region = regions.first { Self.key($0.names[0]) == name }
    return Self.joined(region?.names ?? []).union([name])
  }

  /// The English name of a state by any of its names or its code; nil for an unknown one.
  func name(ofState state: String, in country: String) -> String? {
    guard !state.isEmpty, let code = code(of: country) else { return nil }
    let name = Self.key(state)
    return ([name] + Self.withoutEnding(name)).lazy.compactMap { states[code + " " + $0] }.first
  }

  /// The other names of a country as a hotel has it; empty for an unknown one.
  func names(ofCountry country: String) -> Set<String> {
    code(of: country).flatMap { countries[$0] } ?? []
  }

  /// The other names of a city in such a country; empty for an unknown one.
  func names(ofCity city: String, in country: String) -> Set<String> {
    guard !city.isEmpty, let code = code(of: country) else { return [] }
    let name = Self.key(city)
    // "Wien, Innere Stadt".
    let first = city.split(separator: ",").first.map { Self.key(String($0)) } ?? ""
    // 札幌市中央区.
    let before = Self.endings.compactMap { name.split(separator: $0).first.map(String.init) }
    return ([name, first] + before).lazy.compactMap { cities[code + " " + $0] }.first ?? []
  }

  /// The code of a country by any of its names; nil for an unknown one.
  func code(of country: String) -> String? { codes[Self.key(country)] }

  /// What says only that a name is a city's, a province's or that of a station: 東京都.
  static let endings = [
    "駅", "站", "车站", "車站", "역",
    "都", "市", "区", "府", "県", "县", "州", "省", "시", "도", "특별시", "광역시", "มหานคร",
  ].map { Self.key($0) }

  /// The countries whose states people look for by their codes: "Austin TX".
  static let writtenCodes: Set<String> = ["US", "CA", "AU"]

  /// A name without each ending that it has.
  private static func withoutEnding(_ name: String) -> [String] {
    endings.filter { name.hasSuffix($0) }.map { String(name.dropLast($0.count)) }
  }
}
