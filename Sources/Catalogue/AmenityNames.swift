import Text

/// What hotels have, in other languages than English, and how a search says that it is not wanted: "Paris Frühstück",
/// "no pets", "sans petit déjeuner", 朝食なし.
enum AmenityNames {
  /// Each English word as hotels have it, followed by its names. Names that are also places or parts of names of hotels
  /// ("Strand", "Praia", "cuisine") are left out.
  static let all: [[String]] =
    [
      """
      breakfast|Frühstück|Fruehstueck|petit déjeuner|petit-déjeuner|petits déjeuners|desayuno|colazione|café da manhã|pequeno-almoço\
      |ontbijt|śniadanie|śniadania|kahvaltı|завтрак|завтрака|завтраком|сніданок|πρωινό|朝食|朝食付き|早餐|含早餐|조식|อาหารเช้า|إفطار\
      |ארוחת בוקר|नाश्ता
      """,
      """
      pool|swimming pool|Schwimmbad|Swimmingpool|piscine|piscina|zwembad|basen|basenu|havuz|бассейн|бассейна|бассейном\
      |πισίνα|プール|游泳池|泳池|수영장|สระว่ายน้ำ|مسبح|בריכה
      """,
      """
      parking|Parkplatz|Parkplätze|stationnement|aparcamiento|parcheggio|estacionamento|estacionamiento|otopark|парковка\
      |парковки|парковкой|駐車場|停车场|停車場|주차장|ที่จอดรถ|חניה
      """,
      """
      pets|dogs|dog|Haustiere|Haustier|Hunde|Hund|animaux|chiens|chien|mascotas|perros|animali|cani|huisdieren|zwierzęta\
      |zwierząt|животные|животных|животными|ペット|ペット可|宠物|寵物|반려동물
      """,
      "garden|Garten|jardin|jardín|giardino|jardim|ogród|bahçe|сад|花园|花園|정원",
      "kitchen|Küche|cocina|cucina|cozinha|keuken|kuchnia|mutfak|кухня|кухней|キッチン|厨房|주방",
      "restaurant|restaurante|ristorante|ресторан|рестораном|レストラン|餐厅|餐廳|레스토랑",
      "sauna|сауна|сауны|サウナ|桑拿|사우나",
      "beach|plage|playa|spiaggia|plaża|plaj|пляж|пляжа|παραλία|ビーチ|海滩|海灘|해변|شاطئ",
      "airport|Flughafen|aéroport|aeropuerto|aeroporto|lotnisko|havalimanı|аэропорт|аэропорта|空港|机场|機場|공항|مطار",
      "hostel|Jugendherberge|auberge de jeunesse|albergue|ostello|хостел|ホステル|青年旅舍|호스텔",
      "apartment|Ferienwohnung|appartement|apartamento|appartamento|апартаменты|公寓",
    ].map { $0.split(separator: "|").map(String.init) }
    + (2...20).map { number in
      let ordinals = [2: "2nd", 3: "3rd"]
      return [ordinals[number] ?? "\(number)th", "\(number)e", "\(number)ème", "\(number)eme"]
    }

  /// What a search may say that it does not want, beside the first lines of ``all``.
  private static let others = [
    "pet", "children", "kids", "wifi", "internet", "bar", "spa", "gym", "balcony",
    "air conditioning",
  ]
  private static let refusable = all.prefix(8).flatMap(\.self) + others
  private static let refusableKeys = Set(refusable.map(PlaceNames.folded))
  private static let unspaced = refusable.filter { ($0.unicodeScalars.first?.value ?? 0) >= 0x2E80 }
  private static let unspacedKeys = Set(unspaced.map(PlaceNames.folded))

  /// What stands before it.
  private static let before = [
    "no", "without", "ohne", "kein", "keine", "keinen", "sans", "pas de", "sin", "senza", "sem",
    "zonder", "bez", "без",
    "بدون", "ללא",
  ]
  /// What "no" stands before in Portuguese, where it means "in the": "no jardim".
  private static let withinInPortuguese = ["jardim", "restaurante", "estacionamento"]
  private static let beforeKeys = Set(before.map(PlaceNames.folded))
  private static let firstKeys = Set(
    before.map { PlaceNames.folded(String($0.prefix { $0 != " " })) })
  /// What may follow it.
  private static let after = [
    "allowed", "included", "erlaubt", "inbegriffen", "inklusive", "admis", "inclus", "incluido",
  ]
  private static let afterKeys = Set(after.map(PlaceNames.folded))
  /// The same in scripts without spaces: at the beginning and at the end of a word.
  private static let (prefixes, suffixes) = (
    ["不含", "不带", "没有", "无", "無"], ["なし", "無し", "抜き", "不可", "없음"]
  )

  /// The same rule as ``refused(at:of:)``, as a regular expression of JavaScript: one of its groups has what is not wanted.
  static let refusalPattern: String = {
    func either(_ names: [String]) -> String {
      let plain = names.map {
        FoldedText($0).terms.flatMap(\.parts).map(\.text).joined(separator: " ")
      }
      return Set(names + plain).sorted { ($1.utf8.count, $0) < ($0.utf8.count, $1) }
        .joined(separator: "|")
    }
    let names = either(unspaced)
    return "(?<!\\S)(?:(?!no\\s+(?:" + withinInPortuguese.joined(separator: "|") + "))(?:"
      + either(before) + ")\\s+(" + either(refusable) + ")(?:\\s+(?:"
      + either(after) + "))?|(?:" + prefixes.joined(separator: "|") + ")(" + names + ")|(" + names
      + ")(?:" + suffixes.joined(separator: "|") + "))[.,;!?]*(?!\\S)"
  }()

  /// What a search does not want.
  struct Refused {
    /// The folded word that says so; empty in scripts without spaces.
    let negation: String
    let name: String
    /// How many tokens say it.
    let count: Int
  }

  /// What tokens from an index on say that they do not want: "no pets", "sans petit déjeuner".
  static func refused(at index: Int, of tokens: [Substring]) -> Refused? {
    let token = tokens[index]
    for (affixes, isPrefix) in [(prefixes, true), (suffixes, false)] {
      for affix in affixes where isPrefix ? token.hasPrefix(affix) : token.hasSuffix(affix) {
        let name = String(isPrefix ? token.dropFirst(affix.count) : token.dropLast(affix.count))
        if unspacedKeys.contains(PlaceNames.folded(name)) {
          return Refused(negation: "", name: name, count: 1)
        }
      }
    }
    guard firstKeys.contains(PlaceNames.folded(String(token))) else { return nil }
    let keys = tokens[index..<min(index + 6, tokens.count)].map { PlaceNames.folded(String($0)) }
    for words in [1, 2] where words < keys.count {
      guard beforeKeys.contains(keys[..<words].joined()),
        keys[0] != "no" || !withinInPortuguese.contains(keys[1])
      else { continue }
      for length in [3, 2, 1] where words + length <= keys.count {
        guard refusableKeys.contains(keys[words..<words + length].joined()) else { continue }
        let from = index + words
        let isFollowed = words + length < keys.count && afterKeys.contains(keys[words + length])
        return Refused(
          negation: keys[0], name: tokens[from..<from + length].joined(separator: " "),
          count: words + length + (isFollowed ? 1 : 0))
      }
    }
    return nil
  }
}
