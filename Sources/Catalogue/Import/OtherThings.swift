/// Signs that rows with names are no hotels, but packages, containers, users or films.
///
/// A file may have hotels and say no place of them. It is doubtful only if nothing in it is about a place to stay, and if a
/// member says what else the rows are, or programs gave all the names: `web-1`.
struct OtherThings: Equatable {
  /// Whether a row is about a place to stay, or has a place.
  private var hasHotels = false
  private var rows = 0
  /// How many names are in small letters without spaces, and the first one with a digit or a sign.
  private var (plainNames, firstSigned): (Int, String?) = (0, nil)

  /// Notes a row.
  mutating func add(_ hotel: HotelText, _ columns: [HotelForm.Column]) {
    guard !hasHotels else { return }
    rows += 1
    hasHotels =
      columns.contains { $0.isKind || $0.kept.map(Self.facts.contains) == true }
      || [hotel.address, hotel.state].contains(where: Self.isWritten)
      || [hotel.name, hotel.title, hotel.description].contains { text in
        let letters = HotelAliases.letters(of: text.utf8)
        return Self.lodgings.contains(where: letters.contains)
      }
    guard hotel.name.utf8.allSatisfy({ 0x21...0x7E ~= $0 && !(0x41...0x5A ~= $0) }) else { return }
    plainNames += 1
    if firstSigned == nil, !hotel.name.utf8.allSatisfy({ 0x61...0x7A ~= $0 }) {
      firstSigned = hotel.name
    }
  }

  /// Why the rows may be other things; nil if they may be hotels.
  /// - Parameter columns: the members of the rows, and in how many they are.
  func reason(_ columns: [(column: HotelForm.Column, rows: Int)]) -> String? {
    let members = columns.map { (HotelAliases.letters(of: $0.column.name.utf8), $0) }
    guard !hasHotels,
      !members.contains(where: { letters, _ in
        Self.columns.contains(letters) || Self.partsOfColumns.contains(where: letters.contains)
      })
    else { return nil }
    if let sign = members.first(where: { Self.others.contains($0.0) && $0.1.rows * 2 > rows })?.1 {
      return
        "the rows have no address, city or position, but \(sign.column.name), which no hotel has"
    }
    // Names alone, perhaps with an id, are a list that somebody wrote.
    guard plainNames == rows, let firstSigned, members.contains(where: { $0.1.column.isUnknown })
    else { return nil }
    return "the rows have no address, city or position, and names as of programs (\(firstSigned))"
  }

  /// Whether a text was written by people: a program's `running` or `westeurope` is no place.
  private static func isWritten(_ text: String) -> Bool {
    text.contains { $0.isUppercase || $0.isNumber || !$0.isASCII }
  }

  /// Members that say where a hotel is, or what it offers.
  private static let facts: Set = ["city", "country", "postcode", "geo", "phone", "amenities"]
  private static let (columns, partsOfColumns): (Set<String>, [String]) = (
    ["star", "stars", "starrating", "beds"],
    ["otel", "room", "night", "guest", "checkin", "lodg", "propert", "accommod"]
  )
  /// Words for places to stay, without marks.
  private static let lodgings =
    """
    otel hostel hostal resort lodge guesthouse pension gasthof apart villa ryokan riad palace \
    bedandbreakfast camping 酒店 饭店 宾馆 ホテル 旅館 호텔 отель гостиниц готел ξενοδοχ khachsan فندق מלון โรงแรม होटल
    """.split(separator: " ")
  /// Members of packages, Kubernetes' objects, repositories, users, posts, films, songs and goods.
  private static let others = Set(
    """
    apiversion namespace severity dependencies purl resolved integrity machinetype resourcegroup networkinterfaces \
    networksettings containers ports instances nodeid htmlurl fork resources userid username completed sex gender \
    passengerid genres cast artists album durationms pubdate sku stock barcode symbol mass films pageid snippet
    """.split(separator: " ").map(String.init))
}
