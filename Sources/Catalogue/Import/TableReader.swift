import JSON

/// Reads a table whose values are separated by commas, semicolons, tabs or bars (RFC 4180), chunk by chunk. The first
/// line names the columns. Each further one becomes a row, a JSON object of texts. It keeps at most one line in memory.
///
/// Lines end with LF, CRLF or CR. A value in quotation marks may have separators, line ends and doubled quotation marks.
/// Spreadsheets may write `sep=;` before the first line. `COPY hotels (id, name) FROM stdin;` names the columns of
/// PostgreSQL's text format, up to the line `\.`.
/// <https://www.postgresql.org/docs/current/sql-copy.html>
struct TableReader {
  /// The most columns.
  static let maximumColumns = 1_000
  /// The most lines before the one with the names of the columns.
  static let maximumPassed = 5

  private enum State { case start, plain, quoted, quoteInQuoted }

  /// The separator; nil until it is known.
  private var separator: UInt8?
  /// The names of the columns; nil before the first line was read. A column without a name has none.
  private var columns: [String?]?
  private var values: [[UInt8]] = []
  private var value: [UInt8] = []
  private var state = State.start
  private var bytes = 0
  private var isAfterCR = false
  private var rowLine: Int
  private var ordinal = 0
  /// The bytes of the first line, until it is complete.
  private var firstLine: [UInt8] = []
  private var isInQuotes = false
  /// Whether the rows are in PostgreSQL's text format, which has no quotation marks.
  private var isCopy = false
  private var isCopyEnded = false
  /// How many lines were passed over before the first line.
  private var passed = 0
  /// The line of the next byte, from 1.
  private var line: Int

  /// Makes a reader of a text that starts on a line.
  init(line: Int) { (self.line, rowLine) = (line, line) }

  /// The next row that ends in `chunk`, searched from `position`, which is moved on; nil at the end of the chunk.
  /// - Throws: `malformed` for a first line that names no column for the hotel's name, and for a value without an end.
  mutating func next(
    in chunk: [UInt8], from position: inout Int
  ) throws(CatalogueError) -> SplitRow? {
    while position < chunk.count {
      let byte = chunk[position]
      position += 1
      if columns == nil {
        try takeFirstLine(byte)
      } else if try take(byte) {
        if let row = endRow() { return row }
      }
    }
    return nil
  }

  /// Ends the text.
  /// - Returns: the last row if it has no line end.
  /// - Throws: `malformed` as ``next(in:from:)``; `truncated` inside of quotation marks.
  mutating func finish() throws(CatalogueError) -> SplitRow? {
    if columns == nil { try readFirstLine() }
    guard columns != nil else { throw Self.notATable(line: line + 1 - passed) }
    guard state != .quoted else {
      throw CatalogueError(
        .truncated,
        "The file ends inside a value whose quotation mark is in the row that starts here.",
        line: rowLine)
    }
    endValue()
    return endRow()
  }

  // MARK: The first line

  private mutating func takeFirstLine(_ byte: UInt8) throws(CatalogueError) {
    if byte == UInt8(ascii: "\"") { isInQuotes.toggle() }
    guard !isInQuotes, byte == 0x0A || byte == 0x0D else {
      guard firstLine.count < RowSplitter.maximumRowBytes else { throw Self.notATable(line: line) }
      firstLine.append(byte)
      return
    }
    if byte == 0x0A, isAfterCR {
      isAfterCR = false
      return
    }
    isAfterCR = byte == 0x0D
    if firstLine.count == 5, firstLine.starts(with: "sep=".utf8) {
      separator = firstLine[4]
      firstLine = []
    } else {
      try readFirstLine()
    }
    (line, rowLine) = (line + 1, line + 1)
  }

  /// Reads the names of the columns with the separator that gives the most names with a meaning. Lines before them, such
  /// as a title, are passed over.
  private mutating func readFirstLine() throws(CatalogueError) {
    try readStatement()
    let candidates = separator.map { [$0] } ?? Array(",;\t|".utf8)
    var best: (names: [String?], known: Int, separator: UInt8)?
    for candidate in candidates {
      let names = names(separatedBy: candidate)
      let known = names.count { $0.flatMap { HotelAliases.match($0.utf8) } != nil }
      if best.map({ (known, names.count) > ($0.known, $0.names.count) }) ?? true {
        best = (names, known, candidate)
      }
    }
    guard let best, best.names.count <= Self.maximumColumns else {
      throw CatalogueError(
        .malformed, "The table has more than \(Self.maximumColumns) columns.", line: line)
    }
    firstLine = []
    let hasName = best.names.contains {
      $0.flatMap { HotelAliases.match($0.utf8) }?.meaning == .name
    }
    if hasName, passed == 0 || best.known > 1 {
      (columns, separator) = (best.names, best.separator)
    } else {
      // What has names of columns, but none for the hotel's name, is no title.
      guard best.known < 2, passed < Self.maximumPassed else {
        throw Self.notATable(line: line - passed)
      }
      passed += 1
    }
  }

  /// Makes the first line of `COPY` one with names, and refuses other SQL.
  private mutating func readStatement() throws(CatalogueError) {
    let words = firstLine.prefix(64).split(separator: 0x20).prefix(2)
      .map { String(decoding: $0, as: UTF8.self).uppercased() }
    if words.first == "COPY", let open = firstLine.firstIndex(of: UInt8(ascii: "(")),
      let close = firstLine.lastIndex(of: UInt8(ascii: ")")), open < close
    {
      firstLine = firstLine[open...close].dropFirst().dropLast().filter { $0 != UInt8(ascii: "\"") }
        .map { $0 == UInt8(ascii: ",") ? 0x09 : $0 }
      (separator, isCopy) = (0x09, true)
    } else if words.first == "--"
      || ["CREATE TABLE", "INSERT INTO", "DROP TABLE"].contains(words.joined(separator: " "))
    {
      throw CatalogueError(
        .malformed,
        "The file is SQL. Save the table of hotels as CSV with the names of its columns; psql does it with "
          + "\\copy hotels TO 'hotels.csv' CSV HEADER.", line: line)
    }
  }

  /// The names in the first line. A name that is there twice gets a number.
  private func names(separatedBy separator: UInt8) -> [String?] {
    var reader = TableReader(line: line)
    reader.separator = separator
    reader.columns = []
    for byte in firstLine { _ = try? reader.take(byte) }
    reader.endValue()
    var known: Set<String> = []
    return reader.values.map { value in
      let name = String(decoding: value, as: UTF8.self).trimmed
      guard !name.isEmpty else { return nil }
      var unique = name
      var number = 2
      while !known.insert(unique).inserted {
        unique = "\(name) \(number)"
        number += 1
      }
      return unique
    }
  }

  static func notATable(line: Int) -> CatalogueError {
    CatalogueError(
      .malformed,
      "The file is neither JSON (an array or an object with hotels, or a hotel on each line) nor a table (CSV) "
        + "whose first line names the columns, one of them for the hotel's name.", line: line)
  }

  // MARK: Rows

  /// Takes a byte of a row.
  /// - Returns: whether a line has ended.
  private mutating func take(_ byte: UInt8) throws(CatalogueError) -> Bool {
    if byte == 0x0A, isAfterCR {
      isAfterCR = false
      return false
    }
    isAfterCR = false
    if byte == 0x0A { line += 1 }
    bytes += 1
    switch state {
    case .quoted:
      if byte == UInt8(ascii: "\"") { state = .quoteInQuoted } else { keep(byte) }
      guard bytes <= RowSplitter.maximumRowBytes else {
        throw CatalogueError(
          .malformed, "A quotation mark in the row that starts here has no end.", line: rowLine)
      }
      return false
    case .quoteInQuoted where byte == UInt8(ascii: "\""):
      keep(byte)
      state = .quoted
      return false
    case .start where byte == UInt8(ascii: "\"") && !isCopy:
      state = .quoted
      return false
    default: break
    }
    switch byte {
    case separator:
      endValue()
    case 0x0D:
      isAfterCR = true
      line += 1
      endValue()
      return true
    case 0x0A:
      endValue()
      return true
    case 0x20 where state == .start: keep(byte)
    default:
      if state != .quoteInQuoted { state = .plain }
      keep(byte)
    }
    return false
  }

  private mutating func keep(_ byte: UInt8) {
    if bytes <= RowSplitter.maximumRowBytes { value.append(byte) }
  }

  private mutating func endValue() {
    if values.count < Self.maximumColumns * 2 { values.append(value) }
    (value, state) = ([], .start)
  }

  /// The row of the values that were read; nil for an empty line.
  private mutating func endRow() -> SplitRow? {
    defer {
      (values, bytes) = ([], 0)
      rowLine = line
    }
    if isCopy, values.count == 1, values[0].elementsEqual("\\.".utf8) { isCopyEnded = true }
    guard let columns, values.contains(where: { !$0.isEmpty }), !isDecoration, !isCopyEnded else {
      return nil
    }
    ordinal += 1
    return SplitRow(ordinal: ordinal, line: rowLine, content: content(columns))
  }

  /// Whether the line is no row: what psql and Markdown write below the names, `---+---`, or psql at the end, `(2 rows)`.
  private var isDecoration: Bool {
    if isTotal || values.allSatisfy({ $0.allSatisfy { " -+=:|".utf8.contains($0) } }) {
      return true
    }
    guard values.count == 1 else { return false }
    let text = String(decoding: values[0].prefix(64), as: UTF8.self)
    return text.hasPrefix("(") && (text.hasSuffix(" row)") || text.hasSuffix(" rows)"))
      || text.contains(" rows in set") || text.hasPrefix("1 row in set")
  }

  /// Whether the line is a sum that a spreadsheet or a report writes below the rows: one of its words, and numbers.
  private var isTotal: Bool {
    let filled = values.filter { value in value.contains { $0 > 0x20 } }
    guard let first = filled.first, first.count < 32 else { return false }
    let words = String(decoding: first, as: UTF8.self).trimmed.lowercased()
    guard Self.totals.contains(words.prefix { $0 != ":" }.description.trimmed) else { return false }
    return filled.dropFirst().allSatisfy { value in
      value.contains { (0x30...0x39).contains($0) } && value.count < 32
        && !value.contains { (0x41...0x5A).contains($0 & 0xDF) && $0 < 0x80 }
    }
  }

  private static let totals: Set = [
    "total", "totals", "grand total", "sum", "summe", "gesamt", "gesamtsumme", "somme", "totale",
    "suma", "totaal", "toplam", "итого", "合計", "合计", "总计",
  ]

  /// What programs write for a value that is missing: PostgreSQL and MySQL, pandas, spreadsheets, R.
  private static let missing: Set<[UInt8]> = Set(
    ["\\N", "NULL", "null", "NaN", "nan", "None", "<NA>", "N/A", "#N/A"].map { Array($0.utf8) })

  private func content(_ columns: [String?]) -> SplitRow.Content {
    guard bytes <= RowSplitter.maximumRowBytes else { return .tooLong }
    guard values.dropFirst(columns.count).allSatisfy(\.isEmpty) else {
      return .broken(
        "The row has \(values.count) values and the table \(columns.count) columns.")
    }
    var writer = JSONWriter(reserving: bytes + 64)
    writer.beginObject()
    for (name, value) in zip(columns, values) {
      guard let name, value.contains(where: { $0 > 0x20 }), !Self.missing.contains(value) else {
        continue
      }
      guard let text = String(validating: isCopy ? Self.unescaped(value) : value, as: UTF8.self)
      else {
        return .broken(RowFault.notUTF8)
      }
      writer.member(name, text.trimmed)
    }
    writer.endObject()
    return .text(writer.bytes)
  }

  /// A value of PostgreSQL's text format without its escapes: `\n`, `\t`, `\\`.
  private static func unescaped(_ value: [UInt8]) -> [UInt8] {
    guard value.contains(UInt8(ascii: "\\")) else { return value }
    var output: [UInt8] = []
    var isEscaped = false
    for byte in value {
      if isEscaped {
        output.append(escapes[byte] ?? byte)
        isEscaped = false
      } else if byte == UInt8(ascii: "\\") {
        isEscaped = true
      } else {
        output.append(byte)
      }
    }
    return output
  }

  private static let escapes: [UInt8: UInt8] = [
    UInt8(ascii: "n"): 0x0A, UInt8(ascii: "t"): 0x09, UInt8(ascii: "r"): 0x0D,
    UInt8(ascii: "b"): 0x20,
    UInt8(ascii: "f"): 0x20, UInt8(ascii: "v"): 0x20,
  ]
}
