import Documents
import Hotels

/// The forms in which files have a hotel's position.
enum PositionForms {
  /// The position in a value: an object with a latitude and a longitude, a GeoJSON or ArcGIS point, an array, or a text.
  /// Nil for anything else.
  /// - Parameters:
  ///   - name: the member's name. In an array under `latlng`, the latitude comes first.
  ///   - country: the code of the hotel's country. Of two orders of the numbers, only one may be there.
  static func point(
    _ value: JSONValue, named name: String = "", in country: String? = nil
  ) -> Point? {
    switch value {
    case .object(let object): point(object, in: country)
    case .array(let values):
      // Solr has a list also of one position.
      if values.count == 1, values[0].object != nil || values[0].string != nil {
        point(values[0], named: name, in: country)
      } else {
        point(values, isLatitudeFirst: isLatitudeFirst(name), in: country)
      }
    case .string(let text): point(text, isLongitudeFirst: isLongitudeFirst(name), in: country)
    default: nil
    }
  }

  /// Whether a value is two numbers of which nothing says which is the latitude.
  static func isDoubtful(_ value: JSONValue, named name: String) -> Bool {
    value.array.map { $0.first?.array == nil } == true && !isLatitudeFirst(name)
  }

  /// A position, with its numbers as they were written if they were numbers.
  struct Point: Equatable {
    let latitude: JSONNumber
    let longitude: JSONNumber

    /// The position of two values; nil if one is no number or out of bounds.
    init?(_ latitude: JSONValue, _ longitude: JSONValue) {
      guard let north = PositionForms.degrees(latitude),
        let east = PositionForms.degrees(longitude),
        let (y, x) = (north.double, east.double) as? (Double, Double),
        // Two zeros are a position that is missing.
        GeoPoint(latitude: y, longitude: x) != nil, y != 0 || x != 0
      else { return nil }
      (self.latitude, self.longitude) = (north, east)
    }

    /// The position of two numbers, in centimetres: seven decimals.
    init?(north: Double, east: Double) {
      let numbers = [north, east].map { angle in
        JSONNumber(text: "\((angle * 10_000_000).rounded() / 10_000_000)").map(JSONValue.number)
      }
      self.init(numbers[0] ?? .null, numbers[1] ?? .null)
    }

    /// Whether the point is in a country; nil for an unknown country.
    func isIn(_ country: String) -> Bool? {
      guard let y = latitude.double, let x = longitude.double else { return nil }
      return CountryBoxes.contains(latitude: y, longitude: x, country: country)
    }

    /// The point as far to the east if a text has it to the west by an `O`, which is the east in German.
    func byGermanEast(_ text: String?) -> Point? {
      guard let text, text.contains("O"), let y = latitude.double, let x = longitude.double, x < 0,
        text.allSatisfy({ !$0.isLetter || "NSO".contains($0) })
      else { return nil }
      return Point(north: y, east: -x)
    }

    /// Whether the point is north or south of all hotels.
    fileprivate var isPolar: Bool { latitude.double.map { abs($0) > 80 } ?? false }

    /// The member `geo`.
    var value: JSONValue { ["lat": .number(latitude), "lon": .number(longitude)] }
  }

  /// Whether an array under this name has the latitude first. Opendatasoft's `geo_point_2d` and Kobo's `_geolocation` do.
  private static func isLatitudeFirst(_ name: String) -> Bool {
    let letters = HotelAliases.letters(of: name.utf8)
    return letters.utf8.starts(with: "lat".utf8) || letters == "geopoint2d"
      || name == "_geolocation"
      || ["latlon", "latlng", "latitudelongitude"].contains { letters.contains($0) }
  }

  /// Whether a name says that the longitude comes first: `Coordinates (lon, lat)`.
  private static func isLongitudeFirst(_ name: String) -> Bool {
    let letters = HotelAliases.letters(of: name.utf8)
    return ["lonlat", "lnglat", "longlat", "longitudelatitude"].contains { letters.contains($0) }
  }

  private static func point(_ object: JSONObject, in country: String?) -> Point? {
    var (latitude, longitude): (JSONValue?, JSONValue?)
    for (name, value) in object.members {
      switch HotelAliases.match(name.utf8)?.meaning {
      case .latitude: latitude = latitude ?? value
      case .longitude: longitude = longitude ?? value
      default: continue
      }
    }
    if let latitude, let longitude { return Point(latitude, longitude) }
    if let x = object["x"], let y = object["y"] { return Point(y, x) }
    // The bounds of a building in OpenStreetMap.
    let bounds = ["minlon", "minlat", "maxlon", "maxlat"].map { object[$0] ?? .null }
    if !bounds.contains(.null) {
      return center(of: [.array([bounds[0], bounds[1]]), .array([bounds[2], bounds[3]])])
    }
    // KML that became JSON: longitude, latitude, height. GML, as Yandex answers it: longitude, latitude.
    for (name, separator, count) in [("coordinates", Character(","), 3), ("pos", " ", 2)] {
      guard let numbers = object[name]?.string?.split(separator: separator), numbers.count == count
      else { continue }
      return Point(.string(String(numbers[1])), .string(String(numbers[0])))
    }
    if let first = object["geometries"]?.array?.first { return point(first, in: country) }
    // GeoJSON's coordinates, and objects such as Google's `geometry.location`.
    for name in [
      "coordinates", "location", "geopoint", "point", "center", "main", "geographic_coordinates",
      "geoJson",
    ] {
      guard let inner = object[name] else { continue }
      return point(inner, in: country)
    }
    // One for each language: `{"en-US": {"lat": …, "lon": …}}`.
    return object.count == 1
      ? object.members.first?.value.object.flatMap { point($0, in: country) } : nil
  }

  /// Two numbers in GeoJSON's order, longitude first (RFC 7946 section 3.1.1), and perhaps a height. If they can only be
  /// meant in the other order, they are taken so: Typesense's lists have the latitude first.
  private static func point(
    _ values: [JSONValue], isLatitudeFirst: Bool, in country: String?
  ) -> Point? {
    if values.first?.array != nil { return center(of: values) }
    // Socrata's location: the address, the latitude and the longitude.
    if values.count == 5 { return Point(values[1], values[2]) }
    guard (2...3).contains(values.count) else { return nil }
    return isLatitudeFirst
      ? point(latitude: values[0], longitude: values[1], in: country)
      : point(latitude: values[1], longitude: values[0], in: country)
  }

  /// The point of two numbers in the other order, if only that one is in the country.
  static func exchanged(
    _ latitude: JSONValue, _ longitude: JSONValue, in country: String
  ) -> Point? {
    guard let other = Point(longitude, latitude), other.isIn(country) == true,
      Point(latitude, longitude)?.isIn(country) != true
    else { return nil }
    return other
  }

  /// The point of two numbers, which may be meant in the other order.
  private static func point(
    latitude: JSONValue, longitude: JSONValue, in country: String?
  ) -> Point? {
    guard let point = Point(latitude, longitude) else { return Point(longitude, latitude) }
    // No hotel is so near to a pole, so that Amap's `87.6,43.8` is in Ürümqi.
    if point.isPolar, let other = Point(longitude, latitude), !other.isPolar { return other }
    return country.flatMap { exchanged(latitude, longitude, in: $0) } ?? point
  }

  /// The centre of an area or a line: of the least and the greatest numbers.
  private static func center(of values: [JSONValue]) -> Point? {
    var (south, west, north, east) = (90.0, 180.0, -90.0, -180.0)
    var rest = values
    while let value = rest.popLast()?.array {
      if value.first?.array != nil {
        rest += value
        continue
      }
      guard value.count >= 2, let x = value[0].number?.double, let y = value[1].number?.double
      else { return nil }
      (south, north) = (min(south, y), max(north, y))
      (west, east) = (min(west, x), max(east, x))
    }
    return rest.isEmpty ? Point(north: (south + north) / 2, east: (west + east) / 2) : nil
  }

  /// The position in a link to Google's or Apple's map, of the place before that of the map's middle; nil for another text.
  static func point(ofLink text: String) -> Point? {
    guard text.hasPrefix("https://") || text.hasPrefix("http://") else { return nil }
    if let north = text.firstRange(of: "!3d"), let east = text.firstRange(of: "!4d") {
      let numbers = [north, east].map { String(text[$0.upperBound...].prefix { $0 != "!" }) }
      if let point = Point(.string(numbers[0]), .string(numbers[1])) { return point }
    }
    let starts = [
      "/@", "/search/", "/place/", "?q=", "&q=", "?ll=", "&ll=", "query=", "daddr=", "?coordinate=",
    ]
    for start in starts {
      guard let found = text.firstRange(of: start) else { continue }
      let numbers = text[found.upperBound...].prefix { $0 != "&" && $0 != "/" }
        .replacing("%2C", with: ",").split(separator: ",").map(String.init)
      guard numbers.count >= 2, numbers[0].contains("."),
        let point = Point(.string(numbers[0]), .string(numbers[1]))
      else { continue }
      return point
    }
    return nil
  }

  /// `51.5,-0.1`, `51.5 -0.1`, `51,5; -0,1`, well-known text: `POINT (-0.1 51.5)`, a URI of RFC 5870: `geo:51.5,-0.1`,
  /// Google's link to a map: `https://www.google.com/maps/@51.5,-0.1,17z`, Android's `lat/lng: (51.5,-0.1)`, or PostgreSQL's
  /// point, which has the longitude first and no space: `(-0.1,51.5)`.
  /// <https://www.postgresql.org/docs/current/datatype-geometric.html>
  private static func point(_ text: String, isLongitudeFirst: Bool, in country: String?) -> Point? {
    if text.hasPrefix("geo:") {
      let numbers = String(text.dropFirst(4).prefix { $0 != ";" && $0 != "?" })
      return point(numbers, isLongitudeFirst: false, in: country)
    }
    if text.hasPrefix("http") { return point(ofLink: text) }
    if let point = SpatialForms.point(ofBinary: text) { return point }
    if let open = text.firstIndex(of: "("), let close = text.lastIndex(of: ")"), open < close,
      ["POINT", "POLYGON", "LINESTRING"].contains(where: text[..<open].uppercased().contains)
    {
      let points = text[open..<close].filter { !"()".contains($0) }.split(separator: ",")
        .map { $0.split(separator: " ") }
      guard let numbers = points.first, numbers.count >= 2 else { return nil }
      guard points.count == 1 else {
        return center(
          of: points.map { point in
            .array(
              point.prefix(2).compactMap { JSONNumber(text: String($0)).map(JSONValue.number) })
          })
      }
      if let reference = MapReference(namedIn: text[..<open]), let x = Double(numbers[0]),
        let y = Double(numbers[1])
      {
        return reference.point(x, y)
      }
      return Point(.string(String(numbers[1])), .string(String(numbers[0])))
    }
    if text.utf8.first == UInt8(ascii: "[") || text.utf8.first == UInt8(ascii: "{"),
      let value = try? JSONValue(parsing: Array(text.utf8), limits: .small)
    {
      return value.string == nil ? point(value, in: country) : nil
    }
    if let (first, second) = AngleText.halves(of: text) {
      return point(AngleText(first), AngleText(second), isLongitudeFirst, in: country)
    }
    if text.utf8.count <= longestLabelled, let colon = text.firstIndex(of: ":"),
      HotelAliases.match(text[..<colon].utf8)?.meaning == .position
    {
      let numbers = text[colon...].dropFirst().filter { !"()".contains($0) }.trimmed
      let label = String(text[..<colon])
      return point(numbers, isLongitudeFirst: Self.isLongitudeFirst(label), in: country)
    }
    let isPoint = text.hasPrefix("(") && text.hasSuffix(")") && !text.contains(" ")
    let trimmed = text.filter { !"()[]{}".contains($0) }
    for separator in [";", ", ", ",", "/", " ", "|"] {
      let parts = trimmed.split(separator: separator, omittingEmptySubsequences: false)
        .map { String($0).trimmed }.filter { separator != " " || !$0.isEmpty }
      guard parts.count == 2 else { continue }
      return point(
        AngleText(parts[0]), AngleText(parts[1]), isLongitudeFirst || isPoint, in: country)
    }
    return nil
  }

  /// The most bytes of two numbers behind a label.
  private static let longestLabelled = 80

  /// The point of two texts in the order that they say, else in that of the member's name.
  private static func point(
    _ first: AngleText, _ second: AngleText, _ isLongitudeFirst: Bool, in country: String?
  ) -> Point? {
    let isExchanged = first.axis == .longitude || second.axis == .latitude
    let isSaid = isExchanged || first.axis == .latitude || second.axis == .longitude
    let (one, other) = (JSONValue.string(first.degrees), JSONValue.string(second.degrees))
    let (y, x) = (isSaid ? isExchanged : isLongitudeFirst) ? (other, one) : (one, other)
    return isSaid ? Point(y, x) : point(latitude: y, longitude: x, in: country)
  }

  /// Degrees as a number or as a text: `48.866`, `48,866`, `48.866°`, `2.33 W`, `48° 51' 57.6" N`. An `O` is the French and
  /// Spanish west.
  static func degrees(_ value: JSONValue) -> JSONNumber? {
    if let number = value.number { return number }
    if let values = value.array { return values.count == 1 ? degrees(values[0]) : nil }
    guard let text = value.string else { return nil }
    // A spreadsheet writes 4.88E+01, whose E is not the east.
    if let number = Double(text) { return number.isFinite ? JSONNumber(text: "\(number)") : nil }
    if let number = degreesAndMinutes(text) { return number }
    let digits = text.filter { !"NSEWOnsw°º \u{A0}".contains($0) }
      .replacing(",", with: ".").replacing("\u{2212}", with: "-")
    guard digits.utf8.allSatisfy({ "0123456789.+-e".utf8.contains($0) }),
      let number = Double(digits), number.isFinite
    else { return nil }
    let isNegative = text.contains { "SWOsw".contains($0) }
    return JSONNumber(text: "\(isNegative ? -abs(number) : number)")
  }

  /// Degrees, minutes and perhaps seconds: `48° 51' 57.6" N`, `N 48 51 57.6`, `48:51:57N`; nil for a text without minutes.
  private static func degreesAndMinutes(_ text: String) -> JSONNumber? {
    let marks = Set<Character>("°º:'\u{2032}\u{2019}\"\u{2033}\u{201D} NESWOnesw\u{A0}")
    let isMarked = text.contains { "°º:'\u{2032}\u{2019}".contains($0) }
    guard
      isMarked || [text.first, text.last].contains(where: { $0.map("NESWO".contains) ?? false })
    else { return nil }
    let parts = text.split { marks.contains($0) }.map { Double($0.replacing(",", with: ".")) }
    guard (2...3).contains(parts.count), let first = parts[0], first.isFinite,
      parts.dropFirst().allSatisfy({ part in part.map { $0 >= 0 && $0 < 60 } ?? false })
    else { return nil }
    let size = abs(first) + (parts[1] ?? 0) / 60 + (parts.count > 2 ? parts[2] ?? 0 : 0) / 3_600
    let isNegative = first.sign == .minus || text.contains { "SWOsw".contains($0) }
    let degrees = (size * 10_000_000).rounded() / 10_000_000
    return JSONNumber(text: "\(isNegative ? -degrees : degrees)")
  }
}
