/// Reads one text into a tape, or says why it cannot.
///
/// The grammar is that of RFC 8259 and nothing more: no byte order mark, no comment, no trailing
/// comma. The text is handed to each step beside the parser, which itself keeps only the position.
struct JSONParser {
  /// The deepest nesting that any limit can allow; the steps call one another once for each level.
  static let deepestNesting = 512

  /// The longest text that any limit can allow, in bytes; see ``JSONTape``.
  static let longestText = 0xFFF_FFFF

  /// What has been read.
  private(set) var tape: JSONTape

  /// Whether white space stood outside strings.
  private(set) var hasSpace = false

  /// The limits in force.
  let limits: JSONLimits

  /// The offset of the next byte to read.
  var offset = 0

  /// The values that have begun.
  private var values = 0

  /// The names of the objects that are open, innermost last.
  private var names = JSONOpenNames()

  /// A parser for a text.
  init(for text: Span<UInt8>, limits: JSONLimits) {
    self.limits = limits
    tape = JSONTape(for: text)
  }

  /// Reads the whole text.
  mutating func parse(_ text: Span<UInt8>) throws(JSONError) {
    let longest = min(limits.maximumBytes, Self.longestText)
    guard text.count <= longest else {
      throw JSONError(code: .tooLarge, offset: longest)
    }
    skipSpace(text)
    try parseValue(text, depth: 0)
    skipSpace(text)
    guard offset == text.count else { throw invalid() }
  }

  private mutating func parseValue(_ text: Span<UInt8>, depth: Int) throws(JSONError) {
    values += 1
    guard values <= limits.maximumValues else {
      throw JSONError(code: .tooManyValues, offset: offset)
    }
    switch JSONByte.at(offset, in: text) {
    case JSONByte.quote:
      _ = try parseString(text)
    case JSONByte.openBrace:
      try parseObject(text, depth: depth + 1)
    case JSONByte.openBracket:
      try parseArray(text, depth: depth + 1)
    case JSONByte.minus, 0x30...0x39:
      let end = try JSONNumber.end(in: text, from: offset, limits: limits)
      tape.append(.number, from: offset, to: end)
      offset = end
    case 0x74:
      try parseWord("true", .yes, text)
    case 0x66:
      try parseWord("false", .no, text)
    case 0x6E:
      try parseWord("null", .null, text)
    default:
      throw invalid()
    }
  }

  private mutating func parseObject(_ text: Span<UInt8>, depth: Int) throws(JSONError) {
    let index = try open(.object, depth: depth)
    skipSpace(text)
    var count = 0
    var escaped = false
    if JSONByte.at(offset, in: text) != JSONByte.closeBrace {
      repeat {
        skipSpace(text)
        guard JSONByte.at(offset, in: text) == JSONByte.quote else { throw invalid() }
        count += 1
        guard count <= limits.maximumMembers else {
          throw JSONError(code: .tooManyMembers, offset: offset)
        }
        let (name, start) = (tape.count, offset + 1)
        if try parseString(text) { escaped = true }
        names.append(name, content: start..<offset - 1, of: text)
        skipSpace(text)
        guard JSONByte.at(offset, in: text) == JSONByte.colon else { throw invalid() }
        offset += 1
        skipSpace(text)
        try parseValue(text, depth: depth)
        skipSpace(text)
      } while takeComma(text)
    }
    guard JSONByte.at(offset, in: text) == JSONByte.closeBrace else { throw invalid() }
    offset += 1
    if let repeated = names.removeLast(count, escaped: escaped, tape: tape, text: text) {
      throw JSONError(
        code: .duplicateKey, offset: tape.start(repeated),
        pointer: JSONPointer.text(ofMember: repeated, of: index, tape: tape, text: text))
    }
    tape.close(index, end: offset, count: count)
  }

  private mutating func parseArray(_ text: Span<UInt8>, depth: Int) throws(JSONError) {
    let index = try open(.array, depth: depth)
    skipSpace(text)
    var count = 0
    if JSONByte.at(offset, in: text) != JSONByte.closeBracket {
      repeat {
        skipSpace(text)
        try parseValue(text, depth: depth)
        count += 1
        skipSpace(text)
      } while takeComma(text)
    }
    guard JSONByte.at(offset, in: text) == JSONByte.closeBracket else { throw invalid() }
    offset += 1
    tape.close(index, end: offset, count: count)
  }

  /// Reads a string or a name at `offset`; returns whether it has escapes.
  private mutating func parseString(_ text: Span<UInt8>) throws(JSONError) -> Bool {
    let string = try JSONStringScan(text, from: offset, limit: limits.maximumStringBytes)
    tape.append(.string, from: offset, to: string.end, escaped: string.isEscaped)
    offset = string.end
    return string.isEscaped
  }

  private mutating func open(_ token: JSONTape.Token, depth: Int) throws(JSONError) -> Int {
    guard depth <= min(limits.maximumDepth, Self.deepestNesting) else {
      throw JSONError(code: .tooDeep, offset: offset)
    }
    defer { offset += 1 }
    return tape.open(token, at: offset)
  }

  private mutating func parseWord(
    _ word: StaticString, _ token: JSONTape.Token, _ text: Span<UInt8>
  ) throws(JSONError) {
    let end = offset + word.utf8CodeUnitCount
    let matches = word.withUTF8Buffer { letters in
      end <= text.count && letters.indices.allSatisfy { letters[$0] == text[offset + $0] }
    }
    guard matches else { throw invalid() }
    tape.append(token, from: offset, to: end)
    offset = end
  }

  @inline(__always)
  private mutating func takeComma(_ text: Span<UInt8>) -> Bool {
    guard JSONByte.at(offset, in: text) == JSONByte.comma else { return false }
    offset += 1
    return true
  }

  @inline(__always)
  private mutating func skipSpace(_ text: Span<UInt8>) {
    while offset < text.count, JSONByte.isSpace(text[offset]) {
      offset += 1
      hasSpace = true
    }
  }

  private func invalid() -> JSONError {
    JSONError(code: .invalidJSON, offset: offset)
  }
}
