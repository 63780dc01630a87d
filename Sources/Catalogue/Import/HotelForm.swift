import Documents

/// A hotel as a file has it, under whatever names and in whatever forms, and what becomes of its members.
struct HotelForm {
  /// What became of a row's members.
  var columns: [Column] = []
  /// The hotel with the documented names and forms. Members without a meaning here are kept as they are.
  var hotel = JSONObject()

  /// What became of a member.
  struct Column: Sendable, Equatable, Hashable {
    /// The member's name; `address.city` for one within another.
    let name: String
    /// The name that it has in the hotel; nil if it is not in the catalogue.
    let kept: String?

    /// Whether it is as it was.
    var isAsItWas: Bool { kept == name }

    /// Whether it says where the hotel is.
    var isPlace: Bool { ["address", "city", "state", "country", "postcode", "geo"].contains(kept) }

    /// Whether the row itself says it, not the file around it.
    var isOwnPlace: Bool { isPlace && name != GroupedLists.source }

    /// Whether it says where in its country the hotel is. In lists of bookings, the country is the guest's.
    var isPlaceInCountry: Bool { isPlace && kept != "country" }

    /// Whether it says something about the hotel.
    var isFact: Bool {
      isPlace || ["description", "phone", "url", "email", "amenities", "price"].contains(kept)
    }

    /// Whether its name means nothing here, and is none that each row has.
    var isUnknown: Bool {
      HotelAliases.match(name.utf8) == nil && !["id", "_id", "title"].contains(name)
    }

    /// Whether it is the kind of the row, and says no more than that it is a hotel.
    var isKind: Bool { isAsItWas && HotelAliases.letters(of: name.utf8) == "type" }
  }

  /// A member that may have a meaning.
  struct Source {
    let name: String
    let value: JSONValue
    /// Of two members with the same meaning, the one with the lower rank counts.
    let rank: Int
  }

  /// The country of which a row has the numbers of regions: Amap's `adcode`. Its positions have the longitude first.
  private(set) var countryOfNumbers: String?
  private(set) var sources: [HotelAliases.Meaning: Source] = [:]

  /// Reads the members of a hotel.
  /// - Parameter outside: what stands around the hotel in its row; see ``WrappedRow``.
  /// - Parameter place: the city and the country that the file's structure says.
  init(_ row: JSONObject, outside: [JSONObject], in place: JSONObject) {
    if row["adcode"] != nil || row["pcode"] != nil && row["adname"] != nil {
      countryOfNumbers = "CN"
    }
    for (name, value) in row.members where value != .null { find(name, value) }
    for object in outside {
      for (name, value) in object.members where value != .null { findOutside(name, value) }
    }
    for (name, value) in place.members {
      guard let own = HotelAliases.match(name.utf8) else { continue }
      offer(value, as: own.meaning, named: GroupedLists.source, rank: Self.rankOutside * 2)
    }
    write(row)
    noteOutside(outside)
  }

  // MARK: Finding what members mean

  private mutating func find(_ name: String, _ value: JSONValue) {
    let reading = HotelAliases.reading(of: name)
    if reading.isPostcodeAndCity, let text = value.string { return findPostcodeAndCity(name, text) }
    if let text = value.string, let outer = reading.cityAnd {
      return findCity(name, text, and: outer)
    }
    if let key = NamedValues.labelledKey(name, value) {
      if !key.text.isEmpty, let match = HotelAliases.match(key.name.utf8),
        Self.parts.contains(match.meaning)
      {
        offer(.string(key.text), as: match.meaning, named: name, rank: match.rank)
      }
      return
    }
    let isText = [.name, .description].contains(reading.match?.meaning)
    let value = NamedValues.read(value, isText: isText)
    guard let match = reading.match else {
      if HotelAliases.letters(of: name.utf8) == "addresscomponents" {
        for (meaning, text) in AddressComponents.parts(of: value) {
          offer(.string(text), as: meaning, named: name, rank: Self.rankOfComponents)
        }
      }
      if HotelAliases.isContainer(name) { findWithin(name, value, isContainer: true) }
      findPrice(name, value)
      return
    }
    if Self.mayContain.contains(match.meaning) {
      // The first of the five values of Socrata's location is the address as a text.
      let values = value.array ?? []
      let inner = values.count == 5 && values[0].string != nil ? values[0] : value
      findWithin(name, inner, isContainer: HotelAliases.isContainer(name))
    }
    if [.address, .position].contains(match.meaning),
      let located = value.string.flatMap(LocatedAddress.init)
    {
      let rank = match.rank + Self.rankOfComponents
      offer(.string(located.address), as: .address, named: name, rank: rank)
      offer(.string(located.position), as: .position, named: name, rank: rank)
      return
    }
    guard Self.reads(value, as: match.meaning, named: name) else {
      if match.meaning == .position, let text = value.string { findLocation(name, text) }
      return
    }
    let isDoubtful = match.meaning == .position && PositionForms.isDoubtful(value, named: name)
    let meaning =
      switch match.meaning {
      case .state: Self.meaning(ofRegion: value, named: name)
      case .country: Self.meaning(ofCountry: value, named: name)
      default: match.meaning
      }
    let rank = match.rank + (isDoubtful ? Self.rankOfDoubt : 0)
    offer(value, as: meaning, named: name, rank: rank)
  }

  /// Finds the two parts of `80331 München`, `D 80331 München` and `1012 AB Amsterdam`. `76600 Le Havre` and `80190 Y` have no
  /// such letters.
  private mutating func findPostcodeAndCity(_ name: String, _ text: String) {
    // DATAtourisme writes `75001#Paris`.
    let words = text.trimmed.split { " #".contains($0) }
    func hasDigit(_ word: Substring) -> Bool { word.utf8.contains { (0x30...0x39).contains($0) } }
    let count = words.indices.prefix { index in
      let word = words[index]
      guard !hasDigit(word), index + 1 < words.count else { return hasDigit(word) }
      return word.utf8.count < 3 && word.utf8.allSatisfy { (0x41...0x5A).contains($0) }
        && (index == 0 ? hasDigit(words[1]) : words[index - 1].utf8.count == 4)
    }.count
    let (code, city) = (words.prefix(count), words.dropFirst(count))
    for (meaning, part) in [(HotelAliases.Meaning.postcode, code), (.city, city)]
    where !part.isEmpty {
      let text = JSONValue.string(part.joined(separator: " "))
      offer(text, as: meaning, named: name, rank: Self.rankOfDoubt)
    }
  }

  /// Finds what a location in words says: an address, unless all of its parts are names of places, as `Dubai` and
  /// `Paris, France` are. Of `Shibuya, Tokyo`, the last one is. A number is how good the location is.
  private mutating func findLocation(_ name: String, _ text: String) {
    guard Self.locations.contains(HotelAliases.letters(of: name.utf8)),
      text.contains(where: \.isLetter), !PrintedObject.isOne(text),
      Self.reads(.string(text), as: .address, named: name)
    else { return }
    let parts = text.split(separator: ",").map { String($0).trimmed }
    var found: [HotelAliases.Meaning] = []
    for part in parts.suffix(Self.mostParts).reversed() {
      guard let (member, value) = GroupedLists.place(named: part).object.members.first,
        let meaning = HotelAliases.Meaning(rawValue: member), !found.contains(meaning)
      else { continue }
      found.append(meaning)
      offer(value, as: meaning, named: name, rank: Self.rankOfDoubt)
    }
    if found.count < parts.count { offer(.string(text), as: .address, named: name, rank: 50) }
  }

  private static let locations = ImportWords.location.letters
  /// How many of the last parts of a location may be names of places.
  private static let mostParts = 3

  /// Finds the two parts of `Austin, TX` and `Paris, France`.
  private mutating func findCity(_ name: String, _ text: String, and outer: HotelAliases.Meaning) {
    let comma = text.lastIndex { ",/".contains($0) } ?? text.endIndex
    for (meaning, part) in [(.city, text[..<comma]), (outer, text[comma...].dropFirst())] {
      let part = String(part).trimmed
      guard !part.isEmpty, !TableLine.isMissing(part, isCountry: true) else { continue }
      offer(.string(part), as: meaning, named: name, rank: Self.rankOfDoubt)
    }
  }

  /// What is under `kraj`: a country in Polish, a region in Czech.
  private static func meaning(
    ofCountry value: JSONValue, named name: String
  ) -> HotelAliases.Meaning {
    guard HotelAliases.letters(of: name.utf8) == "kraj", let text = TextForms.text(value),
      PlaceNames.all.code(of: text) == nil
    else { return .country }
    return .state
  }

  /// What a region is that says its type, as RateHawk's do: `{"name": "Paris", "type": "City", "country_code": "FR"}`. TBO has
  /// countries under `countyName`.
  private static func meaning(
    ofRegion value: JSONValue, named name: String
  ) -> HotelAliases.Meaning {
    if name.trimmed == "countyName", let text = value.string,
      PlaceNames.all.code(of: text) != nil
    {
      return .country
    }
    return switch value.object?["type"]?.string.map({ HotelAliases.letters(of: $0.utf8) }) {
    case "city", "multicity", "multicityvicinity", "town", "village": .city
    case "country": .country
    default: .state
    }
  }

  /// Finds members of an address or a location, or of a container, which may also have a position, a price and a
  /// description, and of addresses and locations in those.
  private mutating func findWithin(
    _ outer: String, _ value: JSONValue, isContainer: Bool = false, rank: Int = 0
  ) {
    guard let object = NamedValues.object(value) else { return }
    for (name, value) in object.members where value != .null {
      // A prefix leaves out the meanings that only a hotel itself has.
      let local = name.split { "/#:".contains($0) }.last ?? name[...]
      var match = HotelAliases.match("address\(local)".utf8)
      if match?.meaning == .position {
        match =
          value.object != nil && PositionForms.point(value, named: name) != nil
          ? HotelAliases.Match(meaning: .position, rank: Self.rankOfComponents) : nil
      }
      // The number of a contact or of a custom field is no house's.
      if isContainer, match?.meaning == .houseNumber, ["number", "nr"].contains(local.lowercased())
      {
        match = nil
      }
      if isContainer, match == nil, let own = HotelAliases.match(name.utf8),
        [.position, .price, .description].contains(own.meaning)
      {
        match = HotelAliases.Match(meaning: own.meaning, rank: own.rank + Self.rankOfComponents)
      }
      // Mapbox's context has the city as a place.
      if match == nil, local == "place", outer == "context" {
        match = HotelAliases.Match(meaning: .city, rank: Self.rankOfComponents)
      }
      // Booking.com's contacts have several purposes, and Socrata's locations have the address as a text.
      if match == nil, ["general", "human_address"].contains(name),
        !outer.utf8.contains(UInt8(ascii: "."))
      {
        findWithin(outer + "." + name, value, isContainer: isContainer, rank: rank)
      }
      // A name within an address may say by itself what it is: `propertyCity`.
      if match == nil, let own = HotelAliases.match(name.utf8), Self.parts.contains(own.meaning) {
        match = HotelAliases.Match(meaning: own.meaning, rank: own.rank + Self.rankOfComponents)
      }
      guard let match else { continue }
      let path = outer + "." + name
      if Self.mayContain.contains(match.meaning), !outer.utf8.contains(UInt8(ascii: ".")) {
        findWithin(path, value, isContainer: isContainer, rank: rank)
      }
      guard Self.reads(value, as: match.meaning, named: name) else { continue }
      offer(value, as: match.meaning, named: path, rank: match.rank + rank)
    }
  }

  /// Finds the price in a member that may have it. One whose name says that it is the price counts more.
  private mutating func findPrice(_ name: String, _ value: JSONValue, rank: Int = 0) {
    guard value.object != nil || value.array?.contains(where: { $0.object != nil }) == true,
      PriceForms.isContainer(name), let text = PriceForms.text(value),
      PriceForms.isPrice(text, in: name)
    else { return }
    offer(value, as: .price, named: name, rank: Self.rankOfPriceContainers + rank)
  }

  private static let rankOfPriceContainers = 500

  private mutating func findOutside(_ name: String, _ value: JSONValue) {
    findPrice(name, value, rank: Self.rankOutside)
    if HotelAliases.isContainer(name) {
      findWithin(name, value, isContainer: true, rank: Self.rankOutside)
    }
    guard let match = HotelAliases.match(name.utf8), Self.outer.contains(match.meaning),
      Self.reads(value, as: match.meaning, named: name)
    else { return }
    offer(value, as: match.meaning, named: name, rank: match.rank + Self.rankOutside)
  }

  /// Sets the id under which the hotel is in the catalogue.
  mutating func setID(_ id: String) {
    hotel = JSONObject([("id", JSONValue.string(id))] + hotel.members.map { ($0.name, $0.value) })
  }

  private mutating func offer(
    _ value: JSONValue, as meaning: HotelAliases.Meaning, named name: String, rank: Int
  ) {
    if let other = sources[meaning], other.rank <= rank { return }
    sources[meaning] = Source(name: name, value: value, rank: rank)
  }

  /// What is also read from around the hotel.
  private static let outer: Set<HotelAliases.Meaning> = [.position, .latitude, .longitude, .price]
  private static let rankOutside = 1_000
  /// What an address consists of.
  private static let parts: Set<HotelAliases.Meaning> = [
    .address, .street, .city, .state, .country, .postcode, .latitude, .longitude,
  ]
  /// Parts of an address count less than a member by itself.
  private static let rankOfComponents = 150
  /// The members in which others of the hotel may be.
  private static let mayContain: Set<HotelAliases.Meaning> = [
    .position, .address, .street, .state, .city,
  ]
  /// Two numbers count less than a position that says which is the latitude.
  private static let rankOfDoubt = 1_500
  /// Names for a house's number that may also be for the row's.
  static let rowNumbers: Set<String> = ["numero", "numer", "nro", "num", "nr", "no"]

  /// Whether a value can have a meaning.
  private static func reads(
    _ value: JSONValue, as meaning: HotelAliases.Meaning, named name: String
  ) -> Bool {
    if meaning != .name, let text = value.string,
      TableLine.isMissing(text, isCountry: meaning == .country || meaning == .state)
    {
      return false
    }
    return switch meaning {
    case .id: false
    case .position: PositionForms.point(value, named: name) != nil
    case .latitude, .longitude:
      // Whole degrees have their minutes in another column.
      PositionForms.degrees(value) != nil
        && (!HotelAliases.letters(of: name.utf8).hasSuffix("deg")
          || (value.number?.text ?? value.string ?? ".").contains { !"+-0123456789".contains($0) })
    // A number is how good they are.
    case .amenities:
      AmenityForms.texts(value) != nil && value.string.flatMap { Double($0) } == nil
    case .category: TextForms.text(value) != nil
    case .price:
      (value.number != nil || value.string != nil || PriceForms.text(value) != nil)
        // Without a currency, a rate is how good the hotel is.
        && (HotelAliases.letters(of: name.utf8) != "rate"
          || (name + (value.string ?? "")).unicodeScalars.contains {
            $0.properties.generalCategory == .currencySymbol
          })
    case .name:
      // Google's places have their path under `name`, Wikidata's hotels their URI under `hotel`.
      value.number == nil && TextForms.text(value)?.isEmpty == false
        && !(HotelAliases.isLodging(name) && isFlag(value))
        && !["places/", "http://", "https://"].contains { value.string?.hasPrefix($0) == true }
    case .description: TextForms.description(value)?.isEmpty == false
    case .phone: TextForms.contact(value) != nil
    // Under `Site` may be its name, under `ホームページ有無` whether there is one, and under `Internet` a sentence.
    case .url:
      TextForms.contact(value)?.split(separator: " ").contains { word in
        word.dropLast().contains { ".:/".contains($0) }
      } == true
    // Digits are the number of a letter: `mail_id`.
    case .email:
      TextForms.contact(value)?.utf8.contains { !(0x30...0x39).contains($0) } == true
    // A number is a key of another table, but in a table may be that of a département.
    case .city, .country:
      value.number == nil && !isLink(value)
        && TextForms.text(value)?.utf8.contains { !(0x30...0x39).contains($0) } == true
    case .state:
      value.number == nil && !isLink(value)
        // A LAN has the letters of the Swedish län.
        && TextForms.text(value).map { !["", "0", "1", "yes", "no"].contains($0.lowercased()) }
          == true
    default: TextForms.text(value)?.isEmpty == false
    }
  }

  /// Whether a list has the keys of Airtable's records: `["recA1B2C3D4E5F6G7"]`.
  private static func isLink(_ value: JSONValue) -> Bool {
    guard let keys = value.array, !keys.isEmpty else { return false }
    return keys.allSatisfy { key in
      guard let text = key.string, text.hasPrefix("rec"), text.utf8.count == 17 else {
        return false
      }
      return text.utf8.allSatisfy { (0x30...0x7A).contains($0) }
    }
  }

  /// Whether what stands under `hotel` is no name: a part of the row, the answer whether it is a hotel, or its number.
  private static func isFlag(_ value: JSONValue) -> Bool {
    guard let text = value.string else { return value.object != nil }
    return text.utf8.allSatisfy { (0x30...0x39).contains($0) }
      || ["y", "n", "x", "yes", "no", "true", "false"].contains(text.lowercased())
      || HotelKinds.isHotel(text)
  }
}
