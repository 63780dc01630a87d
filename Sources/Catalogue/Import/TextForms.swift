import JSON

/// The forms in which files have a text.
enum TextForms {
  /// The text of a value: a string without HTML, a number, texts after one another, or one of an object's texts. Nil for
  /// anything else.
  static func text(_ value: JSONValue) -> String? {
    switch value {
    case .string(let text): return plain(text)
    case .number(let number): return number.text
    case .array(let values):
      let texts = values.compactMap(text).filter { !$0.isEmpty }
      return texts.isEmpty ? nil : texts.joined(separator: ", ")
    case .object(let object):
      for name in names {
        if let text = object[name]?.string { return plain(text) }
        if let inner = object[name], inner.object != nil || inner.array != nil,
          let text = text(inner)
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
      return isByLanguage ? object.members.first?.value.string.map(plain) : nil
    case .null, .bool: return nil
    }
  }

  /// The text of a phone number or an address of the web: the first of several, which an object may have under the name
  /// of its kind.
  static func contact(_ value: JSONValue) -> String? {
    if let values = value.array { return values.lazy.compactMap(contact).first }
    if let text = text(value) { return text.isEmpty ? nil : text }
    return contactNames.lazy.compactMap { value[$0].flatMap(text) }.first { !$0.isEmpty }
  }

  private static let contactNames = [
    "phoneNumber", "phone", "number", "email", "emailAddress", "url", "href",
  ]

  /// The text of a description: as ``text(_:)``, else the paragraphs of Sanity's and Strapi's blocks, else the texts of
  /// an object after one another, as Expedia's `descriptions` are.
  static func description(_ value: JSONValue) -> String? {
    let blocks = value.array?.compactMap { $0["children"]?.array } ?? []
    if !blocks.isEmpty {
      return blocks.map { $0.compactMap { $0["text"]?.string }.joined() }
        .filter { !$0.isEmpty }.joined(separator: "\n")
    }
    // RateHawk's paragraphs stand below titles.
    let paragraphs = value.array?.compactMap { $0["paragraphs"].flatMap(lines) } ?? []
    if !paragraphs.isEmpty { return paragraphs.joined(separator: "\n") }
    if let text = text(value) { return text }
    let texts =
      value.object?.members.compactMap { $0.value.string.map(plain) }.filter { !$0.isEmpty } ?? []
    return texts.isEmpty ? nil : texts.joined(separator: "\n")
  }

  private static func lines(_ value: JSONValue) -> String? {
    let texts = value.array?.compactMap(text) ?? []
    return texts.isEmpty ? nil : texts.joined(separator: "\n")
  }

  /// A text without HTML and without white space around it.
  static func plain(_ text: String) -> String { HTMLText.plain(text).trimmed }

  /// The members of an object that hold its text. XML that became JSON has it under `#text` or `$t`.
  private static let names = [
    "en", "en-US", "en-GB", "en_US", "en_GB", "text", "#text", "$t", "_text", "_", "@value",
    "value", "plain", "rendered", "content", "formatted", "name", "title", "label", "default",
    "primary", "description", "code",
  ]

  /// The text of a price that is an object with an amount; nil for anything else.
  static func price(_ value: JSONValue) -> String? {
    guard let object = value.object else { return nil }
    for name in ["amount", "value", "price", "total", "lowest", "min", "from", "base"] {
      guard let amount = object[name], let text = amount.number?.text ?? amount.string else {
        continue
      }
      let currency = (object["currency"] ?? object["currencyCode"] ?? object["currency_code"])?
        .string
      return currency.map { $0 + " " + text } ?? text
    }
    return nil
  }

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

  private static let frenchStreets: Set<String> = [
    "rue", "avenue", "av", "boulevard", "bd", "place", "quai", "allee", "chemin", "impasse",
    "cours", "route", "passage", "square", "villa",
  ]
  private static let englishStreets: Set<String> = [
    "street", "st", "road", "rd", "avenue", "ave", "lane", "ln", "drive", "dr", "way", "place",
    "pl", "square", "sq", "court", "ct", "boulevard", "blvd", "highway", "hwy", "parkway", "pkwy",
    "terrace", "crescent", "close", "row", "mews", "gardens", "hill", "walk", "circus",
  ]

  /// Countries whose addresses have the number first.
  private static let numberFirst: Set<String> = [
    "fr", "france", "gb", "uk", "unitedkingdom", "greatbritain", "england", "scotland", "wales",
    "ie", "ireland", "us", "usa", "unitedstates", "unitedstatesofamerica", "ca", "canada", "au",
    "australia", "nz", "newzealand", "za", "southafrica", "in", "india", "lu", "luxembourg", "mc",
    "monaco", "vn", "vietnam", "việtnam", "th", "thailand", "sg", "singapore", "my", "malaysia",
    "ph", "philippines", "ma", "morocco", "maroc", "eg", "egypt", "ke", "kenya",
  ]
}

/// The words for what a row is about.
enum HotelKinds {
  /// Whether a word says no more than that it is a hotel, or what the file's format calls any row.
  static func isHotel(_ word: String) -> Bool {
    ["hotel", "hotels", "feature", "node", "way", "relation", "document", ""].contains(
      HotelAliases.letters(of: word.utf8))
  }

  /// What a row is about if it is no hotel: the other kinds of documents of a travel-sample, and a list of bookmarks.
  /// Nil for any other word.
  static func other(_ word: String) -> String? {
    let letters = HotelAliases.letters(of: word.utf8)
    return others.first { letters == $0 || letters == $0 + "s" }
      ?? (letters == "textxmozplacecontainer" || letters == "section" ? "folder" : nil)
  }

  private static let others = ["airline", "airport", "route", "landmark", "bookmarkedhotels"]

  /// Whether schema.org's type, or one of several, is that of a place to stay: a `LodgingBusiness`, or an `Accommodation`
  /// with a place of its own. Without one, it is a room or a suite of the hotel beside it.
  /// <https://schema.org/docs/hotels.html>
  static func isLodging(_ type: JSONValue, hasPlace: Bool) -> Bool {
    let types = type.array?.compactMap(\.string) ?? type.string.map { [$0] } ?? []
    return types.contains { type in
      let name = type.split { "/#:".contains($0) }.last ?? type[...]
      let letters = HotelAliases.letters(of: name.utf8)
      return lodgings.contains(letters) || hasPlace && accommodations.contains(letters)
    }
  }

  private static let lodgings: Set<String> = [
    "hotel", "motel", "hostel", "resort", "skiresort", "bedandbreakfast", "lodgingbusiness",
    "campground", "vacationrental",
  ]
  private static let accommodations: Set<String> = [
    "accommodation", "apartment", "apartmentcomplex", "campingpitch", "house",
    "singlefamilyresidence", "suite", "room", "hotelroom",
  ]

  /// What a page of the web describes beside its hotel, by schema.org's types; nil for any other type.
  static func otherOnPage(_ type: String) -> String? {
    ["WebSite", "WebPage", "BreadcrumbList", "ImageObject", "Person", "SearchAction"]
      .contains(type) ? type : nil
  }
}
