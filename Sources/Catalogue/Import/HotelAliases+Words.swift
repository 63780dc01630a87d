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
    guard words.count > 1 || isFirst || hasSign(name) else { return nil }
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
      let hasCurrency = price.contains { currencies.contains($0) } || hasSign(name)
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
  private static let others = [
    "備考", "備註", "备注", "コード", "代碼", "代码", "코드", "fax", "ファックス", "팩스", "傳真", "传真", "内線", "営業者", "代表者",
    "法人", "負責人", "负责人", "申請者", "대표자",
  ]

  /// The meanings of two words that name two things in one value: `PLZ / Ort`, `Zip, City`.
  static func isPostcodeAndCity(_ name: String) -> Bool {
    guard name.utf8.count <= longestByWords else { return false }
    let all = words(of: name.utf8)
    let words = all.filter { !joints.contains($0) }
    guard words.count > 1,
      words.count < all.count
        || name.utf8.contains(where: { $0 == 0x2F || $0 == 0x26 || $0 == 0x2C })
    else { return false }
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

  private static func hasSign(_ name: some Collection<UInt8>) -> Bool {
    String(decoding: name, as: UTF8.self).unicodeScalars.contains {
      $0.properties.generalCategory == .currencySymbol
    }
  }

  static func set(_ words: String) -> Set<String> {
    Set(words.split(separator: " ").map { letters(of: $0.utf8) })
  }

  private static let joints = set("und and et y e ed og och i en")
  /// Articles and prepositions.
  private static let small = set(
    """
    of the a an per for in at by de del della dell dello di d du des da do dos das la le les l el los il lo der die das \
    des den dem pro par por para pour a à al für ab dès desde od za na w v pe pr per ανά για هر from van het till för til و в за на от с je från fra ab from och vanaf nuo الواحدة места нахождения
    """)
  /// The words for a place to stay.
  private static let lodgings = set(
    """
    hotel hotels hotelu hotelul hotelli hoteli property properties accommodation accommodations lodging establishment \
    etablissement hébergement alojamiento alojamento empreendimento estabelecimento establecimiento struttura \
    ricettiva albergo unterkunft betrieb betriebs objekt obiektu obiekt szallas otel otelin tesis konaklama \
    accommodatie logement hotellet boende hospedaje гостиницы отеля готелю объекта размещения ξενοδοχείου khách sạn \
    établissement establecemento unitate unității обекта закладу објекта objekta objekti zařízení zariadenia zariadenie szálláshely \
    szálloda cơ sở lưu trú المنشأة الفندق premis hoteli الفندقية হোটেলের სასტუმროს tesisin poi בית המלון \
    nastanitve establiment viešbučio majoitusliikkeen majoituskohteen hotellin majutusettevõtte majutusasutuse \
    majutuskoha hotelli naktsmītnes viesnīcas mītnes apgyvendinimo įstaigos obrata nastanitvenega smještaja smeštaja \
    ubytovania ubytovacieho ubytování ubytovacího provozovny noclegowego hotelarskiego hotelului structurii cazare \
    καταλύματος καταλυματος işletmenin хотела местата настаняване средства размещения gististaðar \
    overnatningsstedets overnattingsstedets boendets anläggningens ostatuaren establezimenduaren
    """)
  private static let nights = set(
    """
    night nightly nuit noche notte noite noapte nacht natt nat yo noc noci διανυκτερευση βραδυ ללילה שב شب ночь сутки ніч gece gecelik đêm mỗi malam pernight éj semalam natë 1박 1泊 一晚 每晚 الليلة لليلة
    """)
  private static let prices = set(
    """
    price rate cost preis prix precio prezzo preço prijs cena fiyat fiyatı ücret ücreti цена стоимость ціна tarif tarifa \
    tariffa diária giá harga pris ár hinta preţ τιμή 가격 요금 料金 価格 价格 سعر السعر \
    מחיר قیمت pret çmimi verð
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
    minimal minimaler durchschnittlicher partir physical short long detailed brief public general geographic \
    полное контактный классифицированного ufficiale \
    breve breves corta kurz kurze kurzer nm cd deg dd
    """)
  /// What only says that a value is a number, or which one of several.
  private static let numbers = set(
    """
    no nr num number numbers numer numero número numéro nummer n nº broj číslo номер nomor nombor numarası s nbr رقم primary \
    contact
    """)
  private static let mails = set(
    "email e mail mel courriel correo post posta pošta epost eposta epošta электронный электронная электронной електронна имейл"
  )
  /// Those that are mail on paper, too, unless such a word is beside them.
  private static let (posts, electronic) = (
    set("post posta pošta"), ["elektr", "electr", "elettr", "eletr"]
  )
  private static let webs = set(
    "web www internet interneto internetová internetowa internetowy online site sito сайт сайта сайту"
  )
  /// Words beside those for mail and the web.
  private static let addresses = set(
    """
    address addresses adres adresa adresă adresse adress adresi adresy adresu adresas aadress adreça dirección direccion \
    endereço indirizzo cím címe cim page pagina página pàgina stránka stranica strana strona stran sivu sida sivusto \
    sitesi sitio url link svetainė адрес адреса адреси сторінка почта почты пошта пошти electrónico electronico electrónica electrònic \
    elettronica eletrônico eletronico elektroniczny elektronische elektronska elektronički
    """)
}
