import Documents

/// The parts of an address as Google's Places have them, old and new: `{"long_name": "Paris", "types": ["locality"]}`.
///
/// <https://developers.google.com/maps/documentation/places/web-service/reference/rest/v1/places#AddressComponent>
enum AddressComponents {
  /// The parts that mean something, each once.
  static func parts(of value: JSONValue) -> [HotelAliases.Meaning: String] {
    var parts: [HotelAliases.Meaning: String] = [:]
    for component in value.array ?? [] {
      let names = ["long_name", "longText", "long_text"]
      guard let text = names.lazy.compactMap({ component[$0]?.string }).first, !text.isEmpty,
        let meaning = component["types"]?.array?.lazy.compactMap({ $0.string })
          .compactMap({ meanings[$0] }).first
      else { continue }
      parts[meaning] = parts[meaning] ?? text
    }
    return parts
  }

  private static let meanings: [String: HotelAliases.Meaning] = [
    "street_number": .houseNumber, "route": .street, "locality": .city, "postal_town": .city,
    "administrative_area_level_1": .state, "country": .country, "postal_code": .postcode,
  ]
}
