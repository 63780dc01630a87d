import Documents

/// Reads a table whose values are separated by commas, semicolons, tabs, bars, `^`, `~` or Hive's U+0001 (RFC 4180), chunk
/// by chunk. The first line names the columns. Each further one becomes a row, a JSON object of texts. It keeps at most
/// one line in memory.
///
/// Lines end with LF, CRLF or CR. A value in quotation marks may have separators, line ends and doubled quotation marks.
/// Spreadsheets may write `sep=;` before the first line. `COPY hotels (id, name) FROM stdin;` names the columns of
/// PostgreSQL's text format, up to the line `\.`.
/// <https://www.postgresql.org/docs/current/sql-copy.html>
struct TableReader {
  /// The most columns.
  static let maximumColumns = 1_000
  /// The most lines before the one with the names of the columns.
  static let maximumPassed = 15

  private enum State { case start, plain, quoted, quoteInQuoted, escaped }

  /// The separator; nil until it is known.
  private var separator: UInt8?
  private var quote = UInt8(ascii: "\"")
  /// Whether a quotation mark in a value has a backslash before it, as MySQL writes it, not another one.
  private var isBackslashed = false
  /// The names of the columns; nil before the first line was read.
  private var header: TableHeader?
  private var values: [[UInt8]] = []
  private var value: [UInt8] = []
  private var state = State.start
  private var bytes = 0
  private var isAfterCR = false
  private var rowLine: Int
  private var ordinal = 0
  /// Whether the last line was empty.
  private var isBelowGap = false
  /// The bytes of the first line, until it is complete.
  private var firstLine: [UInt8] = []
  private var isInQuotes = false
  /// Whether the rows are in PostgreSQL's text format, which has no quotation marks.
  private var isCopy = false
  private var isCopyEnded = false
  /// The place of the rows below a line with its name only.
  private var place = GroupedLists.Place()
  /// How many lines were passed over before the first line.
  private var passed = 0
  /// Whether the lines before the rows are UTF-8.
  private var isUTF8 = true
  /// Whether the last line that was passed over may be a key of YAML.
  private var isAfterKey = false
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
      if header == nil {
        try takeFirstLine(byte)
      } else if try take(byte) {
        if let row = try endRow() { return row }
      }
    }
    return nil
  }

  /// Ends the text.
  /// - Returns: the last row if it has no line end.
  /// - Throws: `malformed` as ``next(in:from:)``; `truncated` inside of quotation marks.
  mutating func finish() throws(CatalogueError) -> SplitRow? {
    if header == nil { try readFirstLine() }
    guard header != nil else { throw notATable(line: line + 1 - passed) }
    guard state != .quoted else {
      throw CatalogueError(
        .truncated,
        "The file ends inside a value whose quotation mark is in the row that starts here.",
        line: rowLine)
    }
    endValue()
    return try endRow()
  }

  // MARK: The first line

  private mutating func takeFirstLine(_ byte: UInt8) throws(CatalogueError) {
    // A quotation mark within a word is one of its letters, as in Hebrew.
    if byte == UInt8(ascii: "\""),
      isInQuotes || firstLine.last.map(",;\t|=\" ^~\u{1}".utf8.contains) ?? true
    {
      isInQuotes.toggle()
    }
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
    if String(validating: firstLine, as: UTF8.self) == nil { isUTF8 = false }
    if isAfterKey, FileStart.continuesKey(firstLine) { throw FileStart.yaml(line: line - passed) }
    isAfterKey = passed == 0 && FileStart.isKey(firstLine)
    readStatement()
    let refusal =
      FileStart.script(firstLine, line: line, isFirst: passed == 0)
      ?? FileStart.assignment(firstLine, line: line)
    if let refusal { throw refusal }
    let isInSingle = [firstLine.first, firstLine.last].allSatisfy { $0 == UInt8(ascii: "'") }
    quote = UInt8(ascii: isInSingle ? "'" : "\"")
    let candidates = separator.map { [$0] } ?? Array(",;\t|^~\u{1}".utf8)
    var best: (header: TableHeader, separator: UInt8)?
    for candidate in candidates {
      let header = TableHeader(values(separatedBy: candidate))
      let counts = (header.known, header.names.count)
      if best.map({ counts > ($0.header.known, $0.header.names.count) }) ?? true {
        best = (header, candidate)
      }
    }
    guard let best, best.header.names.count <= Self.maximumColumns else {
      throw CatalogueError(
        .malformed, "The table has more than \(Self.maximumColumns) columns.", line: line)
    }
    let isFixedWidth = best.header.known < 2 && TableHeader.isFixedWidth(firstLine)
    let title = firstLine.split { ",;\t|".utf8.contains($0) }.map { Array($0) }
    firstLine = []
    if best.header.isLikely, passed == 0 && !isAfterKey || best.header.known > 1 {
      (header, separator) = best
    } else {
      // What has names of columns, but none for the hotel's name, is no title.
      guard best.header.known < 2, passed < Self.maximumPassed else {
        throw notATable(line: line - passed)
      }
      guard !isFixedWidth else {
        throw CatalogueError(
          .malformed,
          "The columns of the file have a fixed width. Save it with commas or tabs between its values.",
          line: line)
      }
      place = TableLine.place(title, below: nil, within: place) ?? place
      passed += 1
    }
  }

  /// Makes the first line of `COPY` or of a table of Jira one with names.
  private mutating func readStatement() {
    let start = String(decoding: firstLine.prefix(5), as: UTF8.self).uppercased()
    if start == "COPY ", let open = firstLine.firstIndex(of: UInt8(ascii: "(")),
      let close = firstLine.lastIndex(of: UInt8(ascii: ")")), open < close
    {
      firstLine = firstLine[open...close].dropFirst().dropLast().filter { $0 != UInt8(ascii: "\"") }
        .map { $0 == UInt8(ascii: ",") ? 0x09 : $0 }
      (separator, isCopy) = (0x09, true)
    } else if firstLine.starts(with: "||".utf8) {
      // Jira doubles the bars between names only.
      firstLine = Array(String(decoding: firstLine, as: UTF8.self).replacing("||", with: "|").utf8)
    }
  }

  private func values(separatedBy separator: UInt8) -> [[UInt8]] {
    var reader = TableReader(line: line)
    (reader.separator, reader.quote) = (separator, quote)
    for byte in firstLine { _ = try? reader.take(byte) }
    reader.endValue()
    return reader.values
  }

  private func notATable(line: Int) -> CatalogueError {
    isUTF8
      ? Self.notATable(line: line)
      : CatalogueError(
        .malformed, "The file is not UTF-8, so it can't be read. Save it as UTF-8.", line: line)
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
    case .quoted, .escaped:
      try takeInQuotes(byte)
      return false
    case .quoteInQuoted where byte == quote:
      keep(byte)
      state = .quoted
      return false
    case .start where byte == quote && !isCopy:
      state = .quoted
      return false
    // A spreadsheet's formula: `="Hôtel du Lac"`.
    case .plain where byte == quote && !isCopy && value.elementsEqual("=".utf8):
      value = []
      state = .quoted
      return false
    default: break
    }
    switch byte {
    case separator where isMarkdown && value.last == UInt8(ascii: "\\"):
      value[value.count - 1] = byte
    case separator: endValue()
    case 0x0D:
      isAfterCR = true
      line += 1
      endValue()
      return true
    case 0x0A:
      endValue()
      return true
    case 0x20 where state == .start: keep(byte)
    case _ where state == .quoteInQuoted && value.last == UInt8(ascii: "\\"):
      // The quotation mark before this byte did not end the value.
      isBackslashed = true
      value[value.count - 1] = quote
      keep(byte)
      state = .quoted
    default:
      if state != .quoteInQuoted { state = .plain }
      keep(byte)
    }
    return false
  }

  private mutating func takeInQuotes(_ byte: UInt8) throws(CatalogueError) {
    if state == .quoted, byte == quote {
      state = .quoteInQuoted
    } else if state == .quoted, isBackslashed, byte == UInt8(ascii: "\\") {
      state = .escaped
    } else {
      keep(byte)
      state = .quoted
    }
    guard bytes <= RowSplitter.maximumRowBytes else {
      throw CatalogueError(
        .malformed, "A quotation mark in the row that starts here has no end.", line: rowLine)
    }
  }

  /// Whether lines begin with a bar, as Markdown's and a wiki's do.
  private var isMarkdown: Bool {
    separator == UInt8(ascii: "|") && header.map { $0.names.first == .some(nil) } == true
  }

  private mutating func keep(_ byte: UInt8) {
    if bytes <= RowSplitter.maximumRowBytes { value.append(byte) }
  }

  private mutating func endValue() {
    if values.count < Self.maximumColumns * 2 { values.append(value) }
    (value, state) = ([], .start)
  }

  /// The row of the values that were read; nil for a line that is no row.
  /// - Throws: `malformed` if the first row shows that the line above it did not name the columns.
  private mutating func endRow() throws(CatalogueError) -> SplitRow? {
    defer {
      isBelowGap = values.allSatisfy { $0.allSatisfy { $0 <= 0x20 } }
      (values, bytes) = ([], 0)
      rowLine = line
    }
    if isCopy, values.count == 1, values[0].elementsEqual("\\.".utf8) { isCopyEnded = true }
    // Below their last row, spreadsheets have boxes that nobody has checked.
    guard let header, !isCopyEnded,
      values.contains(where: { !$0.isEmpty && !$0.elementsEqual("FALSE".utf8) }),
      !TableLine.isDecoration(values, columns: header.names.count), !header.isRepeated(by: values)
    else { return nil }
    // A list that does not begin with a place is not divided by places: Georgia is a hotel.
    if ordinal == 0 || isMarkdown || place != GroupedLists.Place(),
      let place = TableLine.place(values, below: header, within: place)
    {
      self.place = place
      return nil
    }
    // Below a table of Markdown there may be text, or a heading that ends what is in a place; in any table, a comment.
    let isComment = header.names.count > 1 && TableLine.isComment(values)
    guard !isComment, !isMarkdown || values.count > 1 else {
      if values[0].first == UInt8(ascii: "#") { place = GroupedLists.Place() }
      return nil
    }
    if ordinal > 0, !isCopy, let next = TableHeader.next(values, isBelowGap: isBelowGap) {
      self.header = next
      return nil
    }
    if ordinal == 0, !isCopy {
      guard !header.isRow(above: values) else { throw Self.notATable(line: rowLine - 1) }
      let below = TableHeader(values)
      if below.isBelow(header) {
        self.header = below
        return nil
      }
      guard !header.isBeside(values) else {
        throw CatalogueError(
          .malformed,
          "The table has a column for each hotel. Transpose it, so that each hotel has a line.",
          line: rowLine)
      }
      if below.areTypes { return nil }
      self.header?.shift(for: values)
    }
    ordinal += 1
    return SplitRow(
      ordinal: ordinal, line: rowLine, content: content(self.header ?? header),
      place: place)
  }

  private func content(_ header: TableHeader) -> SplitRow.Content {
    let columns = header.names
    guard bytes <= RowSplitter.maximumRowBytes else { return .tooLong }
    guard values.dropFirst(columns.count).allSatisfy(\.isEmpty) else {
      return .broken("The row has \(values.count) values and the table \(columns.count) columns.")
    }
    var writer = JSONWriter(reserving: bytes + 64)
    writer.beginObject()
    for (name, value) in zip(columns, values) {
      guard let name, value.contains(where: { $0 > 0x20 }) else { continue }
      // `\N` alone is a missing value.
      let hasEscapes = isCopy && !value.elementsEqual("\\N".utf8)
      let bytes = hasEscapes ? Self.unescaped(value, by: Self.escapes) : value
      guard let text = String(validating: bytes, as: UTF8.self) else {
        return .broken(RowFault.notUTF8)
      }
      let value = header.areVariables ? TableLine.term(text) : text
      let plain = TableLine.plain(value.trimmed, named: name)
      if !plain.isEmpty, !TableLine.missing.contains(plain) { writer.member(name, plain) }
    }
    writer.endObject()
    return .text(writer.bytes)
  }

  /// A text without its escapes: of `\n`, what a table has for `n`, else the sign itself.
  static func unescaped(_ text: some Sequence<UInt8>, by escapes: [UInt8: UInt8]) -> [UInt8] {
    var (output, isEscaped) = ([UInt8](), false)
    for byte in text {
      let isSign = byte == UInt8(ascii: "\\") && !isEscaped
      if !isSign { output.append(isEscaped ? escapes[byte] ?? byte : byte) }
      isEscaped = isSign
    }
    return output
  }

  /// The escapes of PostgreSQL's text format.
  private static let escapes = Dictionary(
    uniqueKeysWithValues: zip("ntrbfv".utf8, "\n\t\r   ".utf8))
}
