import Documents

/// The forms in which files have a hotel's price: an object with an amount, or one in it, or a list of offers.
enum PriceForms {
  /// The text of a price that is an object or a list; nil for anything else.
  static func text(_ value: JSONValue) -> String? {
    guard value.object != nil || value.array != nil else { return nil }
    // Scrapy has a list of each text.
    if let texts = value.array, texts.count == 1, texts[0].string != nil {
      return scalar(texts[0], currency: nil)?.text
    }
    return amount(in: value, currency: nil, depth: deepest)?.text
  }

  /// Whether a member that is an object or a list may have the price in it, although its name means nothing by itself:
  /// `priceBreakdown`, `pricing`, `cheapestRate`, `offers`.
  static func isContainer(_ name: String) -> Bool {
    isContainer(letters: HotelAliases.letters(of: name.utf8))
  }

  private static func isContainer(letters: String) -> Bool {
    letters.contains("price") || letters.hasPrefix("pricing") || lists.contains(letters)
      || letters.hasPrefix("rate") && !letters.hasPrefix("rated")
      || ["rate", "rates", "rateinfo", "rateinfos"].contains(where: letters.hasSuffix)
  }

  /// Whether what ``text(_:)`` finds in a member is a price. Without a currency, a rate is how good a hotel is, or how full, and
  /// `corporate` is none.
  static func isPrice(_ text: String, in name: String) -> Bool {
    !HotelAliases.letters(of: name.utf8).hasSuffix("rate") || !isPlain(text)
  }

  /// Whether a price says no currency.
  static func isPlain(_ text: String) -> Bool {
    text.utf8.allSatisfy { "0123456789.,' -".utf8.contains($0) }
  }

  private struct Amount {
    let text: String
    /// Nil for an amount that is not only a number.
    let number: Double?
  }

  /// The first amount of an object, its own before those within it, or the least one of a list.
  private static func amount(in value: JSONValue, currency: String?, depth: Int) -> Amount? {
    if let values = value.array {
      guard depth > 0 else { return nil }
      // A text is what an offer is called.
      let amounts = values.lazy.filter { $0.string == nil }
        .compactMap { amount(in: $0, currency: currency, depth: depth - 1) }
      return amounts.min { one, other in
        guard let one = one.number, let other = other.number else { return false }
        return one < other
      }
    }
    guard let object = value.object else { return scalar(value, currency: currency) }
    guard depth > 0 else { return nil }
    let members = object.members.map { (HotelAliases.letters(of: $0.name.utf8), $0.value) }
    let own = members.first { name, _ in currencies.contains(where: name.hasSuffix) }?.1
    let currency = own?.string ?? own?["code"]?.string ?? currency
    // Beside the list itself, a total is how many there are.
    let hasList = members.contains { counted.contains($0.0) && $0.1.array != nil }
    for name in amounts where name != "total" || !hasList {
      for (letters, value) in members where letters == name {
        if let found = amount(in: value, currency: currency, depth: depth - 1) { return found }
      }
    }
    if object.count == 1, let (code, value) = object.members.first, code.utf8.count == 3,
      code.utf8.allSatisfy({ (0x41...0x5A).contains($0) })
    {
      return scalar(value, currency: code)
    }
    for (letters, value) in members
    where (value.object != nil || value.array != nil) && !amounts.contains(letters) {
      guard isContainer(letters: letters) || letters.hasPrefix("amount"),
        let found = amount(in: value, currency: currency, depth: depth - 1)
      else { continue }
      return found
    }
    return nil
  }

  private static func scalar(_ value: JSONValue, currency: String?) -> Amount? {
    guard let text = value.number?.text ?? value.string?.trimmed,
      text.utf8.contains(where: { (0x30...0x39).contains($0) }), !text.hasSuffix("%")
    else { return nil }
    // A text such as `€ 2,100` says its currency.
    guard let currency, isPlain(text) else { return Amount(text: text, number: Double(text)) }
    return Amount(text: currency + " " + text, number: Double(text))
  }

  /// How many objects and lists may be around an amount.
  private static let deepest = 6
  private static let currencies = ["currency", "currencycode", "currencyinfo"]
  /// Names of an amount, or of what has it, the likeliest first. A night comes before the whole stay.
  private static let amounts = ImportWords.priceMember.list
  private static let lists: Set<String> = ["offers", "rates", "roomrates", "deals"]
  private static let counted = lists.union(["items", "results", "data", "list"])
}
