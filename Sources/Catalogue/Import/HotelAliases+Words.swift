/// Names that people make of several words: `Nom de l'établissement`, `Price per Night`, `Endereço Completo Comercial`.
extension HotelAliases {
  /// The meaning of a name without its words that only say that it is about a hotel, that join others, or that count;
  /// nil if there are none of those.
  ///
  /// A name with a slash is that before it: `City/Country`. A price may be named by its currency only: `€/night`.
  static func byWords(_ name: some Collection<UInt8>) -> Match? {
    guard name.count <= longestByWords else { return nil }
    var words = words(of: name)
    let isFirst = words.last.map { $0.last == "1" && $0.first != "1" || $0 == "1" } ?? false
    if isFirst, let last = words.popLast(), last != "1" { words.append(String(last.dropLast())) }
    let hasSign = sign(in: String(decoding: name, as: UTF8.self)) != nil
    guard words.count > 1 || isFirst || hasSign else { return nil }
    if let meaning = addressOnline(words) { return Match(meaning: meaning, rank: words.count) }
    let rest = words.filter { !small.contains($0) && !lodgings.contains($0) }
    if rest.count < words.count || isFirst, let match = joined(rest) {
      // `Town 1` may be a town.
      if !isFirst || severalOfHotel.contains(match.meaning) { return match }
    }
    let isForNight = words.contains { nights.contains($0) }
    let isPrice = words.contains { prices.contains($0) }
    let price = rest.filter { !nights.contains($0) && !qualities.contains($0) }
    if isForNight || isPrice {
      let isOnlyPrice = price.allSatisfy { prices.contains($0) || currencies.contains($0) }
      let hasCurrency = price.contains { currencies.contains($0) } || hasSign
      if isOnlyPrice, isPrice || hasCurrency { return Match(meaning: .price, rank: price.count) }
    }
    let plain = rest.filter { !qualities.contains($0) }
    if plain.count < rest.count, let match = joined(plain) {
      // They are minutes, or the edge of an area.
      let isPart = ["min", "minimum"].contains(where: words.contains)
      return isPart && [.latitude, .longitude].contains(match.meaning) ? nil : match
    }
    let counted = plain.filter { !numbers.contains($0) && !joints.contains($0) }
    if counted.count < plain.count, let match = joined(counted),
      [.phone, .street, .houseNumber, .postcode].contains(match.meaning)
    {
      return match
    }
    guard let slash = name.firstIndex(of: UInt8(ascii: "/")), slash != name.startIndex else {
      return nil
    }
    return table[letters(of: name[..<slash])]
  }

  /// Of what a hotel may have several, of which the first has a one behind the name.
  private static let severalOfHotel: Set<Meaning> = [
    .name, .phone, .email, .url, .address, .category,
  ]

  private static func joined(_ words: [String]) -> Match? {
    words.isEmpty ? nil : table[words.joined()]
  }

  /// Whether words are for an address of the web or of mail, and no others: `Adres www`, `Sito web`, `E-mail cím`.
  private static func addressOnline(_ words: [String]) -> Meaning? {
    let rest = words.filter { !addresses.contains($0) && !small.contains($0) }
    guard !rest.isEmpty, rest.count < words.count || rest.count > 1 else { return nil }
    if rest.allSatisfy(mails.contains) {
      // A post may be a page, and its address that of a house.
      let isElectronic = words.contains { word in electronic.contains(where: word.hasPrefix) }
      return isElectronic || !rest.allSatisfy(posts.contains) ? .email : nil
    }
    guard rest.allSatisfy(webs.contains) else { return nil }
    // In English, it is where a site is.
    return rest == ["site"] && words.contains("address") ? nil : .url
  }

  /// The meaning of a name in Chinese, Japanese or Korean, which has no spaces, by its last or its first word:
  /// `施設電話番号`, `電話或手機`. The name of a hotel is not found so: many other things have one.
  static func byEnds(_ name: some Collection<UInt8>) -> Match? {
    guard name.count <= longestByWords, name.contains(where: { $0 >= 0xE2 }) else { return nil }
    let letters = Array(letters(of: name))
    guard letters.count > 2, letters[0].unicodeScalars.allSatisfy({ $0.value >= 0x2E80 }),
      !others.contains(where: { String(letters).contains($0) })
    else { return nil }
    for count in (2..<letters.count).reversed() {
      for part in [letters.suffix(count), letters.prefix(count)] {
        if let match = table[String(part)], meaningsByEnds.contains(match.meaning) { return match }
      }
    }
    return nil
  }

  private static let meaningsByEnds: Set<Meaning> = [
    .address, .postcode, .phone, .url, .email, .latitude, .longitude, .price,
  ]
  /// Words for a remark, a code, a fax and the owner.
  private static let others = ImportWords.notByEnds.list

  /// The meanings of two words that name two things in one value: `PLZ / Ort`, `PLZ Ort`, `Zip, City`.
  static func isPostcodeAndCity(_ name: String) -> Bool {
    guard name.utf8.count <= longestByWords else { return false }
    let all = words(of: name.utf8)
    let words = all.filter { !joints.contains($0) }
    guard words.count > 1, table[all.joined()] == nil else { return false }
    return (1..<words.count).contains { end in
      table[words[..<end].joined()]?.meaning == .postcode
        && table[words[end...].joined()]?.meaning == .city
    }
  }

  /// What a name says beside the city: a state or a country. `City, State`, `City/Country`.
  static func cityAnd(_ name: String) -> Meaning? {
    guard name.utf8.count <= longestByWords,
      name.utf8.contains(where: { $0 == 0x2F || $0 == 0x26 || $0 == 0x2C })
    else { return nil }
    let words = words(of: name.utf8).filter { !joints.contains($0) }
    guard words.count == 2, table[words[0]]?.meaning == .city,
      let outer = table[words[1]]?.meaning, outer == .state || outer == .country
    else { return nil }
    return outer
  }

  /// Whether a name is no more than a word for a place to stay: under it is a hotel, its name, or whether it is one.
  static func isLodging(_ name: String) -> Bool { lodgings.contains(letters(of: name.utf8)) }

  /// Longer names are sentences, in bytes.
  static let longestByWords = 160

  /// The words of a name in lower case and without marks. A capital letter behind a small one starts a word.
  private static func words(of name: some Collection<UInt8>) -> [String] {
    var words: [[UInt8]] = [[]]
    var isAfterSmall = false
    for byte in name {
      let isCapital = (0x41...0x5A).contains(byte)
      let isLetter = isCapital || (0x61...0x7A).contains(byte) || byte >= 0x80
      let isDigit = (0x30...0x39).contains(byte)
      if !isLetter && !isDigit || isCapital && isAfterSmall { words.append([]) }
      if isLetter || isDigit { words[words.count - 1].append(byte) }
      isAfterSmall = (0x61...0x7A).contains(byte)
    }
    return words.filter { !$0.isEmpty }.map { letters(of: $0) }.filter { word in
      word.contains { $0.isLetter || $0.isNumber }
    }
  }

  /// The currency in the name of a price: `Price (EUR)`, `price_per_night_eur`, `Preis ab (€)`.
  static func currency(in name: String) -> String? {
    guard name.utf8.count <= longestByWords else { return nil }
    return words(of: name.utf8).first { currencies.contains($0) }?.uppercased() ?? sign(in: name)
  }

  private static func sign(in name: String) -> String? {
    name.unicodeScalars.first { $0.properties.generalCategory == .currencySymbol }
      .map { String($0) }
  }

  private static let joints = ImportWords.joint.letters
  /// Articles and prepositions.
  private static let small = ImportWords.small.letters
  /// The words for a place to stay.
  private static let lodgings = ImportWords.lodging.letters
  private static let nights = ImportWords.night.letters
  private static let prices = ImportWords.priceWord.letters
  private static let currencies = ImportWords.currency.letters
  /// What only says which of several it is.
  private static let qualities = ImportWords.quality.letters
  /// What only says that a value is a number, or which one of several.
  private static let numbers = ImportWords.number.letters
  private static let mails = ImportWords.mail.letters
  /// Those that are mail on paper, too, unless such a word is beside them.
  private static let (posts, electronic) = (
    ["post", "posta"], ["elektr", "electr", "elettr", "eletr"]
  )
  private static let webs = ImportWords.web.letters
  /// Words beside those for mail and the web.
  private static let addresses = ImportWords.online.letters
}
