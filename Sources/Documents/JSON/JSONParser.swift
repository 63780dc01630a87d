/// Parses one text, in parts where the text is long.
///
/// The grammar is exactly that of RFC 8259: no byte order mark, no comment, no trailing comma. The caller passes the
/// text to each step; the parser itself keeps only its position and the lengths of what it has read.
struct JSONParser: Sendable {
  /// The deepest nesting that any limit can allow. Writing a value recurses once for each level.
  static let deepestNesting = 512

  /// The longest text that any limit can allow, in bytes.
  static let longestText = 0xFFF_FFFF

  /// An array or object that is open.
  struct Frame: Sendable {
    let isObject: Bool
    /// The index of its extent.
    let index: Int
    /// The offset of its first byte.
    let start: Int
    /// The number of its elements or members that have ended.
    var count = 0
    /// The offset of the name of the member that is being read.
    var name = 0
  }

  /// What the parser expects next.
  private enum Step {
    case value, firstElement, firstName, name, colon, comma, end
  }

  /// The lengths of the arrays, objects and long strings read so far.
  private(set) var extents: JSONExtents

  /// Whether white space occurred outside strings.
  private(set) var hasSpace = false

  /// The bytes of the longest string so far, with its quotation marks.
  private(set) var longestString = 0

  let limits: JSONLimits

  /// The offset of the next byte to read.
  private(set) var offset = 0

  private var step = Step.value

  /// The number of values that have begun.
  private var values = 0

  /// The open arrays and objects, innermost last.
  private var frames: [Frame] = []

  /// The member names of the open objects.
  private var names = JSONOpenNames()

  init(for text: Span<UInt8>, limits: JSONLimits) {
    self.limits = limits
    extents = JSONExtents(forBytes: text.count, values: limits.maximumValues)
  }

  /// Reads the next `bytes` bytes, and on to the end of the token reached then.
  /// - Returns: whether the text has been read to its end.
  mutating func read(_ text: Span<UInt8>, bytes: Int) throws(JSONError) -> Bool {
    let longest = min(limits.maximumBytes, Self.longestText)
    guard text.count <= longest else { throw JSONError(code: .tooLarge, offset: longest) }
    let pause = bytes < text.count - offset ? offset + bytes : text.count
    while true {
      skipSpace(text, to: pause)
      if offset >= pause, pause < text.count { return false }
      let byte = JSONByte.at(offset, in: text)
      switch step {
      case .value: try readValue(byte, text)
      case .firstElement:
        if byte == JSONByte.closeBracket { try close(text) } else { try readValue(byte, text) }
      case .firstName:
        if byte == JSONByte.closeBrace { try close(text) } else { try readName(byte, text) }
      case .name: try readName(byte, text)
      case .colon:
        guard byte == JSONByte.colon else { throw invalid() }
        offset += 1
        step = .value
      case .comma: try readComma(byte, text)
      case .end:
        guard offset == text.count else { throw invalid() }
        return true
      }
    }
  }

  private mutating func readValue(_ byte: UInt8, _ text: Span<UInt8>) throws(JSONError) {
    values += 1
    guard values <= limits.maximumValues else {
      throw JSONError(code: .tooManyValues, offset: offset)
    }
    switch byte {
    case JSONByte.quote: try readString(text)
    case JSONByte.openBrace: return try open(isObject: true)
    case JSONByte.openBracket: return try open(isObject: false)
    case JSONByte.minus, 0x30...0x39:
      offset = try JSONNumber.end(in: text, from: offset, limits: limits)
    case 0x74: try readWord("true", text)
    case 0x66: try readWord("false", text)
    case 0x6E: try readWord("null", text)
    default: throw invalid()
    }
    valueHasEnded()
  }

  @inline(__always)
  private mutating func valueHasEnded() { step = frames.isEmpty ? .end : .comma }

  private mutating func readName(_ byte: UInt8, _ text: Span<UInt8>) throws(JSONError) {
    guard byte == JSONByte.quote else { throw invalid() }
    let last = frames.count - 1
    guard frames[last].count < limits.maximumMembers else {
      throw JSONError(code: .tooManyMembers, offset: offset)
    }
    let start = offset
    frames[last].name = start
    let isEscaped = try readString(text)
    names.append(start..<offset, isEscaped: isEscaped, of: text)
    step = .colon
  }

  private mutating func readComma(_ byte: UInt8, _ text: Span<UInt8>) throws(JSONError) {
    let last = frames.count - 1
    frames[last].count += 1
    let isObject = frames[last].isObject
    if byte == JSONByte.comma {
      offset += 1
      step = isObject ? .name : .value
    } else if byte == (isObject ? JSONByte.closeBrace : JSONByte.closeBracket) {
      try close(text)
    } else {
      throw invalid()
    }
  }

  /// Reads a string or a name and returns whether it has escapes.
  @discardableResult
  private mutating func readString(_ text: Span<UInt8>) throws(JSONError) -> Bool {
    let string = try JSONStringScan(text, from: offset, limit: limits.maximumStringBytes)
    let bytes = string.end - offset
    if bytes >= JSONExtents.longString {
      extents.close(extents.open(), bytes: bytes, items: 0)
      longestString = max(longestString, bytes)
    }
    offset = string.end
    return string.isEscaped
  }

  private mutating func open(isObject: Bool) throws(JSONError) {
    guard frames.count < min(limits.maximumDepth, Self.deepestNesting) else {
      throw JSONError(code: .tooDeep, offset: offset)
    }
    frames.append(Frame(isObject: isObject, index: extents.open(), start: offset))
    offset += 1
    step = isObject ? .firstName : .firstElement
  }

  private mutating func close(_ text: Span<UInt8>) throws(JSONError) {
    offset += 1
    guard let frame = frames.popLast() else { throw invalid() }
    if frame.isObject, let repeated = names.removeLast(frame.count, text: text) {
      throw JSONError(
        code: .duplicateKey, offset: repeated.lowerBound,
        pointer: JSONPointer.text(of: repeated, below: frames, text: text))
    }
    extents.close(frame.index, bytes: offset - frame.start, items: frame.count)
    valueHasEnded()
  }

  private mutating func readWord(_ word: StaticString, _ text: Span<UInt8>) throws(JSONError) {
    let end = offset + word.utf8CodeUnitCount
    let matches = word.withUTF8Buffer { letters in
      end <= text.count && letters.indices.allSatisfy { letters[$0] == text[offset + $0] }
    }
    guard matches else { throw invalid() }
    offset = end
  }

  @inline(__always)
  private mutating func skipSpace(_ text: Span<UInt8>, to end: Int) {
    while offset < end, JSONByte.isSpace(text[offset]) {
      offset += 1
      hasSpace = true
    }
  }

  private func invalid() -> JSONError { JSONError(code: .invalidJSON, offset: offset) }
}

/// RFC 6901 pointers into a text that is still being read.
enum JSONPointer {
  static let maximumBytes = 1024

  /// The pointer to a member of the object that ended last.
  ///
  /// - Parameters:
  ///   - name: The bytes of the member's name, with the quotation marks.
  ///   - frames: The arrays and objects that are open around that object.
  /// - Returns: nil when the pointer is longer than ``maximumBytes``.
  static func text(
    of name: Range<Int>, below frames: [JSONParser.Frame], text: Span<UInt8>
  ) -> String? {
    var pointer: [UInt8] = []
    for frame in frames where pointer.count <= maximumBytes {
      if frame.isObject {
        append(JSONMember.TextRanges(nameAt: frame.name, of: text).name, text, to: &pointer)
      } else {
        pointer.append(0x2F)
        pointer.append(contentsOf: String(frame.count).utf8)
      }
    }
    append(name, text, to: &pointer)
    return pointer.count > maximumBytes ? nil : String(decoding: pointer, as: UTF8.self)
  }

  private static func append(_ name: Range<Int>, _ text: Span<UInt8>, to pointer: inout [UInt8]) {
    var characters: [UInt8] = []
    JSONEscape.appendResolved(name.lowerBound + 1..<name.upperBound - 1, of: text, to: &characters)
    pointer.append(0x2F)
    for byte in characters {
      switch byte {
      case 0x7E: pointer.append(contentsOf: [0x7E, 0x30])
      case 0x2F: pointer.append(contentsOf: [0x7E, 0x31])
      default: pointer.append(byte)
      }
    }
  }
}
