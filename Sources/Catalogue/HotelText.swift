import Documents

/// The texts of a hotel that searches read, field by field.
struct HotelText: Sendable {
  let name: String
  /// The heading under which the hotel was listed, its alias, and its category.
  let title: String
  let description: String
  /// Its amenities: the strings of `amenities`, and the names of the members that are `true`, for example
  /// `free_breakfast`.
  let amenities: String
  /// Its phone numbers and the host of its site, as ``SpelledQuery`` has them.
  let contacts: [String]
  /// Its street and number.
  let address: String
  let city: String
  /// Its state, region or county.
  let state: String
  let country: String
  let keys: SortKeys

  /// Reads a hotel's object. A field that is absent, null or not a string is empty.
  init(_ hotel: JSONNode) {
    var text: [String: String] = [:]
    var amenities: [String] = []
    for member in hotel.members {
      let name = member.name
      if let value = member.value.string {
        text[name] = value
      } else if member.value.bool == true {
        amenities.append(name.replacing("_", with: " "))
      } else if name.equalsBytes(of: "amenities") {
        amenities += member.value.elements.compactMap(\.string)
      }
    }
    self.name = text["name"] ?? ""
    title = [text["title"], text["alias"], text["category"]].compactMap { $0 }.joined(
      separator: "\n")
    description = text["description"] ?? ""
    self.amenities = (amenities + [text["amenities"]].compactMap { $0 }).joined(separator: "\n")
    contacts =
      [text["phone"], text["tollfree"]].compactMap { $0 }.flatMap(SpelledQuery.phones(in:))
      + [text["url"].flatMap(SpelledQuery.site(in:))].compactMap { $0 }
    address = text["address"] ?? ""
    city = text["city"] ?? ""
    state = text["state"] ?? ""
    country = text["country"] ?? ""
    keys = SortKeys(hotel)
  }
}

/// The effect of a scalar on the word that contains it: the classes of Unicode Standard Annex 29, table 3, as far
/// as they end or join words.
enum WordScalar: Equatable {
  /// Joins with letters and digits.
  case letter
  /// Joins with letters and digits.
  case digit
  /// A word by itself: ideographs and Hiragana.
  case single
  /// Joins the scalars before and after it, as `_` does.
  case connector
  /// Is part of a word between two letters, as `·` is.
  case middleOfWord
  /// Is part of a word between two digits, as `,` is.
  case middleOfNumber
  /// Is part of a word between two letters or two digits, as `'` and `.` are.
  case middleOfBoth
  /// Belongs to the scalar before it: combining marks and format characters.
  case extend
  /// Ends a word.
  case other

  init(_ scalar: Unicode.Scalar) {
    switch scalar.value {
    case 0x41...0x5A, 0x61...0x7A: self = .letter
    case 0x30...0x39: self = .digit
    case 0x5F: self = .connector
    case 0x27, 0x2E, 0x2018, 0x2019, 0x2024: self = .middleOfBoth
    case 0x3A, 0xB7, 0x2027: self = .middleOfWord
    case 0x2C, 0x3B: self = .middleOfNumber
    case 0..<0x80: self = .other
    case 0x3041...0x3096: self = .single
    default: self = Self.beyondASCII(scalar.properties)
    }
  }

  private static func beyondASCII(_ properties: Unicode.Scalar.Properties) -> WordScalar {
    if properties.isIdeographic { return .single }
    switch properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter,
      .letterNumber:
      return .letter
    case .decimalNumber: return .digit
    case .connectorPunctuation: return .connector
    case .nonspacingMark, .spacingMark, .enclosingMark, .format: return .extend
    default: return .other
    }
  }

  /// The class that must follow this mark after `previous` for the word to continue; nil if the word ends here.
  func bridges(_ previous: WordScalar) -> WordScalar? {
    switch (self, previous) {
    case (.middleOfWord, .letter), (.middleOfBoth, .letter): .letter
    case (.middleOfNumber, .digit), (.middleOfBoth, .digit): .digit
    default: nil
    }
  }
}
