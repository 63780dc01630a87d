import Documents

/// The forms in which files have a text.
enum TextForms {
  /// The text of a value: a string without HTML, a number, texts after one another, or one of an object's texts. Nil for
  /// anything else.
  /// - Parameter lineEnd: what stands between the lines of HTML. A name is one line.
  static func text(_ value: JSONValue, lineEnd: String = " ") -> String? {
    switch value {
    case .string(let text): return plain(text, lineEnd: lineEnd)
    case .number(let number): return number.text
    case .array(let values):
      let texts = inOneLanguage(values).compactMap { text($0, lineEnd: lineEnd) }
        .filter { !$0.isEmpty }
      return texts.isEmpty ? nil : texts.joined(separator: ", ")
    case .object(let object):
      for name in names {
        if let text = object[name]?.string { return plain(text, lineEnd: lineEnd) }
        if let inner = object[name], inner.object != nil || inner.array != nil,
          let text = text(inner, lineEnd: lineEnd)
        {
          return text
        }
      }
      // One text for each language: `{"fr": …, "de": …}`.
      let isByLanguage = object.members.allSatisfy { member in
        guard member.name.utf8.count <= 5, let text = member.value.string else { return false }
        // `id` is Indonesian, if it is no id.
        return HotelAliases.match(member.name.utf8) == nil
          || member.name == "id" && text.contains(" ")
      }
      return isByLanguage
        ? object.members.first?.value.string.map { plain($0, lineEnd: lineEnd) } : nil
    case .null, .bool: return nil
    }
  }

  /// The text of a phone number or an address of the web: the first of several, which an object may have under the name
  /// of its kind.
  static func contact(_ value: JSONValue) -> String? {
    if let values = value.array { return values.lazy.compactMap(contact).first }
    // A spreadsheet's apostrophe says that the number is a text.
    let named = contactNames.lazy.compactMap { value[$0].flatMap { text($0) } }.first {
      !$0.isEmpty
    }
    guard let text = named ?? text(value), !text.isEmpty else { return nil }
    if let scheme = ["mailto:", "tel:"].first(where: text.hasPrefix) {
      return String(text.dropFirst(scheme.count))
    }
    let isMarked =
      text.hasPrefix("'") && text.dropFirst().first.map { "+0123456789".contains($0) } == true
    return isMarked ? String(text.dropFirst()) : text
  }

  /// The English ones of texts that say their languages, else those in the language of the first; other values as they
  /// are: `[{"lang": "fr", "value": …}, {"lang": "en", "value": …}]`.
  static func inOneLanguage(_ values: [JSONValue]) -> [JSONValue] {
    func language(_ value: JSONValue) -> String? {
      languageNames.lazy.compactMap { value[$0]?.string }.first
    }
    guard let first = values.first.flatMap(language),
      values.allSatisfy({ language($0) != nil })
    else { return values }
    let english = values.filter { language($0)?.lowercased().hasPrefix("en") == true }
    return english.isEmpty ? values.filter { language($0) == first } : english
  }

  private static let languageNames = [
    "lang", "language", "locale", "languageCode", "language_code", "languages_code", "@language",
  ]
  private static let contactNames = [
    "phoneNumber", "phone", "number", "email", "emailAddress", "url", "href", "uri",
  ]

  /// The text of a description: as ``text(_:lineEnd:)``, else the paragraphs of Sanity's and Strapi's blocks and of
  /// Contentful's and Payload's documents, else the texts of an object after one another, as Expedia's `descriptions` are.
  static func description(_ value: JSONValue) -> String? {
    let parts = value.array ?? value["root"]?["children"]?.array
    let blocks = parts?.compactMap { $0["children"]?.array } ?? []
    if !blocks.isEmpty {
      return blocks.map { $0.compactMap { $0["text"]?.string }.joined() }
        .filter { !$0.isEmpty }.joined(separator: "\n")
    }
    // RateHawk's paragraphs stand below titles.
    let paragraphs = value.array?.compactMap { $0["paragraphs"].flatMap(lines) } ?? []
    if !paragraphs.isEmpty { return paragraphs.joined(separator: "\n") }
    if value["nodeType"]?.string == "document" {
      let texts = (value["content"]?.array ?? []).map { words(of: $0, depth: 8) }
      return texts.filter { !$0.isEmpty }.joined(separator: "\n")
    }
    if let text = text(value, lineEnd: "\n") {
      guard text.utf8.contains(UInt8(ascii: "\\")), !text.contains("\n") else { return text }
      // A program that writes each row on one line of the file may write line ends so. Another backslash is text.
      let lines = text.replacing("\\r\\n", with: "\n").replacing("\\n", with: "\n")
      return lines.utf8.contains(UInt8(ascii: "\\")) ? text : lines
    }
    let texts =
      value.object?.members.compactMap { $0.value.string.map { plain($0, lineEnd: "\n") } }
      .filter { !$0.isEmpty } ?? []
    return texts.isEmpty ? nil : texts.joined(separator: "\n")
  }

  /// The words of a part of Contentful's document, whose parts are nested only so deep.
  private static func words(of node: JSONValue, depth: Int) -> String {
    if let text = node["value"]?.string { return text }
    guard depth > 0 else { return "" }
    return (node["content"]?.array ?? []).map { words(of: $0, depth: depth - 1) }.joined()
  }

  private static func lines(_ value: JSONValue) -> String? {
    let texts = value.array?.compactMap { text($0) } ?? []
    return texts.isEmpty ? nil : texts.joined(separator: "\n")
  }

  /// A text without HTML and without white space around it. One line has no control characters, which spreadsheets keep
  /// within names.
  private static func plain(_ text: String, lineEnd: String) -> String {
    let plain = HTMLText.plain(text, lineEnd: lineEnd).trimmed
    guard lineEnd == " ", plain.utf8.contains(where: { $0 < 0x20 }) else { return plain }
    return plain.unicodeScalars.split { $0.value < 0x20 }.map { String($0).trimmed }
      .filter { !$0.isEmpty }.joined(separator: " ")
  }

  /// The members of an object that hold its text. XML that became JSON has it under `#text` or `$t`.
  private static let names = ImportWords.textMember.list

  /// Whether an address has the house's number before its street. Without a country, the words of the street say it.
  static func hasNumberFirst(_ country: String, street: String) -> Bool {
    let country = HotelAliases.letters(of: country.utf8)
    guard country.isEmpty else { return numberFirst.contains(country) }
    let words = street.split(separator: " ").map { HotelAliases.letters(of: $0.utf8) }
    guard words.count > 1, let first = words.first, let last = words.last else { return false }
    return frenchStreets.contains(first)
      || words.contains { englishStreets.contains($0) }
        && last.utf8.first.map { !(0x30...0x39).contains($0) } == true
  }

  private static let frenchStreets = ImportWords.frenchStreet.set
  private static let englishStreets = ImportWords.englishStreet.set

  /// Countries whose addresses have the number first.
  private static let numberFirst = ImportWords.numberFirst.set
}

/// The words for what a row is about.
enum HotelKinds {
  /// Whether a word says no more than that it is a hotel, or what the file's format calls any row.
  static func isHotel(_ word: String) -> Bool {
    ["hotel", "hotels", "feature", "node", "way", "relation", "document", ""].contains(
      HotelAliases.letters(of: word.utf8))
  }

  /// What a row is about if it is no hotel: the other kinds of documents of a travel-sample, a list of bookmarks, and the
  /// other kinds of Wikivoyage's listings. Nil for any other word.
  static func other(_ word: String) -> String? {
    let letters = HotelAliases.letters(of: word.utf8)
    return others.first { letters == $0 || letters == $0 + "s" }
      ?? (letters == "textxmozplacecontainer" || letters == "section" ? "folder" : nil)
  }

  private static let others = ImportWords.otherKind.list

  /// What OpenStreetMap's tags are about if it is no place to stay; nil for other tags.
  /// <https://wiki.openstreetmap.org/wiki/Key:tourism>
  /// - Parameter isElement: whether they are those of a map's element. Elsewhere, `amenity` has other meanings.
  static func otherOnMap(_ tags: JSONObject, isElement: Bool) -> String? {
    if let kind = tags["tourism"]?.string { return sights.contains(kind) ? kind : nil }
    guard isElement, tags["building"]?.string != "hotel" else { return nil }
    return ["amenity", "shop", "aeroway", "railway", "place"].lazy
      .compactMap { tags[$0]?.string }.first { !$0.contains("hotel") }
  }

  private static let sights = ImportWords.sight.set

  /// Whether schema.org's type, or one of several, is that of a place to stay: a `LodgingBusiness`, or an `Accommodation`
  /// with a place of its own. Without one, it is a room or a suite of the hotel beside it. Django has `hotels.hotel`.
  /// <https://schema.org/docs/hotels.html>
  static func isLodging(_ type: JSONValue, hasPlace: Bool) -> Bool {
    let types = type.array?.compactMap(\.string) ?? type.string.map { [$0] } ?? []
    return types.contains { type in
      let name = type.split { "/#:.".contains($0) }.last ?? type[...]
      let letters = HotelAliases.letters(of: name.utf8)
      return lodgings.contains(letters) || hasPlace && accommodations.contains(letters)
    }
  }

  private static let lodgings = ImportWords.lodgingType.set
  private static let accommodations = ImportWords.accommodationType.set

  /// What a page of the web describes beside its hotel, by schema.org's types; nil for any other type.
  static func otherOnPage(_ type: String) -> String? {
    ["WebSite", "WebPage", "BreadcrumbList", "ImageObject", "Person", "SearchAction"]
      .contains(type) ? type : nil
  }
}
