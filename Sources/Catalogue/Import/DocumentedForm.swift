import Documents

/// The documented form of a hotel, which most files that were made for this service have.
enum DocumentedForm {
  /// Whether a row has an id and a name, and all members that ``HotelAliases`` knows are as they are documented.
  static func fits(_ row: JSONNode) -> Bool {
    var (hasID, hasName) = (false, false)
    for member in row.members {
      let name = member.name
      switch name {
      case "id", "_id", "docid":
        guard isID(member.value) else { return false }
        hasID = true
      case "type": guard member.value.stringEquals("hotel") else { return false }
      case "name":
        guard let text = member.value.string, isPlain(text), !text.trimmed.isEmpty,
          !text.utf8.contains(where: { $0 < 0x20 })
        else { return false }
        hasName = true
      case "title", "description", "address", "city", "state", "country", "phone", "url", "email",
        "postcode":
        guard member.value.isNull || member.value.string.map(isPlain) == true else { return false }
      case "amenities":
        guard member.value.isNull || member.value.kind == .array,
          member.value.elements.allSatisfy({ $0.string.map(isPlain) == true })
        else { return false }
      case "geo":
        guard member.value.isNull || isPosition(member.value) else { return false }
      case "price", "category":
        guard [.null, .number, .string].contains(member.value.kind) else { return false }
      default:
        let reading = HotelAliases.reading(of: name)
        guard reading.match == nil, reading.cityAnd == nil, !HotelAliases.isContainer(name),
          !AmenityFlags.isOne(name, member.value),
          member.value.kind != .array && member.value.kind != .object
            || !name.hasSuffix("_id") && !PriceForms.isContainer(name)
        else { return false }
      }
    }
    return hasID && hasName
  }

  private static func isID(_ value: JSONNode) -> Bool {
    if let number = value.int { return number >= 0 }
    guard let text = value.string else { return false }
    return !text.isEmpty && text != "None" && !text.utf8.contains(UInt8(ascii: "."))
      && text.utf8.first != UInt8(ascii: "-")
  }

  private static func isPosition(_ value: JSONNode) -> Bool {
    value["lat"]?.kind == .number && value["lon"]?.kind == .number
      && (value["lat"]?.double != 0 || value["lon"]?.double != 0)
  }

  /// Whether a text can't have HTML in it, is no object's text, and does not say that there is none.
  private static func isPlain(_ text: String) -> Bool {
    !text.utf8.contains { $0 == UInt8(ascii: "<") || $0 == UInt8(ascii: "&") }
      && text.utf8.first != UInt8(ascii: "{") && !TableLine.isMissing(text)
  }
}
