import Documents

/// What of a hotel searches look at, field by field.
struct HotelText: Sendable {
  /// What the hotel is called.
  let name: String
  /// The heading that the hotel was listed under, and its other name.
  let title: String
  /// What is said about it.
  let description: String
  /// What it offers: the strings of `amenities`, and the names of the members that are `true`, such as
  /// `free_breakfast`.
  let amenities: String
  /// Its street and number.
  let address: String
  /// Its town.
  let city: String
  /// Its state, region or county.
  let state: String
  /// Its country.
  let country: String
  /// What orders go by.
  let keys: SortKeys

  /// Reads a hotel's object. A field that is absent, null or no string is empty.
  init(_ hotel: JSONNode) {
    var text: [String: String] = [:]
    var amenities: [String] = []
    for member in hotel.members {
      let name = member.name
      if let value = member.value.string {
        text[name] = value
      } else if member.value.bool == true {
        amenities.append(Self.words(ofName: name))
      } else if name.equalsBytes(of: "amenities") {
        amenities += member.value.elements.compactMap(\.string)
      }
    }
    self.name = text["name"] ?? ""
    title = [text["title"], text["alias"]].compactMap { $0 }.joined(separator: "\n")
    description = text["description"] ?? ""
    self.amenities = (amenities + [text["amenities"]].compactMap { $0 }).joined(separator: "\n")
    address = text["address"] ?? ""
    city = text["city"] ?? ""
    state = text["state"] ?? ""
    country = text["country"] ?? ""
    keys = SortKeys(hotel)
  }

  private static func words(ofName name: String) -> String {
    String(decoding: name.utf8.map { $0 == UInt8(ascii: "_") ? 0x20 : $0 }, as: UTF8.self)
  }
}
