import Documents
import Hotels

/// A hotel as the travel-sample's routes write it.
struct TravelHotel {
  /// The address, city, state and country that there are, joined by ", ".
  let fullAddress: String
  /// City, country, description, name and state, null where unknown.
  let facts: [(name: String, value: JSONValue)]

  init(_ hotel: Hotel) throws(DocumentError) {
    let parsed: ParsedJSON
    do { parsed = try ParsedJSON(hotel.body.bytes, limits: .document) } catch {
      throw DocumentError(error)
    }
    let root = parsed.root
    fullAddress = ["address", "city", "state", "country"].compactMap { root[$0]?.string }
      .filter { !$0.isEmpty }.joined(separator: ", ")
    facts = ["city", "country", "description", "name", "state"].map { name in
      (name, root[name]?.string.map { .string($0) } ?? .null)
    }
  }
}
