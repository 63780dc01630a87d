/// Where countries are, roughly, to tell a latitude from a longitude.
///
/// Source: Natural Earth 1:50,000,000, "Admin 0 – map subunits", which is in the public domain; in whole degrees. Parts of
/// countries beyond 90° east or west are left out, because the numbers tell there.
enum CountryBoxes {
  /// Whether a point is in a country; nil for a country that has no box.
  /// - Parameter code: the country's code with two letters.
  static func contains(latitude: Double, longitude: Double, country code: String) -> Bool? {
    byCountry[code]?.contains { $0.contains(latitude, longitude) }
  }

  /// The countries that have a city of this name, by their codes.
  static func countries(ofCity city: String) -> [String] {
    let (name, cities) = (PlaceNames.key(city), PlaceNames.all.cities)
    return codes.filter { cities[$0 + " " + name] != nil }
  }

  private struct Box {
    let west, south, east, north: Double

    /// - Parameter text: the four numbers with commas between them.
    init?(_ text: Substring) {
      let numbers = text.split(separator: ",").compactMap { Double($0) }
      guard numbers.count == 4 else { return nil }
      (west, south, east, north) = (numbers[0], numbers[1], numbers[2], numbers[3])
    }

    func contains(_ latitude: Double, _ longitude: Double) -> Bool {
      west <= longitude && longitude <= east && south <= latitude && latitude <= north
    }
  }

  private static let byCountry: [String: [Box]] = {
    var boxes: [String: [Box]] = [:]
    for country in table.split(whereSeparator: { $0 == ";" || $0 == "\n" }) {
      let fields = country.split(separator: " ")
      boxes[String(fields[0])] = fields.dropFirst().compactMap(Box.init)
    }
    return boxes
  }()

  private static let codes = byCountry.keys.sorted()

  private static let table = """
    AD 1,42,2,43;AE 51,22,57,27;AF 60,29,75,39;AG -62,16,-61,18;AI -64,18,-62,19;AL 19,39,22,43
    AM 43,38,47,42;AO 11,-19,25,-4;AR -74,-56,-53,-21;AT 9,46,18,50;AW -71,12,-69,13
    AX 19,60,21,61;AZ 44,38,51,42;BA 15,42,20,46;BB -60,13,-59,14;BD 88,20,93,27
    BE 2,49,7,51 2,50,6,52;BF -6,9,3,16;BG 22,41,29,45;BH 50,25,51,27;BI 29,-5,31,-2;BJ 0,6,4,13
    BL -63,17,-62,18;BM -65,32,-64,33;BO -70,-23,-57,-9;BR -75,-34,-34,6;BS -79,20,-72,27
    BT 88,26,93,29;BW 19,-27,30,-17;BY 23,51,33,57;BZ -90,15,-87,19;CA -142,41,-52,84
    CD 12,-14,32,6;CF 14,2,28,11;CG 11,-6,19,4;CH 5,45,11,48;CI -9,4,-2,11
    CL -76,-56,-66,-17 -79,-34,-78,-33;CM 8,1,17,14;CN 73,20,135,54;CO -80,-5,-66,13
    CR -86,8,-82,12;CU -85,19,-74,24;CV -26,14,-22,18;CW -70,12,-68,13;CY 32,34,35,36
    CZ 12,48,19,52;DE 5,47,16,56;DJ 41,10,44,13;DK 8,54,13,58 14,55,16,56;DM -62,15,-61,16
    DO -73,17,-68,20;DZ -9,18,12,38;EC -81,-5,-75,2 -92,-2,-89,1;EE 21,57,29,60;EG 24,21,37,32
    EH -18,20,-8,28;ER 36,12,44,19;ES -10,36,4,44 -19,27,-13,30 1,38,5,41;ET 32,3,48,15
    FI 20,59,32,71;FK -62,-53,-57,-51;FO -8,61,-6,63
    FR -5,42,9,52 -55,2,-51,6 8,41,10,44 -62,14,-60,15 55,-22,56,-20 -62,15,-61,17 45,-13,46,-12
    GA 8,-4,15,3;GB -8,54,0,61 -6,50,2,56 -9,54,-5,56;GD -62,12,-61,13;GE 39,41,47,44
    GG -3,49,-2,50;GH -4,4,2,12;GL -73,59,-11,84;GM -17,13,-13,14;GN -16,7,-7,13
    GQ 9,0,12,3 8,3,9,4;GR 19,34,29,42;GS -39,-55,-35,-53 -27,-59,-26,-58;GT -93,13,-88,18
    GW -17,10,-13,13;GY -62,1,-56,9;HM 73,-54,74,-52;HN -90,12,-83,17;HR 13,42,20,47
    HT -75,18,-71,21;HU 16,45,23,49;IE -11,51,-6,56;IL 34,29,36,34;IM -5,54,-4,55;IN 68,8,98,36
    IO 72,-8,73,-7;IQ 38,29,49,38;IR 44,25,64,40;IS -25,63,-13,67
    IT 6,37,19,48 12,36,16,39 11,36,13,37;JE -3,49,-2,50;JM -79,17,-76,19;JO 34,29,40,34
    KE 33,-5,42,6;KG 69,39,81,44;KM 43,-13,45,-11;KN -63,17,-62,18;KW 46,28,49,31;KY -82,19,-79,20
    KZ 46,40,88,56;LB 35,33,37,35;LC -62,13,-60,15;LI 9,47,10,48;LK 79,5,82,10;LR -12,4,-7,9
    LS 27,-31,30,-28;LT 20,53,27,57;LU 5,49,7,51;LV 21,55,29,59;LY 9,19,26,34;MA -18,21,-1,36
    MC 7,43,8,44;MD 26,45,31,49;ME 18,41,21,44;MF -64,18,-63,19;MG 43,-26,51,-12;MK 20,40,24,43
    ML -13,10,5,25;MN 87,41,120,53;MR -18,14,-4,28;MS -63,16,-62,17;MT 14,35,15,37
    MU 57,-21,58,-19;MV 73,3,74,5;MW 32,-18,36,-9;MX -119,14,-86,33;MZ 30,-27,41,-10
    NA 11,-29,26,-16;NE 0,11,16,24;NG 2,4,15,14;NI -88,10,-83,16;NL 3,50,8,54 -69,12,-68,13
    NO 4,58,31,72 10,74,34,81 -10,70,-7,72;NP 80,26,89,31;OM 51,16,60,27;PA -84,7,-77,10
    PE -82,-19,-68,0;PK 60,23,78,38;PL 14,49,25,55;PM -57,46,-56,48;PR -68,17,-65,19
    PS 34,31,36,33;PT -32,36,-25,40 -10,37,-6,43 -18,32,-16,33;PY -63,-28,-54,-19;QA 50,24,52,27
    RO 20,43,30,49;RS 19,42,23,46 18,44,22,47;RU 52,42,180,82 27,41,69,82 19,54,23,56
    RW 28,-3,31,-1;SA 34,16,56,33;SC 55,-5,56,-4;SD 21,8,39,23;SE 11,55,25,70
    SH -6,-17,-5,-15 -15,-8,-14,-7;SI 13,45,17,47;SK 16,47,23,50;SL -14,6,-10,10;SM 12,43,13,44
    SN -18,12,-11,17;SO 40,-2,52,12;SR -59,1,-53,6;SS 24,3,36,13;ST 6,0,7,1 7,1,8,2
    SV -91,13,-87,15;SX -64,18,-63,19;SY 35,32,43,38;SZ 30,-28,33,-25;TC -73,21,-71,22
    TD 13,7,24,24;TF 51,-50,71,-46;TG -1,6,2,12;TJ 67,36,76,42;TM 52,35,67,43;TN 7,30,12,38
    TR 25,35,45,43;TT -62,10,-60,11 -61,11,-60,12;TZ 29,-12,41,0;UA 22,44,41,53;UG 29,-2,35,5
    US -125,24,-66,50;UY -59,-35,-53,-30;UZ 55,37,74,46;VA 12,41,13,42;VC -62,12,-61,14
    VE -74,0,-59,13;VG -65,18,-64,19;VI -66,17,-64,19;XK 20,41,22,44;YE 42,12,54,19 53,12,55,13
    ZA 16,-35,33,-22 37,-47,38,-46;ZM 21,-19,34,-8;ZW 25,-23,34,-15
    """
}
