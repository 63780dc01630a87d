import Text

/// Names of states, provinces and regions in other languages than the one that a list of hotels uses.
///
/// A line has the country's code, the state's code of ISO 3166-2 and the English name, then its own name and those in German,
/// French, Spanish, Japanese and simplified Chinese that differ; the traditional forms are ICU's. Names that ``NamedRegion``
/// has, too, are in both: these are for hotels that say their state, those for hotels whose position is known.
///
/// Source: Unicode CLDR, "Subdivisions", without the words for state, region and prefecture, which are in
/// ``PlaceNames/endings``.
enum StateNames {
  /// A state of a country, and its names.
  struct State: Sendable {
    /// The country's code.
    let country: String
    let code: String
    /// The English name comes first.
    let names: [String]
  }

  static let all: [State] = {
    let named = simplified
    let chinese = named.map { state in
      state.names.filter { name in
        name.unicodeScalars.allSatisfy { (0x4E00...0x9FFF).contains($0.value) }
      }
    }
    // All in one call, because the rules are read for each.
    var traditional = TraditionalChinese.texts(of: chinese.flatMap(\.self))[...]
    return zip(named, chinese).map { state, chinese in
      let others = traditional.prefix(chinese.count)
      traditional = traditional.dropFirst(chinese.count)
      return State(country: state.country, code: state.code, names: state.names + others)
    }
  }()

  /// The states with the names of ``lines``.
  private static let simplified: [State] = lines.split(separator: "\n").flatMap { line -> [State] in
    let country = line.prefix(2)
    return line.dropFirst(3).split(separator: ";").map { state in
      let fields = state.split(separator: "|").map(String.init)
      return State(country: String(country), code: fields[0], names: Array(fields.dropFirst()))
    }
  }

  private static let lines = """
    US AL|Alabama|アラバマ|阿拉巴马|亚拉巴马;AK|Alaska|アラスカ|阿拉斯加;AZ|Arizona|アリゾナ|亚利桑那
    US AR|Arkansas|アーカンソー|阿肯色;CA|California|Kalifornien|Californie|カリフォルニア|加利福尼亚|加州
    US CO|Colorado|コロラド|科罗拉多;CT|Connecticut|コネチカット|康涅狄格;DE|Delaware|デラウェア|特拉华
    US DC|District of Columbia|コロンビア特別区|哥伦比亚特区;FL|Florida|Floride|フロリダ|佛罗里达
    US GA|Georgia|Géorgie|ジョージア|佐治亚;HI|Hawaii|Hawaï|Hawái|ハワイ|夏威夷;ID|Idaho|アイダホ|爱达荷
    US IL|Illinois|イリノイ|伊利诺伊;IN|Indiana|インディアナ|印第安纳;IA|Iowa|アイオワ|艾奥瓦
    US KS|Kansas|カンザス|堪萨斯;KY|Kentucky|ケンタッキー|肯塔基;LA|Louisiana|Louisiane|Luisiana|ルイジアナ|路易斯安那
    US ME|Maine|メイン|缅因;MD|Maryland|メリーランド|马里兰;MA|Massachusetts|マサチューセッツ|马萨诸塞|麻省
    US MI|Michigan|ミシガン|密歇根;MN|Minnesota|ミネソタ|明尼苏达;MS|Mississippi|Misisipi|ミシシッピ|密西西比
    US MO|Missouri|Misuri|ミズーリ|密苏里;MT|Montana|モンタナ|蒙大拿;NE|Nebraska|ネブラスカ|内布拉斯加
    US NV|Nevada|ネバダ|内华达;NH|New Hampshire|Nuevo Hampshire|ニューハンプシャー|新罕布什尔
    US NJ|New Jersey|Nueva Jersey|ニュージャージー|新泽西;NM|New Mexico|Nouveau-Mexique|Nuevo México|ニューメキシコ|新墨西哥
    US NY|New York|Nueva York|ニューヨーク|纽约;NC|North Carolina|Caroline du Nord|Carolina del Norte|ノースカロライナ|北卡罗来纳
    US ND|North Dakota|Dakota du Nord|Dakota del Norte|ノースダコタ|北达科他;OH|Ohio|オハイオ|俄亥俄
    US OK|Oklahoma|オクラホマ|俄克拉何马;OR|Oregon|Oregón|オレゴン|俄勒冈;PA|Pennsylvania|Pennsylvanie|Pensilvania|ペンシルベニア|宾夕法尼亚|宾州
    US RI|Rhode Island|ロードアイランド|罗得岛;SC|South Carolina|Caroline du Sud|Carolina del Sur|サウスカロライナ|南卡罗来纳
    US SD|South Dakota|Dakota du Sud|Dakota del Sur|サウスダコタ|南达科他;TN|Tennessee|テネシー|田纳西
    US TX|Texas|Tejas|テキサス|得克萨斯|德州;UT|Utah|ユタ|犹他;VT|Vermont|バーモント|佛蒙特;VA|Virginia|Virginie|バージニア|弗吉尼亚
    US WA|Washington|ワシントン|华盛顿;WV|West Virginia|Virginie-Occidentale|Virginia Occidental|ウェストバージニア|西弗吉尼亚
    US WI|Wisconsin|ウィスコンシン|威斯康星;WY|Wyoming|ワイオミング|怀俄明;PR|Puerto Rico|Porto Rico|プエルトリコ|波多黎各
    CA AB|Alberta|アルバータ|艾伯塔|阿尔伯塔;MB|Manitoba|マニトバ|马尼托巴;ON|Ontario|オンタリオ|安大略
    CA BC|British Columbia|Colombie-Britannique|Columbia Británica|ブリティッシュコロンビア|不列颠哥伦比亚
    CA NB|New Brunswick|Nouveau-Brunswick|Nuevo Brunswick|Neubraunschweig|ニューブランズウィック|新不伦瑞克
    CA NL|Newfoundland and Labrador|Terre-Neuve-et-Labrador|Neufundland und Labrador|Terranova y Labrador|ニューファンドランド・ラブラドール|纽芬兰与拉布拉多
    CA NS|Nova Scotia|Nouvelle-Écosse|Neuschottland|Nueva Escocia|ノバスコシア|新斯科舍
    CA PE|Prince Edward Island|Île-du-Prince-Édouard|Isla del Príncipe Eduardo|プリンスエドワードアイランド|爱德华王子岛
    CA QC|Quebec|ケベック|魁北克;SK|Saskatchewan|サスカチュワン|萨斯喀彻温;NU|Nunavut|ヌナブト|努纳武特;YT|Yukon|ユーコン|育空
    CA NT|Northwest Territories|Territoires du Nord-Ouest|Nordwest-Territorien|Territorios del Noroeste|ノースウエスト|西北地区
    AU ACT|Australian Capital Territory|オーストラリア首都特別地域|澳大利亚首都特区;NSW|New South Wales|Neusüdwales|Nouvelle-Galles du Sud|Nueva Gales del Sur|ニューサウスウェールズ|新南威尔士
    AU NT|Northern Territory|Territoire du Nord|Territorio del Norte|ノーザンテリトリー|北领地;QLD|Queensland|クイーンズランド|昆士兰
    AU SA|South Australia|Südaustralien|Australie-Méridionale|Australia Meridional|南オーストラリア|南澳大利亚
    AU TAS|Tasmania|Tasmanien|Tasmanie|タスマニア|塔斯马尼亚;VIC|Victoria|ビクトリア|维多利亚
    AU WA|Western Australia|Westaustralien|Australie-Occidentale|Australia Occidental|西オーストラリア|西澳大利亚
    GB WLS|Wales|Cymru|Pays de Galles|Gales|Galles|Уэльс|ウェールズ|威尔士;SCT|Scotland|Schottland|Écosse|Escocia|Scozia|Schotland|Шотландия|スコットランド|苏格兰|스코틀랜드
    GB ENG|England|Angleterre|Inglaterra|Inghilterra|Engeland|Anglia|Англия|イングランド|英格兰|잉글랜드;NIR|Northern Ireland|Nordirland|Irlande du Nord|Irlanda del Norte|Irlanda del Nord|北アイルランド|北爱尔兰
    DE BY|Bavaria|Bayern|Bavière|Baviera|バイエルン|巴伐利亚;BW|Baden-Württemberg|Bade-Wurtemberg|バーデン＝ヴュルテンベルク|巴登-符腾堡
    DE SN|Saxony|Sachsen|Saxe|Sajonia|ザクセン|萨克森;HE|Hesse|Hessen|ヘッセン|黑森;TH|Thuringia|Thüringen|Thuringe|Turingia|テューリンゲン|图林根
    DE ST|Saxony-Anhalt|Sachsen-Anhalt|Saxe-Anhalt|Sajonia-Anhalt|ザクセン＝アンハルト|萨克森-安哈尔特;SL|Saarland|Sarre|ザールラント|萨尔
    DE NI|Lower Saxony|Niedersachsen|Basse-Saxe|Baja Sajonia|ニーダーザクセン|下萨克森;BB|Brandenburg|Brandebourg|Brandeburgo|ブランデンブルク|勃兰登堡
    DE NW|North Rhine-Westphalia|Nordrhein-Westfalen|Rhénanie-du-Nord-Westphalie|Renania del Norte-Westfalia|ノルトライン＝ヴェストファーレン|北莱茵-威斯特法伦|NRW
    DE RP|Rhineland-Palatinate|Rheinland-Pfalz|Rhénanie-Palatinat|Renania-Palatinado|ラインラント＝プファルツ|莱茵兰-普法尔茨
    DE MV|Mecklenburg-Western Pomerania|Mecklenburg-Vorpommern|Mecklembourg-Poméranie-Occidentale|メクレンブルク＝フォアポンメルン|梅克伦堡-前波美拉尼亚
    DE SH|Schleswig-Holstein|シュレースヴィヒ＝ホルシュタイン|石勒苏益格-荷尔斯泰因
    AT 7|Tyrol|Tirol|チロル|蒂罗尔;5|Salzburg|Salzbourg|Salzburgo|ザルツブルク|萨尔茨堡;2|Carinthia|Kärnten|Carinthie|Carintia|ケルンテン|克恩滕
    AT 6|Styria|Steiermark|Styrie|Estiria|シュタイアーマルク|施蒂利亚;3|Lower Austria|Niederösterreich|Basse-Autriche|Baja Austria|下奥地利
    AT 4|Upper Austria|Oberösterreich|Haute-Autriche|Alta Austria|上奥地利;8|Vorarlberg|フォアアールベルク|福拉尔贝格
    CH VS|Valais|Wallis|Vallese|ヴァレー|瓦莱;GR|Grisons|Graubünden|Grigioni|Grischun|グラウビュンデン|格劳宾登;TI|Ticino|Tessin|Tesino|ティチーノ|提契诺
    IT 52|Tuscany|Toscana|Toskana|Toscane|トスカーナ|托斯卡纳;25|Lombardy|Lombardia|Lombardei|Lombardie|Lombardía|ロンバルディア|伦巴第
    IT 34|Veneto|Venetien|Vénétie|Véneto|ヴェネト|威尼托;21|Piedmont|Piemonte|Piemont|Piémont|Piamonte|ピエモンテ|皮埃蒙特
    IT 82|Sicily|Sicilia|Sizilien|Sicile|シチリア|シチリア島|西西里|西西里岛;88|Sardinia|Sardegna|Sardinien|Sardaigne|Cerdeña|サルデーニャ|サルデーニャ島|撒丁岛
    IT 72|Campania|Kampanien|Campanie|カンパニア|坎帕尼亚;75|Apulia|Puglia|Apulien|Pouilles|プッリャ|普利亚;55|Umbria|Umbrien|Ombrie|Umbría|ウンブリア|翁布里亚
    IT 62|Lazio|Latium|Lacio|ラツィオ|拉齐奥;42|Liguria|Ligurien|Ligurie|リグーリア|利古里亚;78|Calabria|Kalabrien|Calabre|カラブリア|卡拉布里亚
    IT 45|Emilia-Romagna|Émilie-Romagne|Emilia-Romaña|エミリア＝ロマーニャ|艾米利亚-罗马涅;57|Marche|Marches|Las Marcas|マルケ|马尔凯
    IT 32|Trentino-South Tyrol|Trentino-Alto Adige|Trentino-Südtirol|Trentin-Haut-Adige|Trentino-Alto Adigio|トレンティーノ＝アルト・アディジェ|特伦蒂诺-上阿迪杰
    IT 23|Aosta Valley|Valle d'Aosta|Aostatal|Vallée d'Aoste|Valle de Aosta|ヴァッレ・ダオスタ|瓦莱达奥斯塔
    ES AN|Andalusia|Andalucía|Andalusien|Andalousie|アンダルシア|安达卢西亚;CT|Catalonia|Cataluña|Catalunya|Katalonien|Catalogne|カタルーニャ|加泰罗尼亚
    ES PV|Basque Country|País Vasco|Euskadi|Baskenland|Pays basque|バスク|巴斯克;GA|Galicia|Galicien|Galice|ガリシア|加利西亚
    ES IB|Balearic Islands|Islas Baleares|Illes Balears|Balearen|Îles Baléares|バレアレス諸島|巴利阿里群岛
    ES CN|Canary Islands|Islas Canarias|Kanarische Inseln|Îles Canaries|カナリア諸島|加那利群岛;AR|Aragon|Aragón|Aragonien|アラゴン|阿拉贡
    FR BRE|Brittany|Bretagne|Bretaña|ブルターニュ|布列塔尼;NOR|Normandy|Normandie|Normandía|ノルマンディー|诺曼底;COR|Corsica|Corse|Korsika|Córcega|コルシカ|コルシカ島|科西嘉|科西嘉岛
    FR PAC|Provence|Provence-Alpes-Côte d'Azur|Provenza|プロヴァンス|普罗旺斯;6AE|Alsace|Elsass|Alsacia|アルザス|阿尔萨斯;NAQ|Nouvelle-Aquitaine|Nueva Aquitania|ヌーヴェル＝アキテーヌ|新阿基坦
    FR OCC|Occitania|Occitanie|Okzitanien|オクシタニー|奥克西塔尼;IDF|Île-de-France|Isla de Francia|イル＝ド＝フランス|法兰西岛;BFC|Burgundy|Bourgogne|Burgund|Borgoña|ブルゴーニュ|勃艮第
    BE VLG|Flanders|Vlaanderen|Flandre|Flandern|Flandes|フランデレン|フランドル|佛兰德;WAL|Wallonia|Wallonie|Wallonië|Wallonien|Valonia|ワロン|瓦隆
    PT 30|Madeira|Madère|マデイラ|マデイラ諸島|马德拉;20|Azores|Açores|Azoren|アゾレス諸島|亚速尔群岛;08|Algarve|アルガルヴェ|阿尔加维
    GR M|Crete|Κρήτη|Kreta|Crète|Creta|クレタ|クレタ島|克里特|克里特岛
    JP 01|Hokkaido|北海道;02|Aomori|青森;03|Iwate|岩手;04|Miyagi|宮城;05|Akita|秋田;06|Yamagata|山形;07|Fukushima|福島;08|Ibaraki|茨城
    JP 09|Tochigi|栃木;10|Gunma|群馬;11|Saitama|埼玉;12|Chiba|千葉;13|Tokyo|東京;14|Kanagawa|神奈川;15|Niigata|新潟;16|Toyama|富山
    JP 17|Ishikawa|石川;18|Fukui|福井;19|Yamanashi|山梨;20|Nagano|長野|长野;21|Gifu|岐阜;22|Shizuoka|静岡;23|Aichi|愛知;24|Mie|三重
    JP 25|Shiga|滋賀;26|Kyoto|京都;27|Osaka|大阪;28|Hyogo|兵庫;29|Nara|奈良;30|Wakayama|和歌山;31|Tottori|鳥取;32|Shimane|島根
    JP 33|Okayama|岡山;34|Hiroshima|広島|广岛;35|Yamaguchi|山口;36|Tokushima|徳島;37|Kagawa|香川;38|Ehime|愛媛;39|Kochi|高知;40|Fukuoka|福岡
    JP 41|Saga|佐賀;42|Nagasaki|長崎|长崎;43|Kumamoto|熊本;44|Oita|大分;45|Miyazaki|宮崎;46|Kagoshima|鹿児島;47|Okinawa|沖縄|冲绳
    """
}
