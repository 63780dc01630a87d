/// What the first bytes of a file say about its encoding and its format.
enum FileStart {
  /// The longest mark that is looked for, in bytes.
  static let longestMark = 8

  /// How many bytes the byte order mark of UTF-8 has in this file: three or none.
  /// - Throws: `malformed` for another encoding, and for formats that are neither JSON nor a table.
  static func markLength(of bytes: [UInt8]) throws(CatalogueError) -> Int {
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { return 3 }
    for (start, reason) in refused where bytes.starts(with: start) {
      throw refusal(reason)
    }
    // BSON starts with the length of a document, the type of its first value and that value's name.
    if bytes.count > 5, bytes[2] == 0, bytes[3] == 0, (1...0x13).contains(bytes[4]), bytes[5] > 0x20
    {
      throw refusal(
        "The file is BSON, as mongodump writes it. Save it as JSON lines with mongoexport or bsondump."
      )
    }
    // OpenStreetMap's PBF starts with the length of a header, and the name in it: `OSMHeader`.
    if bytes.dropFirst(4).starts(with: [0x0A, 9] + Array("OS".utf8)) {
      throw refusal("The file is OpenStreetMap's PBF. Save its hotels as GeoJSON with osmium.")
    }
    // A text's first character is in ASCII, so one of its bytes is zero in UTF-16.
    guard !bytes.prefix(2).contains(0) else { throw refusal(utf16) }
    return 0
  }

  private static func refusal(_ reason: String, line: Int = 1) -> CatalogueError {
    CatalogueError(.malformed, reason, line: line)
  }

  /// The refusal of KML, GPX, OpenStreetMap's XML, a feed of hotels in XML, a spreadsheet's XML, PHP, or a page of the web.
  static func xml(_ text: ArraySlice<UInt8>, line: Int) -> CatalogueError {
    let start = String(decoding: text.prefix(longestSection), as: UTF8.self).lowercased()
    let reason =
      if start.hasPrefix("<table")
        || ["<!doctype html", "<!doctype netscape", "<html"].contains(where: start.contains)
      {
        "The file is HTML, a page of the web. Save its table as CSV, or the JSON-LD in its script as JSON."
      } else if start.hasPrefix("<?php") {
        program
      } else if start.contains("excel.sheet") || start.contains("office:spreadsheet") {
        "The file is a workbook in XML; save the table as CSV in UTF-8."
      } else {
        "The file is XML, such as KML or GPX. Save it as JSON, GeoJSON or CSV; QGIS or ogr2ogr do it for maps."
      }
    return refusal(reason, line: line)
  }

  /// How many bytes of the first line of a file that starts with a bracket show what it is: none for an array of objects.
  static func longestFirstLine(startingWith text: ArraySlice<UInt8>) -> Int {
    let bracket = UInt8(ascii: "[")
    guard let next = text.first(where: { !RowSplitter.isSpace($0) && $0 != bracket }) else {
      return longestSection
    }
    switch next {
    case UInt8(ascii: "\""): return FilePieces.pieceBytes
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"):
      return longestSection
    default: return 0
    }
  }

  /// The refusal of a file whose first line is a word in brackets; nil for another line.
  static func section(_ firstLine: ArraySlice<UInt8>, line: Int) -> CatalogueError? {
    let text = String(decoding: firstLine.prefix(longestSection), as: UTF8.self).trimmed
    let word = text.drop { $0 == "[" }.prefix { $0 != "]" }
    guard text.hasPrefix("["), text.hasSuffix("]"), word.first?.isLetter == true,
      word.allSatisfy({ $0.isLetter || $0.isNumber || "_-. ".contains($0) }),
      !["true", "false", "null", "None", "NaN", "Infinity"].contains(word)
    else { return nil }
    return refusal(
      "The file is no JSON: its first line is \(text). TOML, INI files and cqlsh's SELECT JSON can't be imported. Save the hotels as JSON or CSV.",
      line: line)
  }

  /// How many bytes of a text show what it is, unless it is JSON or a table.
  static let longestSection = 128

  /// The refusal of a text that is neither JSON nor a table, by its first line; nil for another one.
  /// - Parameter isFirst: whether no line has been passed over. Below others, such as `SET NAMES utf8;`, only SQL and what
  ///   its clients print are looked for: titles may begin as the rest does.
  static func script(
    _ firstLine: some Collection<UInt8>, line: Int, isFirst: Bool
  ) -> CatalogueError? {
    let text = String(decoding: firstLine.prefix(longestSection), as: UTF8.self).trimmed
    if isFirst, isYAML(text) { return yaml(line: line) }
    let capitals = (text + " ").uppercased()
    let starts = isFirst ? ofDatabases + others : ofDatabases
    let found =
      isFirst && firstLine.contains(0)
      ? "The file has bytes that no text has, as a tar archive does. Unpack it, and import the JSON or the CSV in it."
      : starts.first { $0.texts.contains(where: capitals.hasPrefix) }?.reason
    let reason = found ?? (isFirst && isScript(text) ? program : nil)
    return reason.map { refusal($0, line: line) }
  }

  /// How SQL begins, and what clients of databases print instead of a table.
  private static let ofDatabases: [(texts: [String], reason: String)] = [
    (
      [
        "-- ", "/*!", "USE [", "USE `", "CREATE TABLE", "INSERT INTO", "DROP TABLE", "REPLACE INTO",
        "LOCK TABLES", "BEGIN TRANSACTION;", "PRAGMA FOREIGN_KEYS=OFF;", "START TRANSACTION;",
      ],
      "The file is SQL. Save the table of hotels as CSV with the names of its columns; psql does it with \\copy hotels TO 'hotels.csv' CSV HEADER."
    ),
    (
      ["-[ ", "*****"],
      "The file has each value on a line of its own. Save it as a table: without \\x in psql, without \\G in MySQL."
    ),
  ]
  /// How other texts begin that are neither JSON nor a table.
  private static let others: [(texts: [String], reason: String)] = [
    (
      ["BEGIN:VCARD"],
      "The file has vCards, neither JSON nor a table. Export the contacts as CSV."
    ),
    (
      ["HTTP/1.", "HTTP/2"],
      "The file begins with the head of an HTTP answer, so it is neither JSON nor a table. Save the answer without it (curl without -i)."
    ),
    (
      ["\"[{", "\"{\\\""],
      "The file is JSON within a text of JSON. Save it without the quotation marks around it (jq -r .)."
    ),
    (
      ["//", "/*"],
      "The file begins with a comment, so it is neither JSON nor a table. JSON has no comments. Save it without them."
    ),
  ]
  private static let program =
    "The file is a program in JavaScript or PHP, neither JSON nor a table. Save only the list or the object in it, as JSON."

  /// `var hotels = [`, `export default [`, `callback({`. A title or names of columns may begin with these words, too.
  private static func isScript(_ text: String) -> Bool {
    let starts = [
      ")]}'", "while(1)", "for(;;)", "var ", "let ", "const ", "export ", "module.exports",
      "window.", "import ",
    ]
    let isVariable = text.hasPrefix("$") && text.dropFirst().first?.isLetter == true
    if isVariable || starts.contains(where: text.hasPrefix),
      text.contains(where: "={[(\"'`".contains)
    {
      return true
    }
    guard let open = text.firstIndex(of: "("),
      text[open...].dropFirst().first.map("[{".contains) == true
    else { return false }
    return text[..<open].allSatisfy { $0.isLetter || $0.isNumber || "_$.".contains($0) }
  }

  /// The refusal of a file that gives values to names: `title = "Hotels"`, `hotels = [`; nil for another line.
  static func assignment(_ line: some Collection<UInt8>, line number: Int) -> CatalogueError? {
    let text = String(decoding: line.prefix(longestSection), as: UTF8.self).trimmed
    let name = text.prefix { isOfKey($0) || $0 == "." || $0 == "-" }
    let rest = String(text.dropFirst(name.count)).trimmed
    guard !name.isEmpty, rest.hasPrefix("="),
      String(rest.dropFirst()).trimmed.first.map("\"'[{".contains) == true
    else { return nil }
    return refusal(
      "The file gives values to names with =, as TOML and programs do, so it is neither JSON nor a table. Save the hotels as JSON or CSV.",
      line: number)
  }

  /// The refusal of YAML.
  static func yaml(line: Int) -> CatalogueError {
    refusal(
      "The file is YAML, neither JSON nor a table. Save it as JSON, for example with yq -o=json.",
      line: line)
  }

  /// `---`, `- name: …`, `- hotel:`.
  private static func isYAML(_ text: String) -> Bool {
    if text == "---" || text.hasPrefix("%YAML") { return true }
    guard text.hasPrefix("- ") else { return false }
    let name = text.dropFirst(2).prefix(while: isOfKey)
    let rest = text.dropFirst(2 + name.count)
    return !name.isEmpty && (rest == ":" || rest.hasPrefix(": "))
  }

  /// Whether a line is `hotels:`, which is YAML if the next one ``continuesKey(_:)``, and else a title.
  static func isKey(_ line: some Collection<UInt8>) -> Bool {
    let text = String(decoding: line.prefix(longestSection), as: UTF8.self).trimmed
    return text.utf8.count > 1 && text.last == ":" && text.dropLast().allSatisfy(isOfKey)
  }

  /// Whether a line of YAML belongs to the key above it.
  static func continuesKey(_ line: some Collection<UInt8>) -> Bool {
    line.first == UInt8(ascii: " ") || line.first == UInt8(ascii: "-")
  }

  private static func isOfKey(_ character: Character) -> Bool {
    character.isLetter || character.isNumber || character == "_"
  }

  private static let packed =
    "The file is packed, but not with gzip. Unpack it, or pack it with gzip."
  private static let columns =
    "The file is Parquet, Arrow or Avro. Save it as CSV or JSON lines, for example with DuckDB or pandas."
  private static let utf16 = "The file is UTF-16; save it as UTF-8."

  private static let refused: [([UInt8], String)] = [
    ([0xFF, 0xFE, 0, 0], "The file is UTF-32; save it as UTF-8."),
    ([0, 0, 0xFE, 0xFF], "The file is UTF-32; save it as UTF-8."),
    ([0xFF, 0xFE], utf16), ([0xFE, 0xFF], utf16),
    (
      [0x50, 0x4B, 0x03, 0x04],
      "The file is a ZIP archive or a workbook of a spreadsheet; save the table as CSV in UTF-8."
    ),
    ([0xD0, 0xCF, 0x11, 0xE0], "The file is a workbook; save the table as CSV in UTF-8."),
    ([0x1F, 0x8B], "The file is packed twice; unpack it once."),
    (Array("%PDF".utf8), "The file is a PDF, not JSON or CSV."),
    (Array("PAR1".utf8), columns), (Array("ARROW1".utf8), columns),
    (Array("Obj\u{1}".utf8), columns),
    (Array("BZh".utf8), packed), ([0xFD, 0x37, 0x7A, 0x58, 0x5A], packed),
    ([0x28, 0xB5, 0x2F, 0xFD], packed), ([0x37, 0x7A, 0xBC, 0xAF], packed),
    (Array("Rar!".utf8), packed),
    (
      Array("SQLite f".utf8),
      "The file is a SQLite database; export its table of hotels as CSV or JSON."
    ),
    ([0x89, 0x50, 0x4E, 0x47], "The file is a picture, not JSON or CSV."),
    ([0xFF, 0xD8, 0xFF], "The file is a picture, not JSON or CSV."),
    (Array("{|".utf8), "The file is a table of a wiki. Save it as CSV in UTF-8."),
    (Array("{\\rtf".utf8), "The file is RTF, a document. Save its table as CSV in UTF-8."),
  ]
}
