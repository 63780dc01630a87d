import JSON

/// Places that geocoders answer with the name under a word of their own.
///
/// Mapbox's geocoding, version 5, answers a GeoJSON feature with the name in `text` and the city in `context`, beside the
/// properties. Kakao's search answers the name in `place_name`.
/// - Mapbox: <https://docs.mapbox.com/api/search/geocoding-v5/#geocoding-response-object>
/// - Kakao: <https://developers.kakao.com/docs/latest/en/local/dev-guide#search-by-keyword>
enum GeocoderRow {
  /// The row with the names that others use, too; nil for another row.
  static func plain(_ row: JSONObject) -> JSONObject? {
    mapbox(row) ?? kakao(row) ?? pinboard(row)
  }

  /// Pinboard's bookmark has its title under `description` and its text under `extended`.
  /// <https://pinboard.in/api#posts_all>
  private static func pinboard(_ row: JSONObject) -> JSONObject? {
    guard let title = row["description"], let text = row["extended"], let link = row["href"] else {
      return nil
    }
    var hotel = row
    for name in ["description", "extended", "href"] { hotel[name] = nil }
    for (name, value) in [("name", title), ("description", text), ("url", link)] {
      hotel.append(name, value)
    }
    return hotel
  }

  private static func kakao(_ row: JSONObject) -> JSONObject? {
    guard let name = row["place_name"], row["address_name"] != nil, !WrappedRow.hasName(row) else {
      return nil
    }
    var hotel = row
    hotel["place_name"] = nil
    hotel.append("name", name)
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
