/// A line of a table that may name the columns.
struct TableHeader {
  /// The names of the columns. A column without a name has none.
  private(set) var names: [String?]
  /// How many of the names have a meaning.
  let known: Int
  /// Whether one of them is that of the hotel's name.
  let hasName: Bool
  /// Whether there are measured numbers, such as a latitude, which no line with names has.
  private let hasNumbers: Bool
  /// Whether the columns are variables of SPARQL, below which there are terms of RDF: `?name`, `"Ritz"@en`.
  /// <https://www.w3.org/TR/sparql11-results-csv-tsv/#tsv>
  let areVariables: Bool
  /// The values as they are in the line.
  private let texts: [String]

  /// Reads the values of a line. A name that is there twice gets a number.
  init(_ values: [[UInt8]]) {
    texts = values.map { Self.text($0) }
    let areVariables = texts.allSatisfy { $0.utf8.first == UInt8(ascii: "?") && $0.utf8.count > 1 }
    self.areVariables = areVariables
    var unique: Set<String> = []
    // A line of one name, thirty thousand times, must not try each number for each of them.
    var numbers: [String: Int] = [:]
    names = Self.withoutTable(texts).map { text in
      let name = areVariables ? String(text.dropFirst()) : text
      guard !name.isEmpty else { return nil }
      var (numbered, number) = (name, numbers[name] ?? 2)
      while !unique.insert(numbered).inserted {
        numbered = "\(name) \(number)"
        number += 1
      }
      numbers[name] = number
      return numbered
    }
    var meanings = names.map { $0.flatMap { HotelAliases.match($0.utf8)?.meaning } }
    if let title = Self.title(names, meanings) { (names[title], meanings[title]) = ("name", .name) }
    known = meanings.count { $0 != nil }
    hasName = meanings.contains(.name)
    hasNumbers = texts.contains(where: Self.isMeasured)
  }

  /// Whether a table can have this line above its rows. One known word beside numbers is a hotel, perhaps of the category
  /// `hotel`.
  var isLikely: Bool { hasName && (known > 1 || !hasNumbers) }

  /// Whether a line says more about the columns than this one, as the second line does where the first one groups them.
  func isBelow(_ other: TableHeader) -> Bool {
    hasName && !hasNumbers && known > other.known && known > 1
  }

  /// Whether the values of a line are these names again: one table follows another in the file.
  func isRepeated(by values: [[UInt8]]) -> Bool {
    values.count >= texts.count && values.dropFirst(texts.count).allSatisfy(\.isEmpty)
      && zip(values, texts).allSatisfy { Self.text($0) == $1 }
  }

  /// The names of the columns of another table, which follows in the file; nil for a line that is a row. All values of the
  /// line are such names, or most of them below an empty line.
  static func next(_ values: [[UInt8]], isBelowGap: Bool) -> TableHeader? {
    func isName(_ value: [UInt8]) -> Bool {
      value.count < 64 && HotelAliases.table[HotelAliases.letters(of: text(value).utf8)] != nil
    }
    // Nearly all rows end here.
    guard let first = values.first(where: { !$0.isEmpty }), isName(first) else { return nil }
    let (filled, known) = (values.count { !$0.isEmpty }, values.count(where: isName))
    guard known > 1, known == filled || isBelowGap && known * 2 > filled else { return nil }
    let header = TableHeader(values)
    return header.hasName && !header.hasNumbers ? header : nil
  }

  /// Whether a row says that this line was a row itself, because its only known word stands there again.
  func isRow(above values: [[UInt8]]) -> Bool {
    guard known == 1, names.count > 1 else { return false }
    return zip(values, names).contains { value, name in
      guard let name, HotelAliases.match(name.utf8) != nil else { return false }
      return HotelAliases.letters(of: value) == HotelAliases.letters(of: name.utf8)
    }
  }

  /// Whether the hotels stand beside one another: this line has their names, and the first one below it begins with the
  /// word for a fact.
  func isBeside(_ values: [[UInt8]]) -> Bool {
    guard known == 1, names.dropFirst().contains(where: { $0 != nil }), values.count <= names.count,
      let name = names[0].flatMap({ HotelAliases.match($0.utf8) }), name.meaning == .name,
      let fact = values.first.flatMap({ HotelAliases.table[HotelAliases.letters(of: $0)] })
    else { return false }
    return fact.meaning != .name
  }

  /// The names without that of the table, if all have it: `h.name`, `h.city`.
  private static func withoutTable(_ names: [String]) -> [String] {
    guard names.count > 1, let first = names.first, let point = first.firstIndex(of: ".") else {
      return names
    }
    let table = first[...point]
    guard names.allSatisfy({ $0.hasPrefix(table) && $0.utf8.count > table.utf8.count }) else {
      return names
    }
    return names.map { String($0.dropFirst(table.count)) }
  }

  /// Whether a column has this meaning.
  func says(_ meaning: HotelAliases.Meaning) -> Bool {
    names.contains { $0.flatMap { HotelAliases.match($0.utf8) }?.meaning == meaning }
  }

  /// Whether the line says the types of the columns.
  var areTypes: Bool { TableLine.areTypes(texts) }

  /// Whether names of columns stand in a line with only spaces between them, or the lines below such names.
  static func isFixedWidth(_ line: [UInt8]) -> Bool {
    let groups = line.split(separator: 0x20)
    if groups.count > 1, let sign = groups[0].first, "-=".utf8.contains(sign),
      groups.allSatisfy({ $0.allSatisfy { $0 == sign } })
    {
      return true
    }
    let names = String(decoding: line.prefix(1 << 12), as: UTF8.self).split(separator: "  ")
    let header = TableHeader(names.map { Array($0.utf8) })
    return header.hasName && header.known > 1
  }

  /// Gives a name to each value of a row of R's `write.table`, which writes the number of the row first, but no name above
  /// it. The first row shows it.
  mutating func shift(for values: [[UInt8]]) {
    guard values.count == names.count + 1, values[0].elementsEqual("1".utf8),
      let first = names.first?.flatMap({ HotelAliases.match($0.utf8) })?.meaning,
      [.name, .description, .address, .street, .city, .state, .country].contains(first)
    else { return }
    names.insert(nil, at: 0)
  }

  /// The column with the titles of tasks or events, as Todoist's `CONTENT`, if no column has names and two others say
  /// something about a hotel.
  private static func title(_ names: [String?], _ meanings: [HotelAliases.Meaning?]) -> Int? {
    guard !meanings.contains(.name) else { return nil }
    let title = names.firstIndex { name in
      name.map { titles.contains(HotelAliases.letters(of: $0.utf8)) } ?? false
    }
    guard let title else { return nil }
    let others = meanings.indices.filter { $0 != title }.compactMap { meanings[$0] }
    return Set(others).count > 1 ? title : nil
  }

  private static let titles = ImportWords.titleColumn.set

  private static func text(_ value: [UInt8]) -> String {
    String(decoding: value, as: UTF8.self).trimmed
  }

  /// Whether a text is a number that is neither a year nor the number of a column.
  private static func isMeasured(_ text: String) -> Bool {
    guard text.utf8.count < 32, let number = Double(text), number.isFinite else { return false }
    return number < 0 || text.utf8.contains(UInt8(ascii: "."))
  }
}
