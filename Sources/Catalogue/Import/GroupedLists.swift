import JSON

/// Lists of hotels in an object, one for each city, country, or country and city:
/// `{"Paris": [{…}, …], "London": [{…}]}`, `{"France": {"Paris": [{…}]}}`.
struct GroupedLists: Equatable {
  /// The names of the members that lead to the object with the places.
  let path: [String]
  /// The number of levels with names of places: one or two.
  let depth: Int

  /// Nil unless the paths of lists have one depth and a name in the last two levels is that of a known place.
  init?(_ paths: [[String]]) {
    guard paths.count > 1, let first = paths.first, !first.isEmpty,
      paths.allSatisfy({ $0.count == first.count })
    else { return nil }
    let common = first.indices.prefix { index in paths.allSatisfy { $0[index] == first[index] } }
    guard (1...2).contains(first.count - common.count) else { return nil }
    depth = first.count - common.count
    path = Array(first.prefix(common.count))
    guard paths.contains(where: { $0.suffix(2).contains(where: Self.isKnown) }) else { return nil }
  }

  /// What a report says instead of a member's name.
  static let source = "name of the list"

  /// The city, the state and the country that the names around a row say. A last name that is none of the others is a
  /// city's.
  static func place(of names: [String]) -> JSONObject {
    var place = JSONObject()
    guard !names.isEmpty else { return place }
    let country = names.first { PlaceNames.all.code(of: $0) != nil }
    if let country { place.append("country", .string(country)) }
    guard let last = names.last, last != country else { return place }
    let isState =
      PlaceNames.all.name(ofState: last, in: country ?? "US") != nil
      && PlaceNames.all.names(ofCity: last, in: country ?? "US").isEmpty
    place.append(isState ? "state" : "city", .string(last))
    return place
  }

  /// Whether a name is that of a country, a state or a city that searches know.
  private static func isKnown(_ name: String) -> Bool { known.contains(PlaceNames.key(name)) }

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

/// Finds the rows of ``GroupedLists``, chunk by chunk. It keeps at most one row in memory.
struct GroupSplitter {
  private let lists: GroupedLists
  /// Finds the rows of the list that is open.
  private var splitter: RowSplitter?
  /// The names of the open objects, and the last name that was read.
  private var path: [String] = []
  private var name: [UInt8] = []
  /// How many brackets are open, and in how many of them nothing is looked for.
  private var (depth, ignored) = (0, 0)
  private var (isInString, isEscaped, isAfterColon) = (false, false, false)
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
          return SplitRow(ordinal: ordinal, line: row.line, content: row.content, places: places)
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
  /// The names around the open list, and countries before them.
  private var places: [String] {
    let names = names
    let outer = names.prefix(lists.path.count).filter { PlaceNames.all.code(of: $0) != nil }
    return outer + names.dropFirst(lists.path.count)
  }
  /// Whether the list that begins is one of those with hotels.
  private var isList: Bool {
    depth == lists.path.count + lists.depth && names.starts(with: lists.path)
  }

  private mutating func takeInString(_ byte: UInt8) {
    if isEscaped {
      isEscaped = false
    } else if byte == UInt8(ascii: "\\") {
      isEscaped = true
    } else if byte == UInt8(ascii: "\"") {
      isInString = false
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
