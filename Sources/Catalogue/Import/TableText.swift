/// The text of a table without what programs draw or put around its lines.
///
/// - Lines of box characters, as psql, SQLite, DuckDB, ClickHouse, Polars and Nushell draw them, become `|`, `-` and `+`.
/// - A line that is one value in quotation marks, as a spreadsheet writes what it has taken for one column, becomes that
///   value: `"id,name,city"`.
///
/// It decides by the first lines which of both a file has, if any, and keeps at most one line in memory after that.
struct TableText {
  private enum Form { case undecided, plain, boxed, quoted }

  private var form = Form.undecided
  /// The bytes of the line that has not ended, or those before the decision.
  private var kept: [UInt8] = []
  private var isInQuotes = false

  /// How many lines and bytes are looked at before the decision.
  private static let (firstLines, firstBytes) = (3, 1 << 16)

  /// The lines that end in these bytes.
  mutating func take(_ bytes: [UInt8]) -> [UInt8] {
    guard form != .plain else { return bytes }
    if form == .undecided {
      kept += bytes
      let lines = kept.lazy.filter { $0 == 0x0A }.prefix(Self.firstLines).count
      return lines == Self.firstLines || kept.count > Self.firstBytes ? decide() : []
    }
    var output: [UInt8] = []
    for byte in bytes { take(byte, into: &output) }
    return output
  }

  /// The rest of the text.
  mutating func end() -> [UInt8] {
    var output = form == .undecided ? decide() : []
    output += line(kept)
    kept = []
    return output
  }

  private mutating func decide() -> [UInt8] {
    let lines = kept.split(separator: 0x0A, maxSplits: Self.firstLines).prefix(Self.firstLines)
    if lines.contains(where: { Self.isDrawn($0) }) {
      form = .boxed
    } else if let first = lines.first, Self.unquoted(first).map(Self.hasNames) == true {
      form = .quoted
    } else {
      form = .plain
    }
    let bytes = kept
    kept = []
    return take(bytes)
  }

  private mutating func take(_ byte: UInt8, into output: inout [UInt8]) {
    kept.append(byte)
    if form == .quoted, byte == UInt8(ascii: "\"") { isInQuotes.toggle() }
    guard byte == 0x0A && !isInQuotes || kept.count > RowSplitter.maximumRowBytes else { return }
    output += line(kept)
    (kept, isInQuotes) = ([], false)
  }

  /// A line as the table has it.
  private func line(_ bytes: [UInt8]) -> [UInt8] {
    switch form {
    case .undecided, .plain: return bytes
    case .boxed: return Self.undrawn(bytes)
    case .quoted:
      guard let line = Self.unquoted(bytes[...]) else { return bytes }
      return bytes.last == 0x0A ? line + [0x0A] : line
    }
  }

  // MARK: Quotation marks

  /// The value that a line is, with only separators behind it; nil for another line.
  private static func unquoted(_ line: ArraySlice<UInt8>) -> [UInt8]? {
    let quote = UInt8(ascii: "\"")
    guard line.first == quote else { return nil }
    var value: [UInt8] = []
    var rest = line.dropFirst()
    while let byte = rest.popFirst() {
      if byte == quote {
        guard rest.first == quote else {
          return rest.allSatisfy { " ,;\t\r\n".utf8.contains($0) } ? value : nil
        }
        rest.removeFirst()
      }
      value.append(byte)
    }
    return nil
  }

  /// Whether a line names several columns.
  private static func hasNames(_ line: [UInt8]) -> Bool {
    guard let first = line.first, !"[{".utf8.contains(first) else { return false }
    return ",;\t|".utf8.contains { separator in
      let header = TableHeader(line.split(separator: separator).map { Array($0) })
      return header.hasName && header.known > 1
    }
  }

  // MARK: Box characters

  /// Whether a line begins with a box character (U+2500 to U+257F).
  private static func isDrawn(_ line: ArraySlice<UInt8>) -> Bool {
    let start = line.drop { $0 == 0x20 }.prefix(2)
    return start.elementsEqual([0xE2, 0x94]) || start.elementsEqual([0xE2, 0x95])
  }

  /// A line with ASCII's characters in the place of box characters. ClickHouse writes the names of the columns into the
  /// upper border.
  private static func undrawn(_ line: [UInt8]) -> [UInt8] {
    guard let text = String(validating: line, as: UTF8.self) else { return line }
    let isNames =
      isDrawn(line[...]) && text.contains(where: \.isLetter)
      && !text.unicodeScalars.contains { verticals.contains($0) }
    let plain = text.unicodeScalars.map { scalar -> Unicode.Scalar in
      if verticals.contains(scalar) { return "|" }
      if horizontals.contains(scalar) { return isNames ? " " : "-" }
      return (0x2500...0x257F).contains(scalar.value) ? (isNames ? "|" : "+") : scalar
    }
    return Array(String(String.UnicodeScalarView(plain)).utf8)
  }

  private static let verticals: Set<Unicode.Scalar> = ["│", "┃", "┆", "┇", "┊", "┋", "║", "╎", "╏"]
  private static let horizontals: Set<Unicode.Scalar> = [
    "─", "━", "┄", "┅", "┈", "┉", "═", "╌", "╍",
  ]
}
