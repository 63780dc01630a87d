import Hotels

/// Parts of countries that people name, though most lists of hotels have only the city and the country: Wales, Bavaria,
/// Sicily. A hotel is in one by its position.
///
/// Source: Natural Earth 1:10,000,000 and, for the United Kingdom and Belgium, 1:50,000,000, which are in the public domain;
/// simplified to two or three kilometres, one at the land borders of Scotland and Wales.
struct NamedRegion: Sendable {
  /// The country's code.
  let country: String
  /// Its names, the English one first.
  let names: [String]
  /// Its outlines, in hundredths of a degree. Only the country's points count, so an outline may include sea and other
  /// countries.
  private(set) var outlines: [[Corner]]

  /// A corner of an outline, in hundredths of a degree: east and north.
  struct Corner: Sendable { let x, y: Int }

  /// How far from an outline a point is still in the region, in hundredths of a degree of latitude: 3 km, by which coasts
  /// are simplified.
  private static let margin = 3.0

  /// The region of a point of a country; nil if it is in none of these.
  static func region(of point: GeoPoint, in country: String) -> NamedRegion? {
    guard let regions = byCountry[country] else { return nil }
    if let found = regions.first(where: { region in
      region.outlines.contains { Outline($0).contains(point) }
    }) {
      return found
    }
    let near = regions.map { region in
      region.outlines.map { Outline($0).distance(to: point) }.min() ?? .infinity
    }
    guard let least = near.min(), least < margin, let index = near.firstIndex(of: least) else {
      return nil
    }
    return regions[index]
  }

  /// The regions of each country, by its code, in the order in which they are asked.
  static let byCountry = Dictionary(grouping: all) { $0.country }

  /// All regions, in the order in which they are asked.
  static let all: [NamedRegion] = {
    var regions: [NamedRegion] = []
    for line in table.split(separator: "\n") {
      let fields = line.split(separator: "|").map(String.init)
      guard fields.count > 1,
        let numbers = fields.last?.split(separator: " ").compactMap({ Int($0) })
      else {
        regions[regions.endIndex - 1].extend(by: line.utf8)
        continue
      }
      let outline =
        numbers.count == 4
        ? [(0, 1), (2, 1), (2, 3), (0, 3)].map { Corner(x: numbers[$0.0], y: numbers[$0.1]) }
        : [Corner(x: numbers[0], y: numbers[1])]
      let names = Array(fields[1..<fields.count - 1])
      if let last = regions.last, last.country == fields[0], last.names == names {
        regions[regions.endIndex - 1].outlines.append(outline)
      } else {
        regions.append(NamedRegion(country: fields[0], names: names, outlines: [outline]))
      }
    }
    return regions
  }()

  /// Adds corners to the last outline: two letters each, the steps from the corner before it. `P` is no step, and the
  /// letters that follow it in ASCII are steps to the east and north.
  private mutating func extend(by letters: Substring.UTF8View) {
    guard var outline = outlines.popLast() else { return }
    let steps = letters.map { Int($0) - Int(UInt8(ascii: "P")) }
    for index in stride(from: 0, to: steps.count - 1, by: 2) {
      guard let last = outline.last else { break }
      outline.append(Corner(x: last.x + steps[index], y: last.y + steps[index + 1]))
    }
    outlines.append(outline)
  }

  /// A line begins with a country's code, the names, and the first corner of an outline or the south-west and north-east
  /// corners of a box; the lines after it have the further corners (``extend(by:)``).
  private static let table = #"""
    GB|Northern Ireland|Tuaisceart Éireann|Nordirland|Irlande du Nord|Irlanda del Norte|-820 5400 -542 5532
    GB|Wales|Cymru|Pays de Galles|Gales|-310 5326
    \LVMNLQMZDZKQNMN9TJNHJMKQO_IPMDBQOZPRNMNBLKNONQNVL\LTNQKDGNJPJUJ[GTQXO^HSMNLQBR&*P*P*P*P)P*P*P
    *PPvPuPuPvPvPuyPzPyPyPzPyPPF\G
    GB|Scotland|Alba|Schottland|Écosse|Escocia|-308 5496
    TVUSUQj^^\VS]S_WQQBaXQYW[YSQUcwPxPwPxPwPPzPyPzPzPyPzPzPyPzPzPyPz'P'P'P'P'P(P'P'P'P'P'P'P'P'P'P
    'P(P'P'P'P'P'PP(P(P(P(P(P(P(P(P(P(P(P(P(P(uPuPuPvPuPuPuPPKqKrKqKP-P-sPsPsPsPo_n`o_
    GB|England|Angleterre|Inglaterra|-650 4980 180 5585
    DE|Bavaria|Bayern|Bavière|Baviera|898 5005
    iYlMP]^O]bdS_\z<VC[N]TBWXWpN^FPdZUXOOJ[IyS`FNIa=kAC@[I^8^FfLf@e?bO[HZFN@HG5UL=.B/Ci6GCaJI=:XM[
    7MHV>ONUKD4O5O*<6PD^:R;SP>5CUZCOOXCY@V9Jn^lQK[Vo@lXYiVNadPJVT`0lMo>MMYINTVH[AMOY3QMJZNPJ1ILSWb
    @j
    DE|Baden-Württemberg|Bade-Wurtemberg|751 4771
    [jL^agVllcdhciR]JRN]_KSXXQTHaMJLRIZZ`RLUsXPVFRQUpPOG`S^8cSS1o4L@WJ;PS?6JHG`3KDTAKMUFKL:R1B+^9Q
    9QOWAT?EWK_RLI.S4L5L?a
    DE|Saxony|Sachsen|Saxe|Sajonia|1190 5043
    Y\oZL^v[@`6SIXQlX[pVqUlFQ>gStIdQcayTuDX>J;>7?TRWHORVHV<QLJ]JML6H6H5OEEHS;CAOJGCT1K;9C^5]
    DE|Hesse|Hessen|777 5005
    _VPYdWA]S\`VMdq^XZNWbQS_AS[XiSMY[S^IbalRWJGKTEII`KTTJScVUElCMJJRUB@PSD>:cOI<:LD>APPD5S9LR=[DJ>
    UF?OAFXZ?TKXFGAUJ[[W8l-IEX
    ES|Catalonia|Catalunya|Cataluña|Katalonien|Catalogne|17 4074
    ZXR`H^_[L`\`E]jcNWXVYkLeW\B^SZrJrI[4jWfJWGlXhFiWiWnAJHBN\7GD4C3C4C8=,H-I,H38aG=BGQ]UBMJIJR3c
    ES|Andalusia|Andalucía|Andalusien|Andalousie|-753 3757
    jyhTZct=_ThDgW[`]QPGaWMkxl]Rv=u=SUuNrWYK^XjPVKhZcM^9E=dKaCcMN:a<cI??G59<9Z<N@B;W8N7M&U4N4O6;8P
    3FA5HTND?K1aDQD[AgYKOZATKYXYA`)eMWNI8Q9QDv
    ES|Basque Country|Euskadi|País Vasco|Baskenland|Pays basque|-345 4322
    r\r[XJlKlKp[VE@HB:>KG;SI<KYNOG:QE[HLA`?SR\EKKTUVdMTZ>RR_5LMX
    ES|Galicia|Galicien|Galice|-929 4292
    Q]\WJTUSfTLU`V^KrVRV\HRYBURZxdXI^YPJpK[DgOB@e7]P@D`EMF>EN=hNOHYE4:UKOI>SJE:I4Y>LOUBGCOKY]^FSNX
    'F9@Lglf7HTX`Y?MFW[OWbHT?AJY^a?ML`AP
    IT|Tuscany|Toscana|Toskana|Toscane|969 4436
    _\ZOp?o?^SeGWWUKdRLUfWbE_QFB`@lJkK@IFCSLGKZCXO=LEEVGM@<HT@<HQDAH:UIKIVYSNZ:b;VS\6RSo;hJfKe6f6f
    IT|Tuscany|Toscana|Toskana|Toscane|1010 4278
    iSVVSNNB0W
    IT|Lombardy|Lombardia|Lombardei|Lombardie|850 4529
    VX^I\[7w`oZLKHYLTDYOVXHVRXgcSjaQQD\GvX^AXTIWUWEUPXcZy>PJFLVDC8Z=lS<:W3t:]QPKfE6N5N<X?IDW/UHYFQ
    JI4VOLDQE>UJL@DNL]FS>e9OAi
    IT|Veneto|Venetien|Vénétie|1064 4545
    P`dfYAdRbhcWbMS\iX@aZZIUcTW]\IjXlLQFELRLBO=>_EIE_;\LlT]=.F.ESWBNG?IOUJKJ?O`DbZSGbGC=E^<T3Q>H=T
    9\PUDO*fPZJS
    IT|Piedmont|Piemonte|Piemont|Piémont|660 4510
    gVgVZbHWUTvTuUT]IejcN^rbQ;mC@1j)CEAVKI_7gQb;ZMT<IM=ZJLRICIBYII<LDU7&9SIKJY2K-[E\TXIY\_YQL]6YMZ
    DY
    IT|Sicily|Sicilia|Sizilien|Sicile|1243 3780
    VffYRXa@`UT[fSWD\QlBgXhPiOx_bJ_]UKhY\N:6:6E5PA_HJJ^=?GI52W2W;i4V4W4`5`BPGX4P9g
    FR|Brittany|Bretagne|Breizh|Bretaña|-478 4844
    V]`VnUmU[GUYgKP[VU\MnWy+ucPIWRTJu\PGiR^?bWcLN8V7CKH>;T9F.KA=0Q0QGVdT7TRH?RSFKPIb6UIW0REZ'GRUH\
    2VfTfSNYAUFIQXHSXVSKiR>RUW,INZ
    FR|Normandy|Normandie|Normandía|-195 4968
    TUnHrUTHHJ^<gStJtKlXkX7X`eoXoWoXd[o>WEIHUOKKSCVOKHV?GPI??LTF@@:P3E`8<FUDJM+^K^(H>bEI'K7U7U<IBa
    cRFTF^UcKQOaG^DSJ_TYEV
    FR|Provence|Provenza|Provence-Alpes-Côte d'Azur|Côte d'Azur|French Riviera|422 4346
    g]SZ]QSae]DYIhZOWHrWQHcNZHdRLb<YWQMVbQLVUX^RTY`WtTM^ERUZcIaW\;iHVAFPDAXGKH[DtDpVSF;;PE/EOF>OIE
    ANBCYOOI4KNJ=ROI7YQJDNA]0TK]8NC[IMTLLM5RHZ3P
    FR|Alsace|Elsass|Alsacia|687 4782
    ahahFUS_KRaVVaEZEJD[Z`jDfPXZ]QfLeKEA4<J5>8UCE5XFEEFJ;QMZDWS[>Z
    AT|Tyrol|Tirol|1008 4692
    \hM[k_O`fNeM\BjPvdlQkQQZVRPKpL\B:?,KS<)E4P3O?=4RRTGS@OE_:AHW
    AT|Tyrol|Tirol|1211 4699
    k_dPaGOIe::OJF:S>[OXCTNX
    PT|Algarve|-900 3702
    ZfYerI`UhFl^lV[-&>*V*V&F
    BE|Brussels|Bruxelles|Brussel|Brüssel|Bruselas|431 5079 448 5091
    BE|Flanders|Vlaanderen|Flandre|Flandern|252 5110
    z^y^XC_TpHkZVXaMNWVScL]WYGbWWD[IkQs@H>FGRK<H,N(YIK0N/M3W,K,XBG8aHf
    BE|Wallonia|Wallonie|Wallonië|Wallonien|315 5075
    dMsUmIpSpSXTxGtRdXXKhO]I\HJH`IRC>GJEAU:7NE_?JG1L9a'[HaVbHPEBEL+PLRU[KUS[:Y<PJMGa/UDf
    ES|Balearic Islands|Illes Balears|Baleares|Balearen|Baléares|100 3860 440 4020
    ES|Canary Islands|Islas Canarias|Canaries|Kanaren|Kanarische Inseln|Canarias|-1830 2755 -1330 2950
    FR|Corsica|Corse|Korsika|Córcega|Corsica|845 4130 965 4310
    IT|Sardinia|Sardegna|Sardinien|Sardaigne|Cerdeña|805 3880 990 4132
    PT|Madeira|Madère|-1745 3230 -1620 3320
    PT|Azores|Açores|Azoren|-3140 3690 -2490 3980
    GR|Crete|Κρήτη|Kriti|Kreta|Crète|Creta|2335 3470 2640 3575
    """#
}

/// The corners of an area, the last one joined to the first.
private struct Outline {
  let corners: [NamedRegion.Corner]

  init(_ corners: [NamedRegion.Corner]) { self.corners = corners }

  private var edges: some Sequence<(NamedRegion.Corner, NamedRegion.Corner)> {
    zip(corners, corners[1...] + corners[..<1])
  }

  /// Whether a ray to the east crosses an odd number of edges.
  func contains(_ point: GeoPoint) -> Bool {
    let (x, y) = (point.longitude * 100, point.latitude * 100)
    var isInside = false
    for (one, other) in edges where (Double(one.y) > y) != (Double(other.y) > y) {
      let share = (y - Double(one.y)) / Double(other.y - one.y)
      if x < Double(one.x) + share * Double(other.x - one.x) { isInside.toggle() }
    }
    return isInside
  }

  /// The distance to the nearest edge, in hundredths of a degree of latitude.
  func distance(to point: GeoPoint) -> Double {
    // A degree of longitude is shorter by the cosine of the latitude; 0.65 is near enough in Europe.
    let narrowing = 0.65
    let (east, north) = (point.longitude * 100, point.latitude * 100)
    func place(_ corner: NamedRegion.Corner) -> (x: Double, y: Double) {
      ((Double(corner.x) - east) * narrowing, Double(corner.y) - north)
    }
    return edges.map { one, other in
      let (one, other) = (place(one), place(other))
      let (dx, dy) = (other.x - one.x, other.y - one.y)
      let length = dx * dx + dy * dy
      let share = length > 0 ? min(1, max(0, -(one.x * dx + one.y * dy) / length)) : 0
      let (x, y) = (one.x + share * dx, one.y + share * dy)
      return (x * x + y * y).squareRoot()
    }.min() ?? .infinity
  }
}
