/// Names that people make of several words: `Nom de l'établissement`, `Price per Night`, `Endereço Completo Comercial`.
extension HotelAliases {
  /// The meaning of a name without its words that only say that it is about a hotel, or that join others; nil if there
  /// are none of those.
  ///
  /// A name with a slash is that before it: `City/Country`. A price may be named by its currency only: `€/night`.
  static func byWords(_ name: some Collection<UInt8>) -> Match? {
    // Names that programs make have no spaces. Looking at each of their words would cost too much in each row.
    guard name.count <= longestByWords, name.contains(where: joins) else {
      return nil
    }
    let words = words(of: name)
    guard words.count > 1 || hasSign(name) else { return nil }
    let rest = words.filter { !small.contains($0) && !lodgings.contains($0) }
    if rest.count < words.count, !rest.isEmpty, let match = table[rest.joined()] { return match }
    let isForNight = words.contains { nights.contains($0) }
    let isPrice = words.contains { prices.contains($0) }
    let price = rest.filter { !nights.contains($0) && !qualities.contains($0) }
    if isForNight || isPrice {
      let isOnlyPrice = price.allSatisfy { prices.contains($0) || currencies.contains($0) }
      let hasCurrency = price.contains { currencies.contains($0) } || hasSign(name)
      if isOnlyPrice, isPrice || hasCurrency { return Match(meaning: .price, rank: price.count) }
    }
    let plain = rest.filter { !qualities.contains($0) }
    if plain.count < rest.count, !plain.isEmpty, let match = table[plain.joined()] { return match }
    guard let slash = name.firstIndex(of: UInt8(ascii: "/")), slash != name.startIndex else {
      return nil
    }
    return table[letters(of: name[..<slash])]
  }

  /// The meanings of two words that name two things in one value: `PLZ / Ort`, `Zip, City`.
  static func isPostcodeAndCity(_ name: String) -> Bool {
    guard name.utf8.count <= longestByWords,
      name.utf8.contains(where: { $0 == 0x2F || $0 == 0x26 || $0 == 0x2C })
    else { return false }
    let words = words(of: name.utf8).filter { !joints.contains($0) }
    guard words.count > 1 else { return false }
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
  static func isLodging(_ name: String) -> Bool {
    lodgings.contains(letters(of: name.utf8))
  }

  /// Whether people put such a sign between two words, or write so in other languages than English.
  private static func joins(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x20, 0x26, 0x27, 0x2C, 0x2D, 0x2F, 0x80...: true
    default: false
    }
  }

  /// Longer names are sentences, in bytes.
  private static let longestByWords = 80

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

  private static func hasSign(_ name: some Collection<UInt8>) -> Bool {
    String(decoding: name, as: UTF8.self).unicodeScalars.contains {
      $0.properties.generalCategory == .currencySymbol
    }
  }

  private static func set(_ words: String) -> Set<String> {
    Set(words.split(separator: " ").map { letters(of: $0.utf8) })
  }

  private static let joints = set("und and et y e ed og och i en")
  /// Articles and prepositions.
  private static let small = set(
    """
    of the a an per for in at by de del della dell dello di d du des da do dos das la le les l el los il lo der die das \
    des den dem pro par por para pour a à al für ab dès desde od za na w v pe pr per ανά για هر from van het till för til و в за на от с je
    """)
  /// The words for a place to stay.
  private static let lodgings = set(
    """
    hotel hotels hotelu hotelul hotelli hoteli property properties accommodation accommodations lodging establishment \
    etablissement hébergement alojamiento alojamento empreendimento estabelecimento establecimiento struttura \
    ricettiva albergo unterkunft betrieb betriebs objekt obiektu obiekt szallas otel otelin tesis konaklama \
    accommodatie logement hotellet boende hospedaje гостиницы отеля готелю объекта размещения ξενοδοχείου khách sạn
    """)
  private static let nights = set(
    """
    night nightly nuit noche notte noite noapte nacht natt nat yo noc noci διανυκτερευση βραδυ ללילה שב شب ночь сутки ніч gece gecelik đêm mỗi malam pernight éj 1박 1泊 一晚 每晚 الليلة لليلة
    """)
  private static let prices = set(
    """
    price rate cost preis prix precio prezzo preço prijs cena fiyat fiyatı ücret ücreti цена стоимость ціна tarif tarifa \
    tariffa diária giá harga pris ár hinta preţ τιμή 가격 요금 料金 価格 价格 سعر السعر \
    מחיר قیمت pret
    """)
  private static let currencies = set(
    """
    eur usd gbp chf jpy cny inr aud cad nzd sek nok dkk pln czk huf try rub uah brl mxn thb vnd idr krw hkd sgd twd zar \
    aed ils euro euros руб рублей грн zł kč kr tl ft lei dollars
    """
  )
  /// What only says which of several it is.
  private static let qualities = set(
    """
    full complete complet complète completo completa vollständige postal commercial comercial commerciale own \
    własna własny official officiel oficial main regular starting start minimum min lowest average avg base daily \
    minimal minimaler durchschnittlicher partir physical short long detailed brief public general geographic
    """)
}
