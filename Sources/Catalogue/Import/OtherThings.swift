/// Signs that rows with names are no hotels, but packages, containers, users or films.
///
/// A file may have hotels and say no place of them. It is doubtful only if nothing in it is about a place to stay, and if a
/// member says what else the rows are, or programs gave all the names: `web-1`. Of rows with a place, only members of
/// people, cities and weather say it, and names of cities. People's lists of hotels may have some of these members and such
/// names, too: what somebody has rated, visited or paid is no such thing.
struct OtherThings: Equatable {
  /// Whether a row has a place, how many rows were found to be about a place to stay, and how many to have the name of a
  /// city, a state or a country.
  private var (hasPlace, stays, places) = (false, 0, 0)
  private var rows = 0
  /// How many names are in small letters without spaces, and the first one with a digit or a sign.
  private var (plainNames, firstSigned): (Int, String?) = (0, nil)

  /// Notes a row.
  mutating func add(_ hotel: HotelText, _ columns: [HotelForm.Column]) {
    rows += 1
    hasPlace =
      hasPlace || columns.contains { $0.kept.map(Self.ofPlaces.contains) == true }
      || [hotel.address, hotel.state].contains(where: Self.isWritten)
    guard hasPlace ? rows <= Self.mostRead : stays == 0 else { return }
    if hasPlace, GroupedLists.place(named: hotel.name) != GroupedLists.Place() { places += 1 }
    let isOfStay =
      columns.contains { $0.isKind || $0.kept == "amenities" }
      || [hotel.name, hotel.title, hotel.description].contains { text in
        let letters = HotelAliases.letters(of: text.utf8)
        return Self.lodgings.contains(where: letters.contains)
      }
    if isOfStay { stays += 1 }
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
    // A city may have its name of a villa.
    let isOfStays = hasPlace ? stays * 20 >= min(rows, Self.mostRead) : stays > 0
    guard !isOfStays, !members.contains(where: { Self.columns.contains($0.0) }),
      !isSomewhere(Self.partsOfColumns)
    else { return nil }
    let isOfPeople = isSomewhere(Self.partsOfOpinions)
    var others = hasPlace ? [] : Self.others
    if !isOfPeople { others.formUnion(hasPlace ? Self.othersInPlaces : Self.othersAlone) }
    if let sign = members.first(where: { others.contains($0.0) && $0.1.rows * 2 > rows })?.1 {
      return "the rows are not about places to stay: most have \(sign.column.name), as no hotel has"
    }
    if places > 1, places * 2 > min(rows, Self.mostRead),
      !columns.contains(where: { $0.column.kept.map(Self.ofHotels.contains) == true })
    {
      return "most rows have the name of a city or a country, not of a place to stay"
    }
    // Names alone, perhaps with an id, are a list that somebody wrote.
    guard !hasPlace, plainNames == rows, let firstSigned, !isOfPeople,
      members.contains(where: { $0.1.column.isUnknown })
    else { return nil }
    return "the rows have no address, city or position, and names as of programs (\(firstSigned))"
  }

  /// Whether a text was written by people: a program's `running` or `westeurope` is no place.
  private static func isWritten(_ text: String) -> Bool {
    text.contains { $0.isUppercase || $0.isNumber || !$0.isASCII }
  }

  /// How many rows of a file with places are read for words of a place to stay.
  private static let mostRead = 200
  /// Members that say where something is.
  private static let ofPlaces: Set = ["city", "country", "postcode", "geo", "phone"]
  /// Members that a hotel has, and a city has not.
  private static let ofHotels: Set = ["address", "city", "phone", "email", "price"]
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
  /// Members of users, cities and weather, which have a place, too.
  private static let othersInPlaces = ImportWords.otherThingInPlace.set
}
