import Synchronization
import Text

/// The names under which files have a hotel's members.
///
/// A name is compared without regard to case, spaces and punctuation: `Hotel Name`, `hotel_name` and `hotelName` are
/// the same, and so are `addr:city` and `address.city`.
enum HotelAliases {
  /// What a member says about the hotel.
  enum Meaning: String, CaseIterable {
    case id, name, description, address, street, houseNumber, city, state, country, postcode
    case phone, url, email, amenities, category, price
    /// A position: an object, a GeoJSON point, or a text.
    case position
    case latitude, longitude
  }

  /// A name's meaning. Of two names with the same meaning, the one with the lower rank counts.
  struct Match: Equatable {
    let meaning: Meaning
    let rank: Int
  }

  /// The meaning of a member's name; nil for a name that means nothing here.
  static func match(_ name: some Collection<UInt8>) -> Match? {
    known.reading(of: String(decoding: name, as: UTF8.self)).match
  }

  /// The meaning of a name; looked for each time.
  fileprivate static func find(_ name: some Collection<UInt8>) -> Match? {
    let letters = letters(of: name)
    if let match = table[letters] { return match }
    for (prefix, allowed) in letters.utf8.first.flatMap({ prefixes[$0] }) ?? []
    where letters.utf8.starts(with: prefix.utf8) {
      let rest = String(Substring(letters.utf8.dropFirst(prefix.utf8.count)))
      guard let match = table[rest] ?? partOfAddress(rest), allowed.contains(match.meaning) else {
        continue
      }
      return Match(meaning: match.meaning, rank: match.rank + rankOfPrefix)
    }
    let match =
      withoutRemark(name) ?? withoutSuffix(name) ?? withoutNamespace(name) ?? inAddress(name)
      ?? byWords(name) ?? byEnds(name) ?? cutOff(name)
    return match.map { Match(meaning: $0.meaning, rank: $0.rank + rankOfSuffix) }
  }

  /// The meaning of a name behind `address` or another word with a prefix of its own: `hotel.address.city`.
  private static func partOfAddress(_ letters: String) -> Match? {
    for prefix in ["address", "location", "geo", "contact"] where letters.hasPrefix(prefix) {
      let match = table[String(letters.dropFirst(prefix.count))]
      guard let match, ![.id, .name, .description, .category].contains(match.meaning) else {
        continue
      }
      return match
    }
    return nil
  }

  /// The meaning of a name before a remark in brackets: `Price (EUR)`.
  private static func withoutRemark(_ name: some Collection<UInt8>) -> Match? {
    let plain = name.prefix { $0 != UInt8(ascii: "(") && $0 != UInt8(ascii: "[") }
    return plain.count < name.count ? match(Array(plain)) : nil
  }

  /// The meaning of a name before a suffix: a language's code, a type as Solr's dynamic fields have it (`city_s`), or
  /// Wikidata's word for a text (`ortLabel`).
  private static func withoutSuffix(_ name: some Collection<UInt8>) -> Match? {
    guard name.count <= 64 else { return nil }
    if name.suffix(5).elementsEqual("Label".utf8), let match = match(Array(name.dropLast(5))),
      [.city, .state, .country].contains(match.meaning)
    {
      return match
    }
    let parts = Array(name).split(separator: UInt8(ascii: "_"))
    guard parts.count > 1, let last = parts.last,
      suffixes.contains(String(decoding: last, as: UTF8.self))
    else { return nil }
    let match = match(Array(parts.dropLast().joined()))
    // English comes before the other languages, whose codes may be prepositions.
    return last.elementsEqual("en".utf8)
      ? match.map { Match(meaning: $0.meaning, rank: $0.rank - 1) } : match
  }

  /// The meaning of a name that is an IRI or has a prefix for one, as RDF has it: `http://xmlns.com/foaf/0.1/name`,
  /// `rdfs:label`.
  private static func withoutNamespace(_ name: some Collection<UInt8>) -> Match? {
    func isEnd(_ byte: UInt8) -> Bool { byte == 0x23 || byte == 0x2F || byte == 0x3A }
    // Most names have no namespace, and each row has many names.
    guard name.contains(where: isEnd) else { return nil }
    let parts = Array(name).split(whereSeparator: isEnd)
    guard parts.count > 1, let last = parts.last,
      namespaces.contains(String(decoding: parts[0], as: UTF8.self))
    else { return nil }
    return match(Array(last))
  }

  /// The meaning of a name behind that of an address of some kind: `forretningsadresse.poststed`.
  private static func inAddress(_ name: some Collection<UInt8>) -> Match? {
    // Each point may be that of another address, and a file may have as many as it likes.
    guard name.count <= longestByWords, let point = name.firstIndex(of: UInt8(ascii: ".")) else {
      return nil
    }
    let outer = letters(of: name[..<point])
    guard ["adresse", "address", "adress", "adres"].contains(where: outer.hasSuffix) else {
      return nil
    }
    let match = find(Array("address".utf8) + name[point...].dropFirst())
    return match.flatMap { partsOfAddress.contains($0.meaning) ? $0 : nil }
  }

  /// The meaning of a name of which a shapefile has kept ten letters: `descriptio`, `ADDR_HOUSE`.
  private static func cutOff(_ name: some Collection<UInt8>) -> Match? {
    name.count == 10 ? beginnings[letters(of: name)].map { Match(meaning: $0, rank: 0) } : nil
  }

  /// The beginnings of names that have one meaning and are no more than two thirds longer. Two of ten letters may be signs.
  private static let beginnings: [String: Meaning] = {
    var meanings: [String: Set<Meaning>] = [:]
    for (name, match) in table where name.utf8.allSatisfy({ $0 < 0x80 }) && match.meaning != .id {
      for count in 8...10 where (count + 1...count * 5 / 3).contains(name.utf8.count) {
        meanings[String(name.prefix(count)), default: []].insert(match.meaning)
      }
    }
    return meanings.filter { $0.value.count == 1 }.compactMapValues(\.first)
  }()

  private static let partsOfAddress: Set<Meaning> = [
    .address, .street, .houseNumber, .city, .state, .country, .postcode,
  ]

  private static let namespaces = ImportWords.namespace.set

  private static let suffixes: Set<String> = ["en", "s", "ss", "t", "txt", "p", "str"]

  /// The letters and digits of a name in lower case, Latin ones without marks. Other bytes outside of ASCII are kept.
  static func letters(of name: some Collection<UInt8>) -> String {
    var letters: [UInt8] = []
    var isASCII = true
    for byte in name {
      switch byte {
      case 0x41...0x5A: letters.append(byte | 0x20)
      case 0x30...0x39, 0x61...0x7A: letters.append(byte)
      case 0x80...:
        letters.append(byte)
        isASCII = false
      default: continue
      }
    }
    let text = String(decoding: letters, as: UTF8.self)
    return isASCII ? text : withoutMarks(text.lowercased())
  }

  private static func withoutMarks(_ text: String) -> String {
    var letters = String.UnicodeScalarView()
    // Signs go first: № is two letters without its form.
    let words = String(String.UnicodeScalarView(text.unicodeScalars.filter { !isSign($0) }))
    for scalar in words.normalized(.compatibleDecomposed).unicodeScalars
    where !(0x300...0x36F).contains(scalar.value) && !(0x653...0x655).contains(scalar.value) {
      letters.append(contentsOf: (plainLetters[scalar] ?? String(scalar)).unicodeScalars)
    }
    return String(letters).normalized(.canonical)
  }

  /// Whether a picture, a sign of punctuation or an invisible character, which people put beside a name: `🏨 Hotel`.
  private static func isSign(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .otherSymbol, .modifierSymbol, .currencySymbol, .otherPunctuation, .dashPunctuation,
      .openPunctuation, .closePunctuation, .format, .spaceSeparator:
      true
    // The sign that makes Arabic words longer is a letter.
    default: scalar.value == 0xFE0F || scalar.value == 0x640
    }
  }

  /// Letters whose marks Unicode does not part from them, and others that are written in two ways.
  private static let plainLetters: [Unicode.Scalar: String] = [
    "đ": "d", "ı": "i", "ł": "l", "ø": "o", "ß": "ss", "æ": "ae", "œ": "oe", "ς": "σ",
  ]

  /// Whether a member may have others of the hotel in it, although its name means nothing by itself.
  /// OData's `__metadata` says how the row was read.
  static func isContainer(_ name: String) -> Bool {
    !name.hasPrefix("__") && containers.contains(letters(of: name.utf8))
  }

  private static let containers = ImportWords.container.letters

  /// Names with a prefix count less than plain ones.
  private static let rankOfPrefix = 100
  private static let rankOfSuffix = 200

  /// What stands before a name, and the meanings that the rest of the name may then have. `contactName` is no hotel's
  /// name.
  ///
  /// They are kept by their first byte, because each row has many names that have none.
  private static let prefixes: [UInt8: [(String, Set<Meaning>)]] = {
    let all = Set(Meaning.allCases)
    let ofOthers: Set<Meaning> = [.id, .name, .description, .category, .price]
    let known =
      ImportWords.prefix.list.map { ($0, all) }
      + ImportWords.outerPrefix.list.map { ($0, all.subtracting(ofOthers)) }
    return Dictionary(grouping: known) { $0.0.utf8.first ?? 0 }
  }()

  static let table: [String: Match] = {
    var table: [String: Match] = [:]
    for meaning in Meaning.allCases {
      for (rank, name) in (ImportWords.lists[meaning.rawValue] ?? []).enumerated() {
        table[letters(of: name.utf8)] = Match(meaning: meaning, rank: rank)
      }
    }
    return table
  }()
}

extension HotelAliases {
  /// What a member's name says.
  struct Reading {
    let match: Match?
    /// Whether the value is a postcode with its city; see ``HotelAliases/isPostcodeAndCity(_:)``.
    let isPostcodeAndCity: Bool
    /// What the value says beside the city; see ``HotelAliases/cityAnd(_:)``.
    let cityAnd: Meaning?
    /// The currency in the name of a price; see ``HotelAliases/currency(in:)``.
    let currency: String?
  }

  /// What a member's name says, also of two things in one value.
  static func reading(of name: String) -> Reading { known.reading(of: name) }

  private static let known = KnownNames()

  /// What was found for names. Each row of a file has the same names, and looking at the words of a name takes longer than
  /// looking it up. Nothing else depends on what is kept here.
  private final class KnownNames: Sendable {
    private let readings = Mutex<[String: Reading]>([:])
    /// The most names that are kept, so that a file whose names are data fills no memory, and the longest, in bytes.
    private static let (mostNames, longestName) = (4_096, 128)

    func reading(of name: String) -> Reading {
      if let reading = readings.withLock({ $0[name] }) { return reading }
      let reading = Reading(
        match: HotelAliases.find(name.utf8),
        isPostcodeAndCity: HotelAliases.isPostcodeAndCity(name),
        cityAnd: HotelAliases.cityAnd(name), currency: HotelAliases.currency(in: name))
      guard name.utf8.count <= Self.longestName else { return reading }
      readings.withLock { readings in
        if readings.count >= Self.mostNames { readings.removeAll(keepingCapacity: true) }
        readings[name] = reading
      }
      return reading
    }
  }
}
