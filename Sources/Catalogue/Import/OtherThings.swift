/// Signs that rows with names are no hotels, but packages, containers, users or films.
///
/// A file may have hotels and say no place of them. It is doubtful only if nothing in it is about a place to stay, and if a
/// member says what else the rows are, or programs gave all the names: `web-1`. People's lists of hotels may have some of
/// these members and such names, too: what somebody has rated, visited or paid is no such thing.
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
    func isSomewhere(_ parts: [String]) -> Bool {
      members.contains { letters, _ in parts.contains(where: letters.contains) }
    }
    guard !hasHotels, !members.contains(where: { Self.columns.contains($0.0) }),
      !isSomewhere(Self.partsOfColumns)
    else { return nil }
    let isOfPeople = isSomewhere(Self.partsOfOpinions)
    let others = isOfPeople ? Self.others : Self.others.union(Self.othersAlone)
    if let sign = members.first(where: { others.contains($0.0) && $0.1.rows * 2 > rows })?.1 {
      return
        "the rows have no address, city or position, but \(sign.column.name), which no hotel has"
    }
    // Names alone, perhaps with an id, are a list that somebody wrote.
    guard plainNames == rows, let firstSigned, !isOfPeople,
      members.contains(where: { $0.1.column.isUnknown })
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
      + ["breakfast", "booking", "travel", "tripadvisor", "tourism"]
  )
  /// Parts of the names of members by which people note what they think of a place, or what it costs.
  private static let partsOfOpinions = ImportWords.opinion.list
  /// Words for places to stay, and brands of them, without marks.
  private static let lodgings = ImportWords.lodgingPart.list
  /// Members of packages, Kubernetes' objects, repositories, passengers, films, songs and goods.
  private static let others = ImportWords.otherThing.set
  /// Members of users, posts, tasks, pages and coins, which a list of what people have saved may have, too.
  private static let othersAlone = ImportWords.otherThingAlone.set
}
