import Documents

/// Reads a calendar (RFC 5545), chunk by chunk. Each event that says where it is becomes a row, a JSON object of texts, as
/// stays in hotels are events of the calendars of planners and booking sites. It keeps at most one event in memory.
struct CalendarReader {
  /// How a calendar begins.
  static let start = Array("BEGIN:VCALENDAR".utf8)

  /// The line as it is without its breaks (section 3.1), and whether a line has just ended.
  private var text: [UInt8] = []
  private var isAtLineStart = false
  /// The components that are open: `VCALENDAR`, `VEVENT`, and `VALARM` in it.
  private var open: [String] = []
  /// The facts of the event.
  private var facts: [(name: String, value: String)] = []
  /// How many bytes the event has so far.
  private var bytes = 0
  private var isUTF8 = true
  private var eventLine = 1
  private var line: Int
  private var ordinal = 0

  /// The most components in one another.
  private static let deepest = 16
  /// What planners write before the hotel's name.
  private static let openings = ImportWords.opening.phrases
  /// The properties of an event that say something about a hotel, with the names of their members.
  private static let members = [
    "SUMMARY": "name", "LOCATION": "address", "GEO": "geo", "DESCRIPTION": "description",
    "URL": "url",
    "X-APPLE-STRUCTURED-LOCATION": "position",
  ]

  /// Makes a reader of a text that starts on a line.
  init(line: Int) { self.line = line }

  /// The next row that ends in `chunk`, searched from `position`, which is moved on; nil at the end of the chunk.
  mutating func next(in chunk: [UInt8], from position: inout Int) -> SplitRow? {
    while position < chunk.count {
      let byte = chunk[position]
      position += 1
      if byte == 0x0D { continue }
      if byte == 0x0A {
        line += 1
        // Some calendars have empty lines between their lines.
        isAtLineStart = true
        continue
      }
      let goesOn = isAtLineStart && (byte == 0x20 || byte == 0x09)
      let row = isAtLineStart && !goesOn ? endLine() : nil
      isAtLineStart = false
      if !goesOn {
        bytes += 1
        if text.count < RowSplitter.maximumRowBytes { text.append(byte) }
      }
      if let row { return row }
    }
    return nil
  }

  /// Ends the text.
  /// - Throws: `truncated` inside of an event.
  mutating func finish() throws(CatalogueError) -> SplitRow? {
    let row = endLine()
    guard !open.contains("VEVENT") else {
      throw CatalogueError(
        .truncated, "The file ends inside the event that starts here.", line: eventLine)
    }
    return row
  }

  /// Reads the line that has ended; the row if it ends an event.
  private mutating func endLine() -> SplitRow? {
    defer { text = [] }
    guard let (name, value) = property() else { return nil }
    switch name {
    case "BEGIN":
      if value == "VEVENT" { (facts, bytes, isUTF8, eventLine) = ([], 0, true, line - 1) }
      if open.count < Self.deepest { open.append(value) }
    case "END":
      guard let index = open.lastIndex(of: value) else { return nil }
      open.removeSubrange(index...)
      return value == "VEVENT" ? row() : nil
    default:
      guard open.last == "VEVENT", bytes <= RowSplitter.maximumRowBytes,
        let member = Self.members[name], !value.isEmpty,
        !facts.contains(where: { $0.name == member })
      else { return nil }
      facts.append((member, value))
    }
    return nil
  }

  /// The name and the value of the line; its parameters are left out. Nil for a line without a value.
  private mutating func property() -> (name: String, value: String)? {
    var isInQuotes = false
    let colon = text.firstIndex { byte in
      if byte == UInt8(ascii: "\"") { isInQuotes.toggle() }
      return byte == UInt8(ascii: ":") && !isInQuotes
    }
    guard let colon else { return nil }
    let name = text[..<colon].prefix { $0 != UInt8(ascii: ";") }
    // Escapes as in section 3.3.11: `\n`, `\,`, `\;`, `\\`.
    let bytes = TableReader.unescaped(
      text[(colon + 1)...], by: [UInt8(ascii: "n"): 0x0A, UInt8(ascii: "N"): 0x0A])
    guard let value = String(validating: bytes, as: UTF8.self) else {
      isUTF8 = false
      return nil
    }
    return (String(decoding: name, as: UTF8.self).uppercased(), value.trimmed)
  }

  private mutating func row() -> SplitRow {
    ordinal += 1
    return SplitRow(ordinal: ordinal, line: eventLine, content: content())
  }

  private func content() -> SplitRow.Content {
    guard bytes <= RowSplitter.maximumRowBytes else { return .tooLong }
    guard isUTF8 else { return .broken(RowFault.notUTF8) }
    guard facts.contains(where: { ["address", "geo", "position"].contains($0.name) }) else {
      return .other("event without a place")
    }
    var writer = JSONWriter(reserving: bytes + 64)
    writer.beginObject()
    for (name, value) in facts { writer.member(name, name == "name" ? Self.name(value) : value) }
    writer.endObject()
    return .text(writer.bytes)
  }

  /// The hotel's name in the title of an event.
  private static func name(_ title: String) -> String {
    let opening = openings.first { title.lowercased().hasPrefix($0.lowercased()) }
    return opening.map { String(title.dropFirst($0.count)) } ?? title
  }
}
