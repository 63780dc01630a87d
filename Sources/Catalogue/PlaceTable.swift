import Documents
import Hotels
import SQLite
import Text

/// The places of a catalogue's hotels, for people who type one.
enum PlaceTable {
  /// How many names are compared with a mistyped one.
  private static let mostCompared = 2_000
  /// The shortest beginning in which a mistake is looked for, in characters.
  private static let leastCorrected = 4

  /// Adds a hotel's places, or removes them.
  static func count(_ hotel: HotelText, by change: Int, in connection: Connection) throws {
    let country = hotel.country
    try count(.country, country, "", "", by: change, in: connection)
    let state = hotel.state.isEmpty ? PlaceNames.all.region(of: hotel)?.names[0] : hotel.state
    try count(.state, state ?? "", "", country, by: change, in: connection)
    try count(.city, hotel.city, hotel.state, country, by: change, in: connection)
  }

  private static func count(
    _ kind: Place.Kind, _ name: String, _ state: String, _ country: String, by change: Int,
    in connection: Connection
  ) throws {
    let key = PlaceNames.key(name)
    guard !key.isEmpty else { return }
    let keys = [kind.rawValue, key, PlaceNames.key(state), PlaceNames.key(country)]
    try connection.statement(
      """
      INSERT INTO place (kind, key, name, state, country, hotels) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
      ON CONFLICT (key) DO UPDATE SET hotels = hotels + ?6
      """
    ).run(
      .text(kind.rawValue), .text(keys.joined(separator: "/")), .text(name), .text(state),
      .text(country), .integer(change))
  }

  /// Writes the names of all places once all hotels are counted.
  static func writeNames(in connection: Connection) throws {
    try connection.execute("DELETE FROM place WHERE hotels <= 0")
    let places = try connection.statement("SELECT id, kind, name, country FROM place").all { row in
      (
        id: row.int64(0), kind: try row.string(1), name: try row.string(2),
        country: try row.string(3)
      )
    }
    let states = Set(
      places.map { $0.kind == Place.Kind.state.rawValue ? PlaceNames.key($0.name) : "" })
    let insert = try connection.statement(
      "INSERT OR IGNORE INTO place_name (name, place) VALUES (?1, ?2)")
    for place in places {
      let expanded = FoldedText(place.name, .expanded).terms.flatMap(\.parts).map(\.text)
      var names = PlaceNames.joined([place.name, expanded.joined(separator: " ")])
        .union([expanded.joined()])
      if place.kind == Place.Kind.country.rawValue {
        names.formUnion(PlaceNames.all.names(ofCountry: place.name))
        // Without positions only the country stands for its parts.
        if names.contains("gb") { names.formUnion(PlaceNames.all.partNames(without: states)) }
      } else if place.kind == Place.Kind.state.rawValue {
        names.formUnion(PlaceNames.all.names(ofState: place.name, in: place.country))
      } else if place.kind == Place.Kind.city.rawValue {
        names.formUnion(PlaceNames.all.names(ofCity: place.name, in: place.country))
      }
      for name in names { try insert.run(.text(name), .integer(place.id)) }
    }
  }

  /// The places with a name that begins so, those of just that name first, then those whose own name begins so, those with
  /// most hotels first. If there is none, those whose name begins almost so, if the text has an article; else those with
  /// such a name in a language of other countries; else those whose name begins with what stands before a comma, has the text
  /// within it, begins almost so, or begins so without the last word.
  static func places(
    beginning text: String, limit: Int, in connection: Connection
  ) throws -> [Place] {
    let prefix = PlaceNames.key(text)
    guard !prefix.isEmpty || text.utf8.allSatisfy({ $0 <= 0x20 }) else { return [] }
    var found = try places(named: PlaceNames.beginning(text), limit: limit, in: connection)
    if found.isEmpty { found = try places(named: prefix, limit: limit, in: connection) }
    guard found.isEmpty, !prefix.isEmpty else { return found }
    func those(_ names: Set<String>) throws -> [Place]? {
      let found = try places(withAny: names, limit: limit, in: connection)
      return found.isEmpty ? nil : found
    }
    // "Los Angles" is no part of Anglesey.
    let whole = PlaceNames.folded(text)
    if whole != prefix, let found = try those(similar(to: whole, in: connection)) { return found }
    let meant = PlaceNames.all.meant(beginning: prefix).union(PlaceNames.all.meant(by: prefix))
    if let found = try those(meant) { return found }
    // "Paris, France".
    if let comma = text.firstIndex(of: ",") {
      let city = try places(beginning: String(text[..<comma]), limit: limit, in: connection)
      if !city.isEmpty { return city }
    }
    // "Francisco".
    if prefix.unicodeScalars.count >= leastCorrected {
      let names = try connection.statement(
        "SELECT DISTINCT name FROM place_name WHERE instr(name, ?1) > 0 LIMIT ?2"
      ).all(.text(prefix), .integer(mostCompared)) { row in try row.string(0) }
      if let found = try those(Set(names)) { return found }
    }
    if let found = try those(similar(to: prefix, in: connection)) { return found }
    // "Paris fr".
    let first = text.lastIndex(of: " ").map { PlaceNames.key(String(text[..<$0])) } ?? ""
    guard first.unicodeScalars.count >= leastCorrected else { return [] }
    return try places(named: first, limit: limit, in: connection)
  }

  /// The places with a name that begins so.
  private static func places(
    named prefix: String, limit: Int, in connection: Connection
  ) throws -> [Place] {
    try connection.statement(
      """
      SELECT kind, name, state, country, hotels FROM place
      WHERE id IN (SELECT place FROM place_name WHERE name >= ?1 AND name < ?1 || char(0x10FFFF))
      ORDER BY id IN (SELECT place FROM place_name WHERE name = ?1) DESC,
        instr(key, kind || '/' || ?1) = 1 DESC, hotels DESC, id
      LIMIT ?2
      """
    ).all(.text(prefix), .integer(limit), row: Place.init)
  }

  /// The places with any of some names, each once, those whose own name it is first.
  private static func places(
    withAny names: Set<String>, limit: Int, in connection: Connection
  ) throws -> [Place] {
    try connection.statement(
      """
      SELECT kind, name, state, country, hotels FROM place
      WHERE id IN (SELECT place FROM place_name WHERE name IN (SELECT value FROM json_each(?1)))
      ORDER BY substr(key, length(kind) + 2, instr(substr(key, length(kind) + 2), '/') - 1)
        IN (SELECT value FROM json_each(?1)) DESC, hotels DESC, id LIMIT ?2
      """
    ).all(
      .text("[" + names.map { "\"\($0)\"" }.joined(separator: ",") + "]"), .integer(limit),
      row: Place.init)
  }

  /// The orders in which the hotels can be sorted.
  static func orders(in connection: Connection) throws -> Set<HotelQuery.Order> {
    let found = try connection.statement(
      """
      SELECT EXISTS (SELECT 1 FROM sorting WHERE price IS NOT NULL),
        EXISTS (SELECT 1 FROM sorting WHERE x IS NOT NULL)
      """
    ).first { row in (price: row.int64(0) != 0, position: row.int64(1) != 0) }
    var orders: Set<HotelQuery.Order> = [.relevance, .name]
    if found?.price == true { orders.insert(.price) }
    if found?.position == true { orders.insert(.distance) }
    return orders
  }

  /// The names whose beginnings differ least.
  private static func similar(to prefix: String, in connection: Connection) throws -> Set<String> {
    let letters = Array(prefix.unicodeScalars)
    guard letters.count >= leastCorrected, let first = prefix.first else { return [] }
    let names = try connection.statement(
      """
      SELECT DISTINCT name FROM place_name WHERE name >= ?1 AND name < ?1 || char(0x10FFFF) LIMIT ?2
      """
    ).all(.text(String(first)), .integer(mostCompared)) { row in try row.string(0) }
    let found = names.compactMap { name -> (name: String, differences: Int)? in
      let scalars = Array(name.unicodeScalars)
      // A letter may be missing or too much, so the beginning may be a letter longer or shorter.
      return (letters.count - 1...letters.count + 1).filter { $0 <= scalars.count }
        .compactMap { Vocabulary.differences(letters, Array(scalars[..<$0])) }.min()
        .map { (name, $0) }
    }
    let least = found.map(\.differences).min()
    return Set(found.filter { $0.differences == least }.map(\.name))
  }
}

extension Place {
  /// Reads the columns `kind`, `name`, `state`, `country` and `hotels`.
  fileprivate init(_ row: borrowing Row) throws {
    self.init(
      kind: Kind(rawValue: try row.string(0)) ?? .city, name: try row.string(1),
      state: try row.string(2), country: try row.string(3), hotels: Int(clamping: row.int64(4)))
  }
}
