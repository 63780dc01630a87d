import Documents
import Hotels

/// The id of a row's hotel.
enum RowID {
  /// The id in the hotel or around it; in a map, the key. Nil if there is none.
  /// - Throws: ``RowFault`` for an id that is neither a text nor a whole number.
  static func text(of row: WrappedRow, isKeyed: Bool) throws -> String? {
    for object in [row.hotel] + row.outside {
      // The ids of nodes, ways and relations are not unique together.
      if WrappedRow.isElement(object), let type = object["type"]?.string,
        let number = object["id"]?.number
      {
        return type + "/" + number.text
      }
      for name in names {
        if let text = try text(object[name]) { return text }
      }
      // Django's fixtures. In DynamoDB, several rows may have one `pk`.
      if object["model"] != nil, let text = try text(object["pk"]) { return text }
      // Contentful: <https://www.contentful.com/developers/docs/concepts/data-model/>
      // XML that became JSON has attributes in a member of their own.
      for name in ["sys", "$", "@attributes", "_attributes"] {
        if let text = object[name]?.object?["id"]?.string, !text.isEmpty {
          return wholeNumber(text) ?? text
        }
      }
      let named = object.members.compactMap { name, value in
        HotelAliases.match(name.utf8).flatMap {
          $0.meaning == .id ? (rank: $0.rank, value: value) : nil
        }
      }
      if let text = try named.min(by: { $0.rank < $1.rank }).flatMap({ try text($0.value) }) {
        return text
      }
      for name in ["item", "hotel", "place"] {
        if let item = object[name]?.string, item.hasPrefix(entity) {
          return String(item.dropFirst(entity.count))
        }
      }
      // The last part of a path in Firestore.
      if let path = object["name"]?.string, path.hasPrefix("projects/") {
        return path.split(separator: "/").last.map(String.init)
      }
    }
    // The name of a wrapper is no id, unless it counts: `{"hotel_1": {…}}` on a line.
    return row.key.flatMap { key in
      isKeyed && !OutlineRank.isHotels(key) || key.utf8.contains { (0x30...0x39).contains($0) }
        ? key : nil
    }
  }

  /// What stands before the id of an item of Wikidata.
  private static let entity = "http://www.wikidata.org/entity/"
  /// The members that say the id, in this order.
  private static let names = ["_id", "id", "docid", "xid"]

  /// The id of a hotel that has none: the same for the same name at the same place, whatever its price is today.
  static func computed(for hotel: JSONObject, named name: String) -> String {
    var facts = [name] + ["address", "city", "state", "country"].map { hotel[$0]?.string ?? "" }
    if facts[1].isEmpty { facts += ["lat", "lon"].map { hotel["geo"]?[$0]?.number?.text ?? "" } }
    return Hotel.id(ofFacts: facts)
  }

  private static func text(_ value: JSONValue?) throws -> String? {
    switch value {
    case nil, .null: return nil
    case .string(let text):
      guard !text.isEmpty, text != "None" else { return nil }
      return wholeNumber(text) ?? text
    case .number(let number):
      guard let whole = wholeNumber(number.text) ?? exact(number) else { throw notAnID }
      return whole
    case .object(let object):
      guard let inner = object["id"] ?? object["value"], inner.object == nil else { throw notAnID }
      return try text(inner)
    case .bool, .array: throw notAnID
    }
  }

  /// `hotel_N` for the text of a whole number, perhaps with zeros after a point as spreadsheets write it. An integer of
  /// any size keeps its digits.
  private static func wholeNumber(_ text: String) -> String? {
    let isNegative = text.utf8.first == UInt8(ascii: "-")
    let parts = text.utf8.dropFirst(isNegative ? 1 : 0).split(
      separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), (1...mostDigits).contains(parts[0].count),
      parts[0].allSatisfy({ (0x30...0x39).contains($0) }),
      parts.count == 1 || !parts[1].isEmpty && parts[1].allSatisfy({ $0 == 0x30 })
    else { return nil }
    return "hotel_" + (isNegative ? "-" : "") + String(Substring(parts[0]))
  }

  /// `hotel_N` for a whole number with an exponent.
  private static func exact(_ number: JSONNumber) -> String? {
    number.double.flatMap { Int(exactly: $0) }.map { "hotel_\($0)" }
  }

  /// The most digits of a number that is an id.
  private static let mostDigits = 40
  private static let notAnID = RowFault("The row's id is neither a text nor a whole number.")
}
