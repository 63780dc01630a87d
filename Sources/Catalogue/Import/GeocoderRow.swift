import Documents

/// Places that geocoders answer with the name under a word of their own.
///
/// Mapbox's geocoding, version 5, answers a GeoJSON feature with the name in `text` and the city in `context`, beside the
/// properties. Kakao's search answers the name in `place_name`.
/// - Mapbox: <https://docs.mapbox.com/api/search/geocoding-v5/#geocoding-response-object>
/// - Kakao: <https://developers.kakao.com/docs/latest/en/local/dev-guide#search-by-keyword>
enum GeocoderRow {
  /// The row with the names that others use, too; nil for another row.
  static func plain(_ row: JSONObject) -> JSONObject? {
    if let hotel = mapbox(row) { return hotel }
    if row["address_name"] != nil, !WrappedRow.hasName(row) {
      return renamed(row, [("place_name", "name")])
    }
    // Pinboard's bookmark has its title under `description`: <https://pinboard.in/api#posts_all>
    let pinboard = [("description", "name"), ("extended", "description"), ("href", "url")]
    return renamed(row, pinboard)
  }

  /// The row with other names for its members; nil if one is missing.
  private static func renamed(_ row: JSONObject, _ names: [(String, String)]) -> JSONObject? {
    var hotel = row
    for (old, new) in names {
      guard let value = hotel[old] else { return nil }
      hotel[old] = nil
      hotel.append(new, value)
    }
    return hotel
  }

  /// The members of the feature and of its properties, as those of one hotel.
  private static func mapbox(_ row: JSONObject) -> JSONObject? {
    guard row["type"]?.string == "Feature", let name = row["text"]?.string,
      row["place_name"]?.string != nil, let properties = row["properties"]?.object,
      !WrappedRow.hasName(properties)
    else { return nil }
    var hotel = JSONObject()
    hotel.append("name", .string(name))
    for member in ["id", "geometry"] {
      if let value = row[member] { hotel.append(member, value) }
    }
    for (member, value) in properties.members where hotel[member] == nil {
      hotel.append(member, value)
    }
    for part in row["context"]?.array ?? [] {
      guard let id = part["id"]?.string, let text = part["text"],
        let member = parts.first(where: { id.hasPrefix($0.prefix + ".") })?.member,
        hotel[member] == nil
      else { continue }
      hotel.append(member, text)
    }
    return hotel
  }

  /// The kinds of places around the hotel, with the members that they become.
  private static let parts: [(prefix: String, member: String)] = [
    ("place", "city"), ("region", "state"), ("country", "country"), ("postcode", "postcode"),
  ]
}
