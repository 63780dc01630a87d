import Documents

/// Writing the hotel with the documented names.
extension HotelForm {
  /// A member of the hotel, made of members of the row.
  private struct Made {
    let name: String
    let value: JSONValue
    /// The names of the members that it is made of.
    let from: [String]
  }

  /// The members of which others are made. A row may have many, and each is looked for.
  private struct Used {
    /// Those of which something is made as a whole.
    private(set) var whole: Set<String> = []
    private var around: Set<String> = []

    init(by made: [Made]) {
      for name in made.lazy.flatMap(\.from) {
        whole.insert(name)
        // A member is read two levels deep. More points are the name's own, and so is one at its end: Nr, Nr.
        for end in name.indices.dropLast().lazy.filter({ name[$0] == "." }).prefix(8) {
          around.insert(String(name[..<end]))
        }
      }
    }

    /// Whether something is made of a member, or of one within it.
    func has(_ name: String) -> Bool { whole.contains(name) || around.contains(name) }
  }

  /// The members that are texts, with their documented names.
  private static let textNames: [(meaning: HotelAliases.Meaning, name: String)] = [
    (.name, "name"), (.description, "description"), (.city, "city"), (.state, "state"),
    (.country, "country"), (.postcode, "postcode"), (.phone, "phone"), (.url, "url"),
    (.email, "email"),
  ]
  /// Documented members. If one can't be read, it has no place in a hotel; see `HotelShape`.
  private static let documented: Set<String> = [
    "name", "title", "description", "address", "city", "state", "country", "phone", "url",
    "amenities", "geo", "bookmarked", "type",
  ]
  /// Members of a row around the hotel that say nothing about it.
  private static let structure: Set<String> = [
    "type", "key", "value", "rev", "kind", "etag", "sort", "seq", "changes", "version",
    "timestamp", "user", "uid", "changeset",
  ]

  /// Writes the members in the order of the row.
  mutating func write(_ row: JSONObject) {
    var made = Self.textNames.compactMap { text($0.meaning, as: $0.name) }
    made += [
      title(row), address(row), position(), amenities(row), price(), currency(row), category(row),
    ].compactMap { $0 }
    let fresh = Set(made.map(\.name))
    let used = Used(by: made)
    for (name, value) in row.members {
      let here = made.filter {
        $0.from.first.map { $0 == name || $0.hasPrefix(name + ".") } ?? false
      }
      made.removeAll { here.map(\.name).contains($0.name) }
      for new in here { append(new) }
      if used.has(name) {
        let rest = rest(of: name, value, used)
        if HotelAliases.isContainer(name), !rest.isEmpty, name.utf8.first != UInt8(ascii: "_") {
          hotel.append(name, value)
          columns.append(Column(name: name, kept: name))
        } else {
          columns += rest.map { Column(name: $0, kept: nil) }
        }
      } else if Self.isID(name) || value == .null || Self.isUnset(name, value) {
        continue
      } else if fresh.contains(name) || Self.documented.contains(name)
        || name.utf8.first == UInt8(ascii: "_") || name == "category" && value.object != nil
        || HotelAliases.match(name.utf8)?.meaning == .price
          && value.string.map({ TableLine.isMissing($0) }) == true
      {
        columns.append(Column(name: name, kept: nil))
      } else {
        hotel.append(name, value)
        columns.append(Column(name: name, kept: name))
      }
    }
    for new in made { append(new) }
  }

  private mutating func append(_ new: Made) {
    hotel.append(new.name, new.value)
    columns += new.from.map { Column(name: $0, kept: new.name) }
  }

  /// The members of an address or a container that were not read.
  private func rest(of name: String, _ value: JSONValue, _ used: Used) -> [String] {
    guard !used.whole.contains(name), let object = NamedValues.object(value) else { return [] }
    return object.members.filter { inner in
      inner.value != .null && HotelAliases.letters(of: inner.name.utf8) != "type"
    }.map { name + "." + $0.name }.filter { !used.has($0) }
  }

  /// Notes what stands around the hotel and was not read.
  mutating func noteOutside(_ outside: [JSONObject]) {
    let read = Set(sources.values.map(\.name))
    for object in outside {
      for (name, value) in object.members where value != .null {
        // A geometry says nothing more than the position, unless it could not be read.
        guard !Self.structure.contains(name), !Self.isID(name), !read.contains(name),
          name.utf8.first != UInt8(ascii: "_"), name != "geometry" || hotel["geo"] == nil
        else { continue }
        columns.append(Column(name: name, kept: nil))
      }
    }
  }

  /// Whether the value is what Odoo has for no text: `false`.
  private static func isUnset(_ name: String, _ value: JSONValue) -> Bool {
    guard value == .bool(false) else { return false }
    let own = name.hasSuffix("_id") ? name.dropLast(3) : name[...]
    return HotelAliases.match(own.utf8).map { texts.contains($0.meaning) } ?? false
  }

  private static let texts = Set(textNames.map(\.meaning) + [.address, .street])

  private static func isID(_ name: String) -> Bool {
    ["_id", "_rev", "id", "docid"].contains(name)
  }

  // MARK: One member each

  private func text(_ meaning: HotelAliases.Meaning, as name: String) -> Made? {
    guard let source = sources[meaning] else { return nil }
    let read =
      switch meaning {
      case .description: TextForms.description(source.value)
      case .phone, .url, .email: TextForms.contact(source.value)
      case .address:
        TextForms.text(source.value, lineEnd: "\n")?.split(whereSeparator: \.isNewline)
          .map { String($0).trimmed }.filter { !$0.isEmpty }.joined(separator: ", ")
          .replacing(",, ", with: ", ")
      default: TextForms.text(source.value)
      }
    guard let text = read else { return nil }
    return Made(name: name, value: .string(text), from: [source.name])
  }

  /// The heading under which a hotel is listed, if it is not the hotel's name.
  private func title(_ row: JSONObject) -> Made? {
    guard let value = row["title"], sources[.name]?.name != "title",
      let text = TextForms.text(value)
    else { return nil }
    return Made(name: "title", value: .string(text), from: ["title"])
  }

  /// The address: a text, else the street and the number.
  private func address(_ row: JSONObject) -> Made? {
    let number = sources[.houseNumber] ?? numberBehindStreet(row)
    let isOfRow =
      number.map { HotelForm.rowNumbers.contains(HotelAliases.letters(of: $0.name.utf8)) } ?? true
    var street = sources[.street]
    // The first line of an address may be the hotel's name, and the second one a floor.
    if let made = text(.address, as: "address"), let source = sources[.address],
      sources[.street] == nil
        || made.value != sources[.name]?.value
          && !HotelAliases.letters(of: source.name.utf8).hasSuffix("2")
    {
      // Registers in Italy have the streets under the word for an address.
      guard street == nil, !isOfRow, made.value.string?.contains(where: \.isNumber) == false else {
        return made
      }
      street = source
    }
    guard let street, let name = TextForms.text(street.value) else { return nil }
    // Under `Número` may be that of the row.
    guard let number, let digits = TextForms.text(number.value),
      !isOfRow || !name.utf8.contains(where: { (0x30...0x39).contains($0) })
    else { return Made(name: "address", value: .string(name), from: [street.name]) }
    let country = sources[.country].flatMap { TextForms.text($0.value) } ?? ""
    // An avenue in Brazil looks like one in France.
    let isFirst =
      TextForms.hasNumberFirst(country, street: name)
      && !["logradouro", "nomvial", "callenombre"].contains(
        HotelAliases.letters(of: street.name.utf8))
    return Made(
      name: "address", value: .string(isFirst ? digits + " " + name : name + " " + digits),
      from: [street.name, number.name])
  }

  /// The member behind the street that only says that it is a number: `Straße,Nr.`. Elsewhere, it is the row's.
  private func numberBehindStreet(_ row: JSONObject) -> Source? {
    let rest = row.members.drop { $0.name != sources[.street]?.name }.dropFirst()
    guard let next = rest.first, ["nr", "no"].contains(HotelAliases.letters(of: next.name.utf8)),
      next.value.string.map({ TableLine.isMissing($0) }) != true
    else { return nil }
    return Source(name: next.name, value: next.value, rank: 0)
  }

  private func position() -> Made? {
    let country =
      sources[.country].flatMap { TextForms.text($0.value) }.flatMap(PlaceNames.all.code)
      ?? countryOfNumbers
    let pair = pairOfDegrees(in: country)
    if let source = sources[.position],
      pair == nil || !PositionForms.isDoubtful(source.value, named: source.name)
    {
      let isAsDocumented =
        source.name == "geo" && source.value["lat"]?.number != nil
        && source.value["lon"]?.number != nil
      guard !isAsDocumented else {
        return Made(name: "geo", value: source.value, from: [source.name])
      }
      let other = country ?? countryOfCity(at: source)
      if let point = PositionForms.point(source.value, named: source.name, in: other) {
        let point = oriented(point, of: source, in: country)
        return Made(name: "geo", value: point.value, from: [source.name])
      }
    }
    return pair ?? pointOfLink()
  }

  /// A country with the hotel's city in which a position is only if its numbers are in the other order; nil if there is
  /// none.
  private func countryOfCity(at source: Source) -> String? {
    guard source.value.object == nil,
      let city = sources[.city].flatMap({ TextForms.text($0.value) }),
      let point = PositionForms.point(source.value, named: source.name)
    else { return nil }
    let countries = CountryBoxes.countries(ofCity: city)
    guard !countries.contains(where: { point.isIn($0) == true }) else { return nil }
    return countries.first {
      PositionForms.point(source.value, named: source.name, in: $0) != point
    }
  }

  /// The point of an `O` for the east, if the hotel's country or the city says so, else the German name of the member.
  private func oriented(
    _ point: PositionForms.Point, of source: Source, in country: String?
  ) -> PositionForms.Point {
    guard let east = point.byGermanEast(source.value.string) else { return point }
    let city = sources[.city].flatMap { TextForms.text($0.value) }
    let countries = country.map { [$0] } ?? city.map(CountryBoxes.countries) ?? []
    let name = HotelAliases.letters(of: source.name.utf8)
    let isEast =
      countries.isEmpty
      ? ["lange", "laenge", "koordinaten"].contains { name.contains($0) }
      : countries.contains { east.isIn($0) == true }
        && !countries.contains { point.isIn($0) == true }
    return isEast ? east : point
  }

  /// The position in the hotel's link, as lists of Google's Takeout have it. The link stays.
  private func pointOfLink() -> Made? {
    guard sources[.position] == nil, let link = sources[.url]?.value.string,
      let point = PositionForms.point(ofLink: link)
    else { return nil }
    return Made(name: "geo", value: point.value, from: [])
  }

  /// The position as a member for each of its numbers has it. If only the other order is in the country, the columns
  /// have each other's name.
  private func pairOfDegrees(in country: String?) -> Made? {
    guard let latitude = sources[.latitude], let longitude = sources[.longitude],
      let point = country.flatMap({
        PositionForms.exchanged(latitude.value, longitude.value, in: $0)
      }) ?? PositionForms.Point(latitude.value, longitude.value)
    else { return nil }
    return Made(
      name: "geo", value: oriented(point, of: longitude, in: country).value,
      from: [latitude.name, longitude.name])
  }

  private func amenities(_ row: JSONObject) -> Made? {
    if let found = AmenityFlags.read(row),
      sources[.amenities].map({ found.parts.contains($0.name) }) ?? true
    {
      return Made(
        name: "amenities", value: .array(found.texts.map { .string($0) }), from: found.parts)
    }
    guard let source = sources[.amenities], let texts = AmenityForms.texts(source.value) else {
      return nil
    }
    return Made(name: "amenities", value: .array(texts.map { .string($0) }), from: [source.name])
  }

  private func price() -> Made? {
    guard let source = sources[.price] else { return nil }
    let value = PriceForms.text(source.value).map { JSONValue.string($0) } ?? source.value
    return Made(name: "price", value: value, from: [source.name])
  }

  /// The currency in the name of the price's member, if nothing else says one: `Price (EUR)`.
  private func currency(_ row: JSONObject) -> Made? {
    guard let source = sources[.price],
      let currency = HotelAliases.reading(of: source.name).currency,
      PriceForms.isPlain(source.value.number?.text ?? source.value.string ?? currency),
      !row.members.contains(where: { $0.name.lowercased().contains("currency") })
    else { return nil }
    return Made(name: "currency", value: .string(currency), from: [source.name])
  }

  /// The words for the kind of hotel, such as `Resort`; a row that only says `Hotel` gets the documented `type`.
  private func category(_ row: JSONObject) -> Made? {
    var (words, names): ([String], [String]) = ([], [])
    for (name, value) in row.members
    where HotelAliases.match(name.utf8)?.meaning == .category {
      guard let text = TextForms.text(value), !HotelKinds.isHotel(text) else { continue }
      names.append(name)
      if !words.contains(text) { words.append(text) }
    }
    guard words.isEmpty else {
      let type = row["type"] != nil && !names.contains("type") ? ["type"] : []
      return Made(
        name: "category", value: .string(words.joined(separator: ", ")), from: names + type)
    }
    return row["type"].flatMap { TextForms.text($0) }.map { _ in
      Made(name: "type", value: "hotel", from: ["type"])
    }
  }
}
