import Documents

/// Lists of hotels in an object, one for each city, country, or country and city:
/// `{"Paris": [{…}, …], "London": [{…}]}`, `{"France": {"Paris": [{…}]}}`. Below a place there may be kinds of hotels, which
/// say nothing: `{"Paris": {"luxury": [{…}], "budget": [{…}]}}`.
struct GroupedLists: Equatable {
  /// What the names around a row say.
  struct Place: Equatable, Sendable {
    var (city, state, country): (String?, String?, String?)
    /// Whether the row is in a list of cities, so that its name is one's.
    var isCity = false

    /// The members of a hotel there.
    var object: JSONObject {
      var object = JSONObject()
      for (name, value) in [("country", country), ("state", state), ("city", city)] {
        if let value { object.append(name, .string(value)) }
      }
      return object
    }
  }

  /// The names of the members that lead to the object with the lists.
  let path: [String]
  /// The number of levels in which names differ: one or two.
  let depth: Int
  /// The name of all lists: `{"Paris": {"hotels": […]}}`; nil if there are several.
  let name: String?
  /// The levels of names, the outermost first, without kinds of hotels. The last one has the places.
  private let levels: [Level]

  /// Nil unless the paths of lists have one depth, and the names of the last level, or else of the one around it, are mostly
  /// those of known places.
  init?(_ paths: [[String]]) {
    guard paths.count > 1, let first = paths.first, !first.isEmpty,
      paths.allSatisfy({ $0.count == first.count })
    else { return nil }
    let common = first.indices.prefix { index in paths.allSatisfy { $0[index] == first[index] } }
    guard (1...2).contains(first.count - common.count) else { return nil }
    depth = first.count - common.count
    name = paths.allSatisfy { $0.last == first.last } ? first.last : nil
    path = Array(first.prefix(common.count))
    var levels = first.indices.map { index in Level(Set(paths.map { $0[index] })) }
    if let inner = levels.popLast() {
      // Nobody knows all cities of a state or a country.
      let areCities =
        levels.last.map { outer in
          outer.areRegions && inner.mayBeCities && inner.names.count == paths.count
        } ?? false
      // A single name such as `nice` may be no place's.
      let isOuter =
        levels.last?.areKnown == true && (depth == 2 || path.last?.first?.isLowercase == false)
      guard inner.areKnown || isOuter else { return nil }
      if inner.areKnown || areCities { levels.append(inner) }
    }
    self.levels = levels
  }

  /// What a report says instead of a member's name.
  static let source = "name of the list"

  /// The city, the state and the country that the names around a row say. A name of the last level that is none of the
  /// others is a city's.
  func place(of names: [String]) -> Place {
    var place = Place()
    for (level, name) in zip(levels.indices, names) {
      let isLast = level == levels.count - 1
      let isState = levels[level].isState(name, in: place.country)
      if place.country == nil, !(isState && levels[level].haveStates),
        levels[level].isCountry(name, mayBeCity: isLast)
      {
        place.country = name
      } else if isState {
        place.state = name
      } else if isLast {
        place.city = name
      }
    }
    return place
  }

  /// The place of the hotels in a row that has a list of them: what it says beside the list, and its name if that is a
  /// place's: `{"country": "France", "cities": [{"name": "Paris", "hotels": […]}]}`. A row with another name is a chain or a
  /// guide, whose own place says nothing about its hotels, and one with an address of mail or a phone is somebody: Jordan.
  static func place(in members: some Sequence<(String, JSONValue)>, within outer: Place) -> Place {
    var place = outer
    var (name, title, state): (String?, String?, String?)
    var isSomebody = false
    place.isCity = false
    for (member, value) in members where value.string != nil || value.object != nil {
      let meaning = HotelAliases.match(member.utf8)?.meaning
      guard let text = TextForms.text(value), !text.isEmpty else { continue }
      switch meaning {
      case .name where member == "title": title = text
      case .name: name = name ?? text
      // Under `by` may be who made the list.
      case .city where member.lowercased().contains("city") || Level([text]).areKnown:
        place.city = text
      case .state: state = text
      case .country where PlaceNames.all.code(of: text) != nil: place.country = text
      case .email, .phone: isSomebody = true
      default: continue
      }
    }
    if isSomebody, name != nil, !outer.isCity { return outer }
    // An answer may have `"state": "OK"`, or `complete`.
    if let state, state.utf8.count > 3 || place.country != nil,
      PlaceNames.all.name(ofState: state, in: place.country ?? "US") != nil
    {
      place.state = state
    }
    // A title may be a sentence.
    guard let name = name ?? title.flatMap({ Level([$0]).areKnown ? $0 : nil }) else {
      return place
    }
    if outer.isCity {
      place.city = name
      return place
    }
    if let city = place.city, name.contains(city) { return place }
    let level = Level([name])
    guard level.areKnown else { return outer }
    if level.isCountry(name, mayBeCity: false) {
      place.country = name
    } else if level.isState(name, in: place.country) {
      place.state = name
    } else {
      place.city = name
    }
    return place
  }

  /// The place that a name is that of; an empty one for another name.
  static func place(named name: String) -> Place {
    place(in: [("name", .string(name))], within: Place())
  }

  /// Whether a list has cities with their hotels.
  static func isOfCities(_ name: String) -> Bool {
    ["cities", "towns", "villages", "villes", "staedte", "ciudades", "citta"]
      .contains(HotelAliases.letters(of: name.utf8))
  }

  /// A member's name without JSON's escapes; as it is if it was cut off within one.
  static func unescaped(_ name: [UInt8]) -> [UInt8] {
    let mark = [UInt8(ascii: "\"")]
    guard name.contains(UInt8(ascii: "\\")),
      let text = (try? JSONValue(parsing: mark + name + mark, limits: .small))?.string
    else { return name }
    return Array(text.utf8)
  }

  /// What the names of a level have in common.
  private struct Level: Equatable {
    let names: Set<String>
    /// Whether more than half of those that are no codes are of countries, states or cities that searches know.
    let areKnown: Bool
    /// Whether one is only a state of the US. Then Georgia is one, too.
    let haveStates: Bool
    /// Whether one is a country's name, not only its code.
    private let haveCountries: Bool

    /// Whether all are countries or states of the US.
    var areRegions: Bool {
      names.allSatisfy { isCountry($0, mayBeCity: false) || isState($0, in: nil) }
    }
    /// Whether they are written as names, and none says a kind of hotels.
    var mayBeCities: Bool {
      names.allSatisfy { name in
        name.first?.isLetter == true && name.first?.isLowercase == false
          && !Self.kinds.contains(HotelAliases.letters(of: name.utf8))
      }
    }

    init(_ names: Set<String>) {
      self.names = names
      let places = PlaceNames.all
      let written = names.filter { $0.utf8.count > 3 || !Self.mayBeName($0) }
      areKnown = written.count { Self.known.contains(PlaceNames.key($0)) } * 2 > written.count
      haveStates = names.contains { name in
        Self.mayBeName(name) && places.name(ofState: name, in: "US") != nil
          && places.names(ofCity: name, in: "US").isEmpty && places.code(of: name) == nil
      }
      haveCountries = names.contains { $0.utf8.count > 3 && places.code(of: $0) != nil }
    }

    /// Whether a name is a state's in a country, the US if it is not known.
    func isState(_ name: String, in country: String?) -> Bool {
      let (places, country) = (PlaceNames.all, country ?? "US")
      return Self.mayBeName(name) && places.name(ofState: name, in: country) != nil
        && (haveStates || places.names(ofCity: name, in: country).isEmpty)
    }

    /// Whether a name is a country's. LA beside New York is a city, not Laos.
    func isCountry(_ name: String, mayBeCity: Bool) -> Bool {
      Self.mayBeName(name) && PlaceNames.all.code(of: name) != nil
        && (name.utf8.count > 3 || haveCountries || !mayBeCity)
    }

    /// Codes of places are capitals: `id` and `in` are words.
    private static func mayBeName(_ name: String) -> Bool {
      name.utf8.count > 3 || !name.contains(where: \.isLowercase)
    }

    private static let kinds = ImportWords.kindOfHotels.set
    private static let known: Set<String> = {
      let places = PlaceNames.all
      var known = Set(places.codes.keys.filter { $0.utf8.count > 3 })
      for key in Array(places.cities.keys) + Array(places.states.keys) {
        let name = key.drop { $0 != " " }.dropFirst()
        if name.utf8.count > 3 { known.insert(String(name)) }
      }
      return known
    }()
  }
}

/// Finds the rows of ``GroupedLists``, chunk by chunk. It keeps at most one row in memory.
struct GroupSplitter {
  private let lists: GroupedLists
  /// Finds the rows of the list that is open.
  private var splitter: RowSplitter?
  /// The names of the open objects, and the last name that was read.
  private var path: [String] = []
  private var name: [UInt8] = []
  /// What the names around the open list say.
  private var place = GroupedLists.Place()
  /// How many brackets are open, and in how many of them nothing is looked for.
  private var (depth, ignored) = (0, 0)
  private var (isInString, isAfterColon) = (false, false)
  private var string = StringScan()
  private var line: Int
  private var ordinal = 0

  /// The longest name of a place, in bytes.
  private static let longestName = 256

  /// Makes a splitter of an object that starts on a line.
  init(_ lists: GroupedLists, line: Int) { (self.lists, self.line) = (lists, line) }

  /// The next row that ends in `chunk`, searched from `position`, which is moved on; nil at the end of the chunk.
  /// - Throws: `malformed` for brackets that do not match.
  mutating func next(
    in chunk: [UInt8], from position: inout Int
  ) throws(CatalogueError) -> SplitRow? {
    while position < chunk.count {
      if splitter != nil {
        if let row = try splitter?.next(in: chunk, from: &position) {
          // A list beside those of the places may have texts.
          if case .text(let text) = row.content, text.first != UInt8(ascii: "{") { continue }
          ordinal += 1
          return SplitRow(ordinal: ordinal, line: row.line, content: row.content, place: place)
        }
        guard let list = splitter, list.isEnded else { return nil }
        line = list.line
        splitter = nil
        continue
      }
      let byte = chunk[position]
      if isInString {
        takeInString(byte)
      } else if byte == UInt8(ascii: "["), ignored == 0, isList {
        splitter = RowSplitter(isAlone: true, line: line)
        place = lists.place(of: names)
        continue
      } else {
        take(byte)
      }
      if byte == 0x0A { line += 1 }
      position += 1
    }
    return nil
  }

  private var names: [String] { path + [String(decoding: name, as: UTF8.self)] }
  /// Whether the list that begins is one of those with hotels.
  private var isList: Bool {
    depth == lists.path.count + lists.depth && names.starts(with: lists.path)
      && (lists.name == nil || lists.name == names.last)
  }

  private mutating func takeInString(_ byte: UInt8) {
    if string.ends(at: byte) {
      isInString = false
      if !isAfterColon, ignored == 0 { name = GroupedLists.unescaped(name) }
      return
    }
    if !isAfterColon, ignored == 0, name.count < Self.longestName { name.append(byte) }
  }

  private mutating func take(_ byte: UInt8) {
    switch byte {
    case UInt8(ascii: "\""):
      isInString = true
      if !isAfterColon, ignored == 0 { name = [] }
    case UInt8(ascii: ":"): isAfterColon = true
    case UInt8(ascii: ","): isAfterColon = false
    case UInt8(ascii: "{"), UInt8(ascii: "["):
      if ignored > 0 || byte == UInt8(ascii: "[") || depth == lists.path.count + lists.depth {
        ignored += 1
      } else {
        if depth > 0 { path.append(String(decoding: name, as: UTF8.self)) }
        depth += 1
      }
      isAfterColon = false
    case UInt8(ascii: "}"), UInt8(ascii: "]"):
      if ignored > 0 {
        ignored -= 1
      } else {
        if depth > 1 { path.removeLast() }
        depth -= 1
      }
    default: break
    }
  }
}
