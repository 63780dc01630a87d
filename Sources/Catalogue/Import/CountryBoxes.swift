/// Where countries are, roughly, to tell a latitude from a longitude.
///
/// Source: Natural Earth 1:50,000,000, "Admin 0 – map subunits", which is in the public domain; in whole degrees. Parts of
/// countries beyond 90° east or west are left out, because the numbers tell there.
enum CountryBoxes {
  /// Whether a point is in a country; nil for a country that has no box.
  /// - Parameter code: the country's code with two letters.
  static func contains(latitude: Double, longitude: Double, country code: String) -> Bool? {
    byCountry[code]?.contains { $0.contains(latitude, longitude) }
  }

  /// The countries that have a city of this name, by their codes.
  static func countries(ofCity city: String) -> [String] {
    let (name, cities) = (PlaceNames.key(city), PlaceNames.all.cities)
    return codes.filter { cities[$0 + " " + name] != nil }
  }

  private struct Box {
    let west, south, east, north: Double

    /// - Parameter text: the four numbers with commas between them.
    init?(_ text: Substring) {
      let numbers = text.split(separator: ",").compactMap { Double($0) }
      guard numbers.count == 4 else { return nil }
      (west, south, east, north) = (numbers[0], numbers[1], numbers[2], numbers[3])
    }

    func contains(_ latitude: Double, _ longitude: Double) -> Bool {
      west <= longitude && longitude <= east && south <= latitude && latitude <= north
    }
  }

  private static let byCountry: [String: [Box]] = {
    var boxes: [String: [Box]] = [:]
    for country in ImportWords.box.list {
      let fields = country.split(separator: ";")
      boxes[String(fields[0])] = fields.dropFirst().compactMap(Box.init)
    }
    return boxes
  }()

  private static let codes = byCountry.keys.sorted()
}
