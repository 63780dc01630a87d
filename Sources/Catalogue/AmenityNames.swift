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
      "balcony|Balkon|balcon|balcón|balcone|varanda|балкон|балконом|バルコニー|阳台|陽台|발코니",
      """
      air conditioning|Klimaanlage|climatisation|climatisé|aire acondicionado|aria condizionata|ar condicionado|кондиционер\
      |кондиционером|エアコン|空调|空調|에어컨|مكيف|מיזוג
      """,
      "gym|Fitnessraum|Fitnessstudio|salle de sport|gimnasio|palestra|спортзал|тренажерный зал|ジム|健身房|헬스장",
      "children|Kinder|enfants|niños|bambini|crianças|дети|детей|детьми|子供|子ども|儿童|어린이",
      "hostel|Jugendherberge|auberge de jeunesse|albergue|ostello|хостел|ホステル|青年旅舍|호스텔",
      "apartment|Ferienwohnung|appartement|apartamento|appartamento|апартаменты|公寓",
      "beach|plage|playa|spiaggia|plaża|plaj|пляж|пляжа|παραλία|ビーチ|海滩|海灘|해변|شاطئ",
      "airport|Flughafen|aéroport|aeropuerto|aeroporto|lotnisko|havalimanı|аэропорт|аэропорта|空港|机场|機場|공항|مطار",
      "wifi|Вай-фай|вайфай|вай фай|와이파이|无线网络|无线上网|無線LAN|واي فاي",
      "free|kostenlos|kostenlose|kostenloser|kostenloses|gratis|gratuit|gratuite|gratuito|gratuita|бесплатный|бесплатно|無料|免费|免費|무료|مجاني",
      "non smoking|Nichtraucher|Nichtraucherzimmer|non fumeur|no fumadores|non fumatori|для некурящих|禁煙|禁烟|금연",
      """
      sea view|Meerblick|Meeresblick|vue mer|vue sur mer|vista al mar|vistas al mar|vista mare|vista mar|вид на море|видом на море\
      |オーシャンビュー|海景|오션뷰
      """,
      "lake view|Seeblick|vue lac|vista lago|вид на озеро|湖景",
      "fireplace|Kamin|cheminée|chimenea|caminetto|камин|камином|暖炉|壁炉|벽난로",
      "jacuzzi|джакузи|ジャグジー|按摩浴缸|자쿠지", "bathtub|Badewanne|baignoire|bañera|banheira|バスタブ|浴缸|욕조",
      """
      double room|Doppelzimmer|chambre double|habitación doble|camera doppia|camera matrimoniale|quarto duplo|двухместный номер\
      |ダブルルーム|双人房|雙人房|더블룸
      """,
      "single room|Einzelzimmer|chambre simple|chambre individuelle|habitación individual|camera singola|одноместный номер|单人房",
      "family room|Familienzimmer|chambre familiale|habitación familiar|camera familiare|семейный номер|ファミリールーム|家庭房|가족룸",
      "family|Familie|Familien|famille|familles|familias|famiglia|famiglie|семья|семьи|семьей|семейный|家族|亲子|가족",
      "romantic|romantisch|romantisches|romantique|romántico|romantico|романтический|романтичный|ロマンチック|浪漫|로맨틱",
      "luxury|Luxus|Luxushotel|luxe|lujo|lusso|люкс|роскошный|高級|高级|豪华|豪華|럭셔리|فاخر",
      "quiet|ruhig|ruhiges|ruhige|calme|tranquille|tranquilo|tranquillo|тихий|тихое|静か|安静|조용한",
      """
      centre|Zentrum|Innenstadt|Stadtzentrum|Stadtmitte|centre ville|centro|centro ciudad|centro città|centrum|центр|центре|центра\
      |市中心|中心街|시내|도심
      """,
      "station|Bahnhof|gare|estación|stazione|estação|вокзал|вокзала|车站|車站|火车站|기차역",
      "lift|Aufzug|Fahrstuhl|ascenseur|ascensor|ascensore|elevator|elevador|лифт|лифтом|エレベーター|电梯|電梯|엘리베이터",
      "wheelchair|Rollstuhl|fauteuil roulant|silla de ruedas|sedia a rotelle|車椅子|轮椅|輪椅|휠체어",
      "accessible|barrierefrei|accesible|accessibile|バリアフリー|无障碍",
      "campsite|Campingplatz|Zeltplatz|campeggio|кемпинг|キャンプ場|露营地|캠핑장",
      "cottage|Ferienhaus|gîte|casa rural|коттедж",
      "castle|Schloss|château|castillo|castello|замок|замке|城堡|お城",
      "lake|lac|lago|озеро|озера|озере", "ski|Skifahren|esquí|лыжи|スキー|滑雪|스키",
      "golf|гольф|ゴルフ|高尔夫|골프",
      "spa|Wellness|balneario|спа|スパ|水疗|스파",
      "bike|Fahrrad|vélo|vélos|bicicleta|bicicletas|велосипед|自転車|自行车|자전거",
      "terrace|Terrasse|terraza|terrazza|terraço|терраса|террасой|テラス|露台|테라스", "bar|бар|баром|酒吧",
      "laundry|Wäscherei|Waschmaschine|laverie|lavandería|lavanderia|прачечная|ランドリー|洗衣|세탁",
      "shuttle|navette|navetta|Flughafentransfer|трансфер|シャトル|班车|셔틀",
    ].map { $0.split(separator: "|").map(String.init) }
    + (2...20).map { number in
      let ordinals = [2: "2nd", 3: "3rd"]
      return [ordinals[number] ?? "\(number)th", "\(number)e", "\(number)ème", "\(number)eme"]
    }

  /// What a search may say that it does not want, beside the first lines of ``all``.
  private static let others = [
    "pet", "kids", "internet", "bar", "spa", "motel", "chain",
  ]
  private static let refusable = all.prefix(15).flatMap(\.self) + others
  private static let unspaced = refusable.filter { ($0.unicodeScalars.first?.value ?? 0) >= 0x2E80 }

  /// What stands before it.
  private static let before = [
    "no", "not", "non", "without", "without any", "with no", "except", "excluding", "but not",
    "ohne", "kein", "keine", "keinen",
    "nicht", "außer", "sans", "pas de", "sauf", "sin", "excepto", "senza", "sem",
    "zonder", "geen", "bez", "без",
    "кроме", "بدون", "ללא",
  ]
  /// What "no" stands before in Portuguese, where it means "in the": "no jardim".
  private static let withinInPortuguese = ["jardim", "restaurante", "estacionamento"]
  /// What may follow it.
  private static let after = [
    "allowed", "included", "erlaubt", "inbegriffen", "inklusive", "admis", "inclus", "incluido",
    "please",
  ]
  /// What stands before a place where the hotels must not be, and such places.
  private static let outside = SaidWords.list(
    """
    not,not in,outside,outside of,except,except in,excluding,but not,but not in,nicht in,außer,außerhalb von,ausser,sauf,hors de,\
    excepto,fuera de,salvo,tranne,кроме
    """)
  private static let places: [String] = {
    var names = ["UK", "USA", "Great Britain", "London", "Paris", "Berlin", "Manhattan"]
    for line in CityNames.lines + CityNames.foreign {
      names += line.split(separator: "|").dropFirst().map(String.init)
    }
    for region in NamedRegion.all { names += region.names }
    names += SpelledQuery.places.values
    return names
  }()
  /// The same in scripts without spaces: at the beginning and at the end of a word.
  private static let (prefixes, suffixes) = (
    "不含|不带|没有|无|無|不要", "なし|無し|抜き|不可|없음|없는"
  )

  /// A pattern of JavaScript and ICU for what a search does not want: a word with a hyphen before it, or what is in one of
  /// the groups. A hyphen means it before the first letter of a word.
  static let refusalPattern: String = {
    let either = SaidWords.either
    let names = either(unspaced)
    return "(?<!\\S)(?:-\\p{L}\\S*(?<![.,;!?])|(?!no\\s+" + either(withinInPortuguese) + ")"
      + "(?:" + either(before) + "\\s+(?:(?:an?|any|the|einen?)\\s+)?|pas d['’])("
      + either(refusable) + ")s?(?:\\s+" + either(after) + ")?|" + either(outside)
      + "\\s+(" + either(places) + ")|(?:" + prefixes + ")(" + names + ")|(" + names
      + ")(?:" + suffixes + "))[.,;!?]*(?!\\S)"
  }()
}
