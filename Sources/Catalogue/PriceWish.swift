/// What a search says about the price of a night: "hotel in Paris under 100 €", "50-80 euros", "cheap". No hotel writes that, so
/// it does not count as words; it orders the hotels instead. Currencies are not converted.
struct PriceWish: Equatable {
  /// The least that a night may cost; 0 if the search does not say it.
  private(set) var least = 0.0
  /// The most that it may cost; nil for "cheap".
  private(set) var most: Double?

  /// Reads what a match of ``SaidWords/pattern`` says. If the number is the least, no price is too high.
  init(_ text: String, isLeast: Bool) {
    let numbers = Price.numbers(in: text)
    guard let last = numbers.last else { return }
    if isLeast {
      (least, most) = (numbers[0], .greatestFiniteMagnitude)
    } else {
      (least, most) = (numbers.count > 1 ? numbers[0] : 0, last)
    }
  }

  /// What several wishes ask for together: "over 50 under 100". Nil for none.
  init?(_ wishes: [PriceWish]) {
    let limits = wishes.filter { $0.most != nil }
    guard !wishes.isEmpty else { return nil }
    least = limits.map(\.least).max() ?? 0
    most = limits.compactMap(\.most).min()
  }

  /// What stands before the most that a night may cost.
  static let limits = SaidWords.list(
    """
    under,below,max,maximum,up to,less than,no more than,not more than,cheaper than,at most,within,around,about,approx,unter,bis,\
    bis zu,maximal,höchstens,weniger als,nicht mehr als,billiger als,günstiger als,etwa,ungefähr,rund,ca,circa,moins de,moins que,\
    jusqu'à,maxi,pas plus de,environ,autour de,menos de,bajo,hasta,por menos de,no más de,máximo,alrededor de,unos,meno di,fino a,\
    sotto,sotto i,non più di,massimo,intorno a,até,abaixo de,no máximo,onder,tot,minder dan,до,дешевле,не дороже,не больше,не более,около,\
    poniżej,altında,ไม่เกิน,أقل من
    """)
  /// What stands before the least.
  private static let floors = SaidWords.list(
    """
    over,above,more than,at least,min,minimum,starting at,starting from,über,mehr als,mindestens,ab,plus de,au moins,à partir de,dès,\
    más de,al menos,desde,a partir de,oltre,più di,almeno,a partire da,mais de,vanaf,от,свыше,больше,дороже
    """)
  /// What stands before two prices, and between them.
  private static let (from, to) = (
    SaidWords.list("between,zwischen,entre,from,von,de,tra,fra,da,van,от"),
    SaidWords.list("and,und,to,bis,et,à,a,y,e,tot,до,и")
  )
  /// What a price is called.
  private static let nouns = SaidWords.list(
    "price,prices,budget,cost,costs,rate,rates,preis,preise,prix,precio,precios,prezzo,prezzi,preço,цена,ценой,预算,予算"
  )
  /// What stands before or after a price, and what stands only after it.
  private static let (codes, names) = (
    SaidWords.list(
      """
      eur,euro,usd,gbp,chf,jpy,inr,aud,cad,kr,nok,sek,dkk,pln,czk,huf,thb,brl,mxn,руб,aed,cny,rmb,krw,sgd,hkd,nzd,idr,myr,php,vnd,zar,egp,\
      sar,ils,ron,bgn,uah,rub,isk
      """),
    SaidWords.list(
      """
      euros,dollar,dollars,us,us dollars,pound,pounds,pounds sterling,quid,bucks,franken,francs,yen,zł,lei,tl,rupees,евро,рублей,\
      рубля,долларов,baht,won,yuan,rupee,rupiah,ringgit,pesos,reais,dirham,dirhams,riyal,riyals,shekels,rubles,zloty,\
      forint,kronor,kroner,lira,dong,درهم,ريال,جنيه
      """)
  )
  /// A pattern for those before a price, and whether a word is one.
  static let currencies = SaidWords.either(codes + ["rs"])
  static func isCurrency(_ word: String) -> Bool { codeKeys.contains(PlaceNames.folded(word)) }
  private static let codeKeys = Set((codes + ["rs"]).map(PlaceNames.folded))
  /// The same in scripts without spaces, and what follows them for the most and for the least.
  private static let (signs, runs, upTo, andMore) = (
    "€$£¥₹₺₽₩฿₪￥￡", "円|元|块|圆|원|ユーロ|欧元|欧|美元|ドル|달러|유로|บาท", "以下|以内|之内|未満|まで|くらい|ぐらい|左右|이하|이내|미만|까지|내",
    "以上|起|から|이상|부터"
  )
  /// What stands after a price.
  private static let units = SaidWords.list(
    """
    a,per,pro,par,por,pp,pppn,pn,p.p.,the,la,die,il,al,night,nights,nightly,nacht,nuit,noche,notte,noite,ночь,сутки,за,в,per person,\
    pro person,par personne,por persona,a persona,per head,pro kopf,per room,pro zimmer,par chambre,por habitación,a camera,per day,\
    a day,pro tag,par jour,al día,al giorno,per week,a week,or less,or under,or so,max,maximum,oder weniger,ou moins,o menos
    """)
  /// What asks for the cheapest.
  private static let cheap = SaidWords.list(
    """
    cheap,cheaper,cheapest,affordable,inexpensive,low cost,low-cost,low price,low prices,budget friendly,budget-friendly,not expensive,\
    not too expensive,günstig,günstige,günstigen,günstiges,günstiger,günstigste,billig,billige,billiges,preiswert,preiswerte,\
    preiswertes,preisgünstig,nicht teuer,pas cher,pas chers,pas chère,moins cher,moins chers,bon marché,barato,baratos,barata,baratas,\
    más barato,más baratos,económico,económicos,economico,economici,economica,poco costoso,goedkoop,goedkope,tani,tanie,tanio,ucuz,\
    billigt,levný,levné,дешевые,дешевый,дешево,недорогие,недорогой,недорого,φθηνό,φθηνά,رخيص,رخيصة,זול,ราคาถูก,저렴한,安い,格安,\
    激安,便宜,便宜的,经济
    """)

  private static let cheapKeys = Set(cheap.map(PlaceNames.folded))

  /// Whether a text asks for the cheapest, and says nothing else.
  static func isCheap(_ text: String) -> Bool { cheapKeys.contains(PlaceNames.folded(text)) }

  /// A pattern of JavaScript and ICU for all of that. What says that a number is the least is in its groups.
  static let pattern: String = {
    let (either, end) = (SaidWords.either, SaidWords.end)
    let sign = "(?:(?:US|AU?|CA?|NZ|HK|S|R)?\\$|[" + signs + "]|Rs\\.?|Fr\\.)"
    let amount =
      "(?!" + StayWords.numericDate + ")(?:\\p{Nd}{1,3}(?:[ \u{A0}\u{202F}]\\p{Nd}{3})+"
      + "|\\p{Nd}[.,]?\\p{Nd}(?:[\\p{Nd}.,'’]*\\p{Nd})?|\\p{Nd}(?=[万萬만]))(?!\\p{Nd})[万萬만]?(?:[.,][-–—])?"
    let before = "(?:" + sign + "\\s*|" + either(codes) + "\\s*)"
    let unit = "(?:\\s*(?:" + sign + "|" + either(codes + names) + end + "|" + runs + "))"
    let second =
      "(?:" + unit + "?(?:\\s*[-–—~～]\\s*|\\s+" + either(to) + "\\s+)" + before + "?" + amount + ")"
    let noun = "(?:" + either(nouns) + ":?\\s+(?:(?:of|von|de|di|van|max\\.?)\\s+)?)"
    let uncounted =
      "(?!\\s*-?\\s*" + either(StayWords.counted + StayWords.months) + end + "|\\s*[%:°/])"
    // What else has a least or a most: ages and what guests think.
    let others = [
      "kids", "children", "child", "age", "aged", "adults", "Kinder", "enfants", "rating", "rated",
      "score",
    ]
    let own = "(?<!" + either(others) + "\\s)"
    let limit =
      "(?:(" + either(floors) + "[.:]?\\s+|[>≥]=?\\s*)|" + either(limits) + "[.:]?\\s+|[<≤]=?\\s*)"
    let forms = [
      noun + "?" + own + limit + noun + "?" + before + "?" + amount + second + "?" + uncounted,
      noun + "?" + either(from) + "\\s+" + before + "?" + amount + second + uncounted,
      // "Un budget de 100 euros" is no least one.
      "(from|от)\\s+(?:" + before + amount + "|" + amount + unit + ")",
      noun + "?" + before + amount + second + "?",
      noun + "?" + amount + second + "?" + unit + "(?:\\s*(?:" + upTo + "))?(\\s*(?:" + andMore
        + "))?",
      noun + amount + uncounted, amount + "(?:" + upTo + ")",
    ]
    let after = [either(units) + end, unit, upTo, "[^\\s\\p{L}\\p{Nd}]"].joined(separator: "|")
    return "(?:" + forms.joined(separator: "|") + ")(?:\\s*(?:" + after + "))*|" + either(cheap)
      + "[.,;!?]*"
  }()
}
