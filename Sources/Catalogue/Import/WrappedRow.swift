import Documents

/// A row whose hotel is one level or two deeper: `{"_source": {…}}`, `{"doc": {…}}`, `{"hotel": {…}}`, a GeoJSON feature.
struct WrappedRow {
  /// The hotel's members.
  private(set) var hotel: JSONObject
  /// What stands beside the hotel, from the inside to the outside. Ids and positions are taken from there.
  private(set) var outside: [JSONObject] = []
  /// The name of the only member around the hotel; nil if there was another form. In a map it is the id.
  private(set) var key: String?

  /// Finds the hotel in a row.
  init(_ row: JSONObject) {
    hotel = Self.joined(row)
    while outside.count < Self.deepest, !WikibaseEntity.isOne(hotel),
      let name = Self.wrapper(in: hotel), let inner = hotel[name]?.object
    {
      if outside.isEmpty, hotel.count == 1 { key = name }
      var rest = hotel
      rest[name] = nil
      outside.append(rest)
      hotel = inner
    }
    if let entity = WikibaseEntity(hotel) {
      hotel = entity.facts
      outside.append(entity.rest)
    }
  }

  /// A row whose hotel has its facts in two objects, as one: TomTom's has the name in `poi` and the rest around it,
  /// Storyblok's has the name outside of `content`.
  ///
  /// - TomTom: <https://developer.tomtom.com/search-api/documentation/search-service/points-of-interest-search>
  /// - Storyblok: <https://www.storyblok.com/docs/api/content-delivery/v2/stories/the-story-object>
  private static func joined(_ row: JSONObject) -> JSONObject {
    if let joined = joinedParts(row) ?? GeocoderRow.plain(row) ?? translated(row) { return joined }
    let content = row["content"]?.object
    let pairs = row["data"].flatMap(NamedValues.pairs)
    let name = pairs != nil ? "data" : content?["component"]?.string == nil ? "poi" : "content"
    guard let inner = pairs ?? row[name]?.object else { return row }
    var joined = row
    joined[name] = nil
    for (name, value) in inner.members where joined[name] == nil { joined.append(name, value) }
    return joined
  }

  /// A row whose hotel is a list of its parts, as Rakuten's is: `{"hotel": [{"hotelBasicInfo": {…}}, …]}`.
  /// <https://webservice.rakuten.co.jp/documentation/simple-hotel-search>
  private static func joinedParts(_ row: JSONObject) -> JSONObject? {
    guard row.count == 1, let parts = row["hotel"]?.array, !parts.isEmpty else { return nil }
    var joined = JSONObject()
    for part in parts {
      guard let part = part.object, part.count == 1, let facts = part.members.first?.value.object
      else { return nil }
      for (name, value) in facts.members where joined[name] == nil { joined.append(name, value) }
    }
    return joined
  }

  /// A row that has its texts only in translations, with those in English, else the first ones. Directus has a list of them,
  /// others an object with each under its language. The translations stay.
  /// <https://docs.directus.io/guides/headless-cms/content-translations.html>
  private static func translated(_ row: JSONObject) -> JSONObject? {
    guard let translations = row["translations"], !hasName(row) else { return nil }
    let languages = translations.object?.members ?? []
    let language = languages.first { $0.name.hasPrefix("en") } ?? languages.first
    let texts =
      language?.value.object
      ?? translations.array.flatMap { TextForms.inOneLanguage($0).first?.object }
    guard let texts, hasName(texts) else { return nil }
    var joined = row
    for (name, value) in texts.members where joined[name] == nil { joined.append(name, value) }
    return joined
  }

  /// How many wrappers are removed at most.
  private static let deepest = 3

  /// The name of the member with the hotel; nil if the object is the hotel itself.
  private static func wrapper(in object: JSONObject) -> String? {
    for name in certain where object[name]?.object != nil { return name }
    if isChange(object) { return object["after"]?.object == nil ? nil : "after" }
    if object["properties"]?.object != nil, object["type"]?.string == "Feature" {
      return "properties"
    }
    if object["tags"]?.object != nil, isElement(object) { return "tags" }
    // Firestore's names are paths of documents.
    if object["fields"]?.object != nil, object["name"]?.string?.hasPrefix("projects/") == true {
      return "fields"
    }
    // A review or a room has a name of its own.
    if let hotel = object.members.first(where: {
      HotelAliases.letters(of: $0.name.utf8) == "hotel" && hasName($0.value)
    }), !hasPlace(object) {
      return hotel.name
    }
    guard !hasName(object) else { return nil }
    let objects = object.members.filter {
      $0.value.object != nil && !persons.contains(HotelAliases.letters(of: $0.name.utf8))
    }
    for name in likely {
      let found = objects.first { HotelAliases.letters(of: $0.name.utf8) == name }
      if let found, hasName(found.value) || found.value.object.flatMap(wrapper) != nil {
        return found.name
      }
    }
    let named = objects.filter { hasName($0.value) }
    // Not a part of the hotel that has a name of its own, such as its chain, or who wrote it.
    if named.count == 1, !hasPlace(object),
      !parts.contains(HotelAliases.letters(of: named[0].name.utf8)) || isPlace(named[0].value)
    {
      return named[0].name
    }
    return object.count == 1 ? objects.first?.name : nil
  }

  /// A row of a map from hotels' names to facts, with the key as the name in them; nil for another one. Where a wrapper in
  /// the row has the name, the key is an id.
  static func named(_ row: JSONObject) -> JSONObject? {
    guard let (key, value) = row.members.first, var hotel = value.object, !hasName(hotel),
      hotel.members.contains(where: { isPlace($0.name) }), ObjectOutline.isHotelName(key),
      !hasName(WrappedRow(TypedValues.plain(row)).hotel)
    else { return nil }
    hotel.append("name", .string(key))
    return hotel
  }

  private static func isPlace(_ name: String) -> Bool {
    switch HotelAliases.match(name.utf8)?.meaning {
    case .address, .street, .city, .country, .postcode, .position, .latitude: true
    default: false
    }
  }

  /// Names that never are a hotel's own.
  private static let certain = ["_source", "_doc"]
  /// Names of wrappers, the most likely first.
  private static let likely = ImportWords.wrapper.list
  /// Whether a member's name is that of a wrapper, not a hotel's id.
  static func isWrapper(_ name: String) -> Bool {
    certain.contains(name) || likely.contains(HotelAliases.letters(of: name.utf8))
  }

  /// Whether an element of OpenStreetMap, also as GeoJSON, which has an `@id` such as `node/1`.
  var isElement: Bool {
    outside.contains(where: Self.isElement)
      || hotel["@id"]?.string.map { Self.elements.contains(String($0.prefix { $0 != "/" })) }
        == true
  }

  /// Whether an element of OpenStreetMap. <https://wiki.openstreetmap.org/wiki/Elements>
  static func isElement(_ object: JSONObject) -> Bool {
    object["type"]?.string.map(elements.contains) == true
  }

  private static let elements = ["node", "way", "relation", "count"]

  /// Whether a change that Debezium reports: the row before it, the row after it, and where they are from.
  /// <https://debezium.io/documentation/reference/stable/connectors/postgresql.html#postgresql-change-events-value>
  static func isChange(_ object: JSONObject) -> Bool {
    object["op"]?.string != nil && object["before"] != nil && object["after"] != nil
  }

  private static let (parts, persons) = (ImportWords.part.set, ImportWords.person.set)

  /// Whether the object says where something is, so that it is the hotel itself although it has no name.
  private static func hasPlace(_ object: JSONObject) -> Bool {
    object.members.contains {
      [.address, .street, .city].contains(HotelAliases.match($0.name.utf8)?.meaning)
    }
  }

  /// Whether a part has an address, too, as the places that Google's Takeout lists: `"location": {"name", "address"}`.
  private static func isPlace(_ value: JSONValue) -> Bool { value.object.map(hasPlace) ?? false }

  private static func hasName(_ value: JSONValue) -> Bool { value.object.map(hasName) ?? false }

  /// Whether there is a name, or what was meant as one.
  static func hasName(_ object: JSONObject) -> Bool {
    object.members.contains { name, value in
      guard HotelAliases.match(name.utf8)?.meaning == .name, value != .null else { return false }
      // Under `hotel` is a hotel, or its name.
      return value.object == nil || !HotelAliases.isLodging(name)
    }
  }
}

/// The rows in a row: a page of an answer with a list of hotels, or a list.
struct NestedRows {
  /// Whether they are hotels although the row has a name, too.
  let areHotels: Bool
  /// Whether their list has a known name, so that a row that has only a name is its title.
  let areListed: Bool
  private let text: [UInt8]
  private let isMap: Bool
  /// The row around them.
  private var outer = JSONObject()
  /// Whether each of them is a city.
  private var areCities = false

  /// Finds the hotels in a row that is none itself; nil if there are none.
  /// - Parameter isInner: whether the row was in another one. What such a row names is in it already; an object that names
  ///   itself would never end.
  init?(_ row: [UInt8], isInner: Bool) {
    let start = row.lazy.filter { !RowSplitter.isSpace($0) }.prefix(2)
    if let rows = start.elementsEqual("[{".utf8)
      ? row : isInner ? nil : LinkedObjects.rows(in: row)
    {
      (text, isMap, areHotels, areListed) = (rows, false, true, true)
      return
    }
    guard start.first == UInt8(ascii: "{") else { return nil }
    var outline = ObjectOutline(line: 1, isRow: true)
    guard (try? outline.take(row)) != nil, let found = try? outline.rows(), found.hasNames else {
      return nil
    }
    (text, isMap, areHotels) = (Array(row[found.range]), found.isMap, found.areHotels)
    // Under `values` and `properties` are facts about the row.
    areListed = found.isNamed && !(found.path.last.map(HotelAliases.isContainer) ?? false)
    areCities = found.path.last.map(GroupedLists.isOfCities) ?? false
    outer = (try? ParsedJSON(row, limits: HotelRow.limits))?.root.value.object ?? outer
  }

  /// The rows, with the number, the line and the place of the row around them.
  func rows(of row: SplitRow) -> [SplitRow] {
    var (splitter, position) = (RowSplitter(isMap: isMap), 0)
    var rows: [SplitRow] = []
    var place = GroupedLists.place(in: outer.members.map { ($0.name, $0.value) }, within: row.place)
    place.isCity = areCities
    while let inner = try? splitter.next(in: text, from: &position) {
      let content: SplitRow.Content =
        if case .text(let text) = inner.content { .inner(text) } else { inner.content }
      rows.append(SplitRow(ordinal: row.ordinal, line: row.line, content: content, place: place))
    }
    return rows
  }
}
