import Text

/// Words that people write around what they look for. A search without them finds the same and more.
enum SearchStopWords {
  /// Words of English, French, German, Spanish, Italian and Russian that stand before a noun or between two.
  static let small = words(
    """
    a an the and or of at in on to with for by near nearby around from me de la le les du des et der die das und im am mit el los las del \
    y lo gli di bei nahe cerca в во на у около close next where con avec com vom zum zur nähe proche près vicino perto von рядом недалеко \
    возле от с со ein eine einen einem einer un une una uno um uma au aux dans sur auf für pour para per nel nella alla allo dal dalla een \
    het bij voor na do przy och nära ve i we my our me us need want would like looking search searching find show book booking please some \
    any is are that has have having included inclusive incl inkl inklusive inclus compris incluido incluida incluso ich suche suchen je \
    cherche busco quiero cerco vorrei procuro zoek szukam ищу хочу нужен нужна em en met في من قرب upon med cu z з στο στη στην στον με \
    में مع what which where who how there that could does should you your they offer offers offering allow allows recommend recommended wo \
    wie welche welches gibt kann wir où ou quel quels quelle quelles peut donde dónde cuáles puedo quale quali posso onde quais waar \
    waarom gdzie jak kde где куда какие есть можно hvor nerede schlafen übernachten dormir loger séjourner alojarse hospedarse quedarse \
    dormire alloggiare soggiornare pernottare ficar hospedar overnachten slapen spać nocować остановиться переночевать ночевать снять \
    kalınır di dekat dengan 있는 포함 가까운
    """)
  /// What every result is.
  static let kinds = words(
    """
    hotel hotels hoteles accommodation accommodations lodging lodgings place places stay staying отель отели гостиница гостиницы \
    ξενοδοχείο ξενοδοχεία otel oteller hotell hotelli albergo alberghi alloggio alloggi hébergement hébergements otelleri готель готелі \
    готелю готелів отеля отелей отелях гостинице гостиниц гостиницу хотел хотели होटल هتل hotelu hotely hotelů hotelech hotelów hotelach \
    hoteluri hoteli hoteller hotellit szállás szálloda nocleg noclegi ubytování ubytovanie unterkunft unterkünfte alojamiento alojamientos \
    hotele hotéis فندق فنادق מלון מלונות โรงแรม ที่พัก 宿 🏨 htl room rooms zimmer chambre chambres habitación habitaciones camera camere \
    quarto quartos kamer kamers pokój pokoje номер номера odalar غرفة غرف חדר חדרים übernachtung übernachtungen ໂຮງແຮມ សណ្ឋាគារ হোটেল ہوٹل
    """
  ).union(runs.flatMap(words))
  /// The same in scripts without spaces, and words that stand between a place and one of them.
  static let (runs, links) = (
    ["ホテル", "酒店", "飯店", "饭店", "宾馆", "旅馆", "호텔", "住宿", "宿泊", "部屋", "숙소", "숙박"],
    [
      "附近的", "附近", "周边的", "周边", "旁边的", "周辺の", "周辺", "近くの", "付近の", "付近", "근처", "주변", "의", "の", "的",
      "ใน", "ที่",
    ]
  )
  /// What people wish of all of them: before one of ``kinds`` it says nothing. Best Western stays.
  static let praise = words(
    """
    best cheap cheapest good top affordable inexpensive beste besten günstige günstigen günstiges billige billiges gute gutes meilleur \
    meilleurs mejores migliori лучшие дешевые недорогие недорогой хорошие
    """)

  /// What is one of them before one of ``kinds`` if another word counts, and a place otherwise.
  static let doubtful: Set<String> = ["nice"]

  static func words(_ text: String) -> Set<String> {
    Set(FoldedText(text).terms.flatMap(\.parts).map(\.text))
  }

  /// Whether all terms of a text are among ``small`` and ``kinds``. False for a text without a term.
  static func areAll(_ text: String) -> Bool {
    let parts = FoldedText(text).terms.map(\.parts)
    return !parts.isEmpty
      && parts.allSatisfy {
        $0.count == 1 && (small.contains($0[0].text) || kinds.contains($0[0].text))
      }
  }

  /// "❤️ london".
  private static func isPictograph(_ text: String) -> Bool {
    text.unicodeScalars.first?.properties.generalCategory == .otherSymbol
  }

  /// The terms that count: neither stop words nor pictographs. If there is no other, they count.
  static func without<Term>(_ terms: [Term], _ parts: (Term) -> [FoldedText.Part]) -> [Term] {
    func isOne(of words: Set<String>, _ term: Term) -> Bool {
      let parts = parts(term)
      return parts.count == 1
        && parts.allSatisfy { words.contains($0.text) || words == small && isPictograph($0.text) }
    }
    let wished = terms.indices.filter { index in
      let isBeforeKind = index + 1 < terms.count && isOne(of: kinds, terms[index + 1])
      if isBeforeKind, isOne(of: doubtful, terms[index]) {
        return !terms.indices.contains { other in
          ![doubtful, small, kinds].contains { isOne(of: $0, terms[other]) }
        }
      }
      return !(isBeforeKind && isOne(of: praise, terms[index]))
    }.map { terms[$0] }
    return [small, kinds].reduce(wished) { terms, words in
      let rest = terms.filter { !isOne(of: words, $0) }
      return rest.isEmpty ? terms : rest
    }
  }
}

/// What a hotel of a search must not have: `paris -hostel`, "Paris without breakfast".
struct ExcludedWords {
  /// What a search says that it does not want.
  struct Refused {
    /// The word that says so.
    let negation: String
    let name: String
  }

  /// The whole text.
  let text: String
  /// The text without them.
  let rest: String
  /// The words without their hyphens.
  let words: [String]
  let refused: [Refused]

  var isEmpty: Bool { words.isEmpty && refused.isEmpty }

  private static let compiled = TextPattern(AmenityNames.refusalPattern)

  init(_ text: String) {
    self.text = text
    let plain = text.normalized(.canonical)
    let matches = Self.compiled?.matches(in: plain) ?? []
    words = matches.filter { $0.groups.allSatisfy { $0 == nil } }.map {
      String($0.text.dropFirst())
    }
    refused = matches.compactMap { match in
      guard let name = match.groups.lazy.compactMap(\.self).first else { return nil }
      let negation = match.text.prefix { !$0.isWhitespace }
      return Refused(negation: String(negation), name: name)
    }
    rest = matches.isEmpty ? text : Self.compiled?.replaced(in: plain, by: " ") ?? text
  }
}
