import Documents

/// Lines of a table that are no rows, and values that are none.
enum TableLine {
  /// Whether the line is no row: what psql and Markdown write below the names, `---+---`, a sum, or what a program says at
  /// the end, such as `(2 rows)`.
  /// - Parameter columns: how many columns the table has.
  static func isDecoration(_ values: [[UInt8]], columns: Int) -> Bool {
    if isTotal(values) || values.allSatisfy({ $0.allSatisfy { " -+=:|\u{1A}".utf8.contains($0) } })
    {
      return true
    }
    if columns > 1, isRemark(values) { return true }
    let filled = values.filter { value in value.contains { $0 > 0x20 } }
    guard filled.count == 1, values.count == 1 || columns > 1 else { return false }
    let text = String(decoding: filled[0].prefix(64), as: UTF8.self).trimmed
    return isCount(text) || columns > 1 && isDuration(text)
  }

  /// Whether a program says how many rows there are: `(2 rows)`, `(2 Zeilen)`, `2 rows in set`, `2 record(s) selected.`,
  /// `2 rows  3 columns`.
  private static func isCount(_ text: String) -> Bool {
    let words = text.drop { $0 == "(" }
    let isInBrackets = text.hasPrefix("(") && words.firstIndex(of: ")") == words.indices.last
    guard let first = words.unicodeScalars.first, ("0"..."9").contains(first) else { return false }
    if isInBrackets { return true }
    guard let word = words.split(separator: " ").dropFirst().first?.lowercased() else {
      return false
    }
    return ["row", "rows", "record", "records", "record(s)"].contains(word)
      && [" selected", " in set", " affected", " returned", " column", " shown"]
        .contains { words.contains($0) }
  }

  /// Whether the line has one value, which says where the table is from or what a sign in it means.
  private static func isRemark(_ values: [[UInt8]]) -> Bool {
    guard let first = values.first, first.count > 1,
      values.dropFirst().allSatisfy({ $0.allSatisfy { $0 <= 0x20 } })
    else { return false }
    let text = String(decoding: first.prefix(64), as: UTF8.self).trimmed.lowercased()
    return remarks.contains(where: text.hasPrefix)
  }

  /// Whether the line has one value that begins as a comment of a program or a shell does: `# end of the list`.
  static func isComment(_ values: [[UInt8]]) -> Bool {
    values[0].starts(with: "# ".utf8)
      && values.dropFirst().allSatisfy { $0.allSatisfy { $0 <= 0x20 } }
  }

  private static let remarks = ImportWords.remark.phrases

  /// Whether psql says how long it took: `Time: 0.345 ms`.
  private static func isDuration(_ text: String) -> Bool {
    let words = text.split(separator: " ")
    guard let unit = words.firstIndex(of: "ms"), unit > 1 else { return false }
    return words[0..<unit - 1].contains { $0.hasSuffix(":") }
      && Double(words[unit - 1].replacing(",", with: ".")) != nil
  }

  /// Whether the line is a sum that a spreadsheet or a report writes below the rows: one of its words, and numbers.
  private static func isTotal(_ values: [[UInt8]]) -> Bool {
    let filled = values.filter { value in value.contains { $0 > 0x20 } }
    guard let first = filled.first, first.count < 32 else { return false }
    let words = String(decoding: first, as: UTF8.self).trimmed.lowercased()
    let label = String(words.prefix { $0 != ":" })
    // `Total hotels: 2`
    let isCounted = Double(words.dropFirst(label.count + 1).description.trimmed) != nil
    guard totals.contains(label.trimmed) || isCounted && label.hasPrefix("total ") else {
      return false
    }
    return filled.dropFirst().allSatisfy { value in
      value.contains { (0x30...0x39).contains($0) } && value.count < 32
        && !value.contains { (0x41...0x5A).contains($0 & 0xDF) && $0 < 0x80 }
    }
  }

  private static let totals = Set(ImportWords.total.phrases)

  /// The place of the rows below a line that has nothing but its name, as people divide a list of hotels: `France,,` and
  /// `## Paris`. A city is in the country of the line above.
  /// - Parameter header: the names of the columns, if they were read. Where there is a column for cities, a line with a
  ///   city's name is a hotel: Bristol.
  static func place(
    _ values: [[UInt8]], below header: TableHeader?, within outer: GroupedLists.Place
  ) -> GroupedLists.Place? {
    let filled = values.filter { value in value.contains { $0 > 0x20 } }
    guard header.map({ $0.names.count > 2 }) ?? true, filled.count == 1, filled[0].count < 64
    else { return nil }
    let line = String(decoding: filled[0].drop { $0 == UInt8(ascii: "#") }, as: UTF8.self)
    let text = plain(line.trimmed, named: "")
    var place = GroupedLists.place(named: text)
    // Short names may be words, unless they are capitals: UK.
    if text.utf8.count < 4, text == text.uppercased(), PlaceNames.all.code(of: text) != nil {
      place.country = text
    }
    guard place != GroupedLists.Place(), place.city == nil || header?.says(.city) != true,
      place.state == nil || header?.says(.state) != true,
      place.country == nil || header?.says(.country) != true
    else { return nil }
    place.country = place.country ?? outer.country
    return place
  }

  /// Whether the line says the type or the unit of each column, as ClickHouse and papers write it below the names.
  static func areTypes(_ texts: [String]) -> Bool {
    let filled = texts.map { text in
      HotelAliases.letters(of: text.utf8.prefix { $0 != UInt8(ascii: "(") })
    }.filter { !$0.isEmpty }
    let units = texts.filter { !$0.isEmpty }
    if units.count > 1, units.allSatisfy({ $0.hasPrefix("(") && $0.hasSuffix(")") }) { return true }
    return filled.count > 1 && filled.allSatisfy(types.contains)
  }

  private static let types = ImportWords.columnType.set

  /// What programs write for a value that is missing, wrong or not shown: PostgreSQL and MySQL, pandas, spreadsheets, R,
  /// Polars; people write a line.
  static let missing = ImportWords.missing.set

  /// Whether a text says that there is no value. `NA` may be Namibia.
  static func isMissing(_ text: String, isCountry: Bool = false) -> Bool {
    text.utf8.count <= 11 && (missing.contains(text) || text == "NA" && !isCountry)
  }

  /// The text of a term of RDF whose quotation marks are removed: `<http://…>`, `Ritz@en`, `48.9^^<http://…>`.
  static func term(_ text: String) -> String {
    if text.hasPrefix("<"), text.hasSuffix(">") { return String(text.dropFirst().dropLast()) }
    if let type = text.firstRange(of: "^^<") { return String(text[..<type.lowerBound]) }
    guard let at = text.lastIndex(of: "@") else { return text }
    let parts = text[at...].dropFirst().split(separator: "-", omittingEmptySubsequences: false)
    let isLanguage = parts.allSatisfy { part in
      (1...8).contains(part.utf8.count)
        && part.utf8.allSatisfy { (0x61...0x7A).contains($0 | 0x20) || (0x30...0x39).contains($0) }
    }
    return isLanguage ? String(text[..<at]) : text
  }

  /// A value without its markup: a link of Markdown, `[Hôtel du Lac](https://…)`, is its text, so is a page that Notion
  /// writes as `Hôtel du Lac (https://www.notion.so/…)`, and a spreadsheet's formula `="Hôtel du Lac"` is its value.
  /// - Parameter name: the column's name. Of `=HYPERLINK("https://…","Hôtel du Lac")`, a column for links gets the link.
  static func plain(_ text: String, named name: String) -> String {
    if text.hasPrefix("=HYPERLINK(\"") {
      let parts = text.split(separator: "\"")
      let isLink = parts.count < 4 || HotelAliases.match(name.utf8)?.meaning == .url
      return parts.count < 2 ? text : String(isLink ? parts[1] : parts[3])
    }
    if text.hasSuffix(")"), let link = text.firstRange(of: " (https://www.notion.so/") {
      return String(text[..<link.lowerBound])
    }
    // Five stars are a category.
    if text.hasPrefix("**"), text.hasSuffix("**"), text.contains(where: \.isLetter) {
      return plain(String(text.dropFirst(2).dropLast(2)), named: name)
    }
    if text.hasPrefix("["), text.hasSuffix(")"),
      let middle = text.firstRange(of: "](")
    {
      return String(text[..<middle.lowerBound].dropFirst()).trimmed
    }
    if text.hasPrefix("=\""), text.hasSuffix("\""), text.utf8.count > 3 {
      return String(text.dropFirst(2).dropLast()).replacing("\"\"", with: "\"").trimmed
    }
    return text
  }
}
