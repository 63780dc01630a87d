import Documents

/// Amenities with a member each: `wifi,pool` above `1,0`, `hasParking: true`, `amenities.spa`, `facilities/0`.
enum AmenityFlags {
  struct Found {
    var texts: [String] = []
    /// The members that are part of a list of amenities. A member such as `wifi` stays beside the list.
    var parts: [String] = []
  }

  /// Nil if no member is one.
  static func read(_ row: JSONObject) -> Found? {
    var (found, isEmpty) = (Found(), true)
    for (name, value) in row.members where value != .null {
      if let part = part(of: name) {
        let steps = part.split { isSign($0) }
        let isNumbered = steps.first?.utf8.allSatisfy { (0x30...0x39).contains($0) } == true
        if isNumbered, steps.count < 3 {
          // `amenities/0/name`; beside it may be the amenity's id.
          guard steps.count == 1 || texts.contains(steps[1].lowercased()),
            let text = TextForms.text(value), !text.isEmpty
          else { continue }
          found.texts.append(text)
        } else {
          guard let isThere = flag(value) else { continue }
          if isThere { found.texts.append(words(part)) }
        }
        found.parts.append(name)
      } else {
        guard let isThere = flag(value), isAmenity(name) else { continue }
        if isThere { found.texts.append(words(name)) }
      }
      isEmpty = false
    }
    return isEmpty ? nil : found
  }

  /// Whether a member is one.
  static func isOne(_ name: String, _ value: JSONNode) -> Bool {
    if part(of: name) != nil { return true }
    switch value.kind {
    case .null, .array, .object: return false
    default: return flag(value.value) != nil && isAmenity(name)
    }
  }

  /// Whether a value says yes or no; nil if it says something else.
  static func flag(_ value: JSONValue) -> Bool? {
    switch value {
    case .bool(let flag): flag
    case .number(let number): number.text == "1" ? true : number.text == "0" ? false : nil
    case .string(let text):
      // Longer ones are none, and each row has many texts.
      text.utf8.count > 12 ? nil : flags[text.lowercased()]
    default: nil
    }
  }

  private static let flags = Dictionary(
    ImportWords.yes.list.map { ($0, true) } + ImportWords.no.list.map { ($0, false) },
    uniquingKeysWith: { $1 })

  /// What stands behind a word for amenities and a sign: `spa` in `amenities.spa`, `0` in `facilities/0`, `0]` in
  /// `amenities[0]`.
  private static func part(of name: String) -> Substring? {
    guard let end = name.firstIndex(where: isSign),
      HotelAliases.table[HotelAliases.letters(of: name[..<end].utf8)]?.meaning == .amenities
    else { return nil }
    let part = name[end...].drop { isSign($0) || $0 == " " }
    return part.isEmpty || numbers.contains(part.lowercased()) ? nil : part
  }

  private static func isSign(_ character: Character) -> Bool { "._/[]:".contains(character) }

  /// Names of an amenity's text in an object with facts about it.
  private static let texts: Set<String> = ["name", "title", "label", "text"]

  /// What says how many or how much there is, or in which language: the 1 or 0 of `features.rooms` and `services_fee` is no
  /// yes or no.
  private static let numbers = ImportWords.amount.set

  private static func isAmenity(_ name: String) -> Bool {
    guard name.utf8.count <= 40, !documented.contains(name) else { return false }
    var letters = HotelAliases.letters(of: name.utf8)
    if amenities.contains(letters) { return true }
    if let start = starts.first(where: letters.hasPrefix) { letters.removeFirst(start.count) }
    if amenities.contains(letters) { return true }
    if let end = ends.first(where: letters.hasSuffix) { letters.removeLast(end.count) }
    return amenities.contains(letters)
  }

  /// Members of travel-sample's hotels, which stay as they are.
  private static let documented: Set<String> = [
    "free_breakfast", "free_internet", "free_parking", "pets_ok",
  ]
  private static let starts = ImportWords.amenityStart.list
  private static let ends = ImportWords.amenityEnd.list

  private static let amenities = ImportWords.amenityFlag.letters

  /// The words of a name: `pets allowed` for `petsAllowed`, `pool` for `has_pool`, `cable tv` for `cableTV`.
  static func words(_ name: some StringProtocol) -> String {
    var text = String(name).replacing("_", with: " ")
    if !text.contains(" "), text.first?.isLowercase == true {
      text = zip(text, " " + text).map { letter, before in
        (letter.isUppercase && !before.isUppercase ? " " : "") + letter.lowercased()
      }.joined()
    }
    if let first = text.split(separator: " ").first, ["has", "is"].contains(first.lowercased()),
      text.count > first.count
    {
      text = String(text.dropFirst(first.count)).trimmed
    }
    return text
  }
}
