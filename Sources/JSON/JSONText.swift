/// A checked text, shared by all the nodes that point into it.
final class JSONText: Sendable {
  /// The text as it was given.
  let bytes: [UInt8]

  /// The lengths of the text's arrays, objects and long strings.
  let extents: JSONExtents

  /// Whether there is white space outside strings.
  let hasSpace: Bool

  /// Makes a text that a parser has read to its end.
  init(_ bytes: [UInt8], read parser: consuming JSONParser) {
    self.bytes = bytes
    extents = parser.extents
    hasSpace = parser.hasSpace
  }

  package struct TextRange: Sendable {
    /// The offset of its first byte.
    let start: UInt32
    /// The offset after its last byte.
    let end: UInt32
    /// The index of the first extent that does not belong to a preceding value.
    let index: UInt32

    @inline(__always)
    var offsets: Range<Int> { Int(start)..<Int(end) }
  }

  /// The range of the value that begins at `start`, and the index of the first extent after it.
  @inline(__always)
  func range(at start: Int, _ index: Int, in text: Span<UInt8>) -> (range: TextRange, next: Int) {
    let (end, next) = end(at: start, index, in: text)
    return (
      TextRange(
        start: UInt32(truncatingIfNeeded: start), end: UInt32(truncatingIfNeeded: end),
        index: UInt32(truncatingIfNeeded: index)), next
    )
  }

  /// The offset after the value or name that begins at `start`, and the index of the first extent after it.
  @inline(__always)
  private func end(at start: Int, _ index: Int, in text: Span<UInt8>) -> (end: Int, next: Int) {
    switch text[start] {
    case JSONByte.quote:
      if let end = JSONScan.endOfString(at: start, in: text) { return (end, index) }
      let (bytes, next) = extents.extent(index)
      return (start + bytes, next)
    case JSONByte.openBrace, JSONByte.openBracket:
      let (bytes, next) = extents.extent(index)
      return (start + bytes, next)
    case 0x66: return (start + 5, index)
    case 0x6E, 0x74: return (start + 4, index)
    default: return (JSONScan.endOfNumber(at: start, in: text), index)
    }
  }

  /// The offset of the first element or member of an array or object, nil when it is empty, and the index of the first
  /// extent in it.
  /// - Parameter bracket: the bracket that the value must begin with; the offset is nil for any other value.
  func content(of range: TextRange, in bracket: UInt8) -> (offset: Int?, index: Int) {
    let bytes = bytes
    let (start, index) = (range.offsets.lowerBound, Int(range.index) + 1)
    guard bytes.span[start] == bracket else { return (nil, index) }
    let first = skipSpace(start + 1, in: bytes.span)
    return (first + 1 == range.offsets.upperBound ? nil : first, index)
  }

  /// The offset of the next element or member after `end`; nil at the end of the array or object.
  @inline(__always)
  func next(behind end: Int, in text: Span<UInt8>) -> Int? {
    let offset = skipSpace(end, in: text)
    guard offset < text.count, text[offset] == JSONByte.comma else { return nil }
    return skipSpace(offset + 1, in: text)
  }

  /// The offset of the next byte that is not white space.
  @inline(__always)
  func skipSpace(_ start: Int, in text: Span<UInt8>) -> Int {
    guard hasSpace else { return start }
    var offset = start
    while offset < text.count, JSONByte.isSpace(text[offset]) { offset += 1 }
    return offset
  }

  /// The characters of the string in a range.
  func string(_ range: TextRange) -> String {
    let content = range.offsets.lowerBound + 1..<range.offsets.upperBound - 1
    let bytes = bytes
    guard JSONScan.isEscaped(content, in: bytes.span) else {
      return String(decoding: bytes[content], as: UTF8.self)
    }
    var resolved: [UInt8] = []
    resolved.reserveCapacity(content.count)
    JSONEscape.appendResolved(content, of: bytes.span, to: &resolved)
    return String(decoding: resolved, as: UTF8.self)
  }

  /// Whether the string in a range has exactly the UTF-8 bytes of `other`.
  func string(_ range: TextRange, equals other: String) -> Bool {
    let content = range.offsets.lowerBound + 1..<range.offsets.upperBound - 1
    let (bytes, wanted) = (bytes, other.utf8)
    let span = wanted.span
    // An escape is never shorter than what it represents.
    guard content.count >= span.count else { return false }
    guard content.count == span.count else {
      return JSONScan.isEscaped(content, in: bytes.span)
        && JSONBytes.same(string(range), other)
    }
    return JSONBytes.same(bytes.span, content, span, 0..<span.count)
      && !JSONScan.isEscaped(content, in: bytes.span)
  }
}

/// Finds the ends of values in a checked text.
enum JSONScan {
  /// The offset after the string that begins at `start`; nil when the string has `bytes` bytes or more.
  @inline(__always)
  static func endOfString(
    at start: Int, in text: Span<UInt8>, shorterThan bytes: Int = JSONExtents.longString
  ) -> Int? {
    var end = start + 1
    let last = bytes <= text.count - start ? start + bytes - 1 : text.count
    while end < last {
      if text.count - end >= 8 {
        let word = UInt64(
          littleEndian: text.bytes.unsafeLoadUnaligned(fromByteOffset: end, as: UInt64.self))
        let mask = JSONByte.ends(in: word)
        guard mask != 0 else {
          end += 8
          continue
        }
        end += mask.trailingZeroBitCount / 8
      }
      guard end < last else { return nil }
      switch text[end] {
      case JSONByte.quote: return end + 1
      case JSONByte.backslash: end += 2
      default: end += 1
      }
    }
    return nil
  }

  /// The offset after the number that begins at `start`.
  @inline(__always)
  static func endOfNumber(at start: Int, in text: Span<UInt8>) -> Int {
    var end = start + 1
    while end < text.count, isOfNumber(text[end]) { end += 1 }
    return end
  }

  /// Whether these bytes of a string contain an escape.
  static func isEscaped(_ range: Range<Int>, in text: Span<UInt8>) -> Bool {
    var offset = range.lowerBound
    while range.upperBound - offset >= 8 {
      let word = text.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
      if JSONByte.backslashes(in: word) != 0 { return true }
      offset += 8
    }
    while offset < range.upperBound {
      if text[offset] == JSONByte.backslash { return true }
      offset += 1
    }
    return false
  }

  @inline(__always)
  private static func isOfNumber(_ byte: UInt8) -> Bool {
    JSONByte.isDigit(byte) || byte == JSONByte.point || byte == JSONByte.minus || byte == 0x2B
      || byte | 0x20 == 0x65
  }
}

/// The bytes that JSON's grammar names (RFC 8259 section 2), and tests on bytes of a text.
enum JSONByte {
  /// `"`
  static var quote: UInt8 { 0x22 }
  /// `,`
  static var comma: UInt8 { 0x2C }
  /// `-`
  static var minus: UInt8 { 0x2D }
  /// `.`
  static var point: UInt8 { 0x2E }
  /// `:`
  static var colon: UInt8 { 0x3A }
  /// `[`
  static var openBracket: UInt8 { 0x5B }
  /// `\`
  static var backslash: UInt8 { 0x5C }
  /// `]`
  static var closeBracket: UInt8 { 0x5D }
  /// `{`
  static var openBrace: UInt8 { 0x7B }
  /// `}`
  static var closeBrace: UInt8 { 0x7D }
  /// `u`
  static var letterU: UInt8 { 0x75 }

  /// Whether the byte is one of the four white space characters of JSON.
  @inline(__always)
  static func isSpace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
  }

  @inline(__always)
  static func isDigit(_ byte: UInt8) -> Bool {
    byte &- 0x30 < 10
  }

  /// The byte at an offset; past the end NUL, which the grammar never allows.
  @inline(__always)
  static func at(_ offset: Int, in text: Span<UInt8>) -> UInt8 {
    offset < text.count ? text[offset] : 0
  }

  /// A mask of the bytes of `word` that end a run of plain text in a string: a quotation mark, a backslash, a control
  /// character or any byte that is not ASCII. Bit 7 of the lowest such byte is correct. Bits above it may be set
  /// wrongly, because a borrow affects the higher bytes.
  @inline(__always)
  static func interruptions(in word: UInt64) -> UInt64 {
    let quotes = word ^ (ones &* UInt64(quote))
    let backslashes = word ^ (ones &* UInt64(backslash))
    let controls = (word &- ones &* 0x20) & ~word
    return
      (((quotes &- ones) & ~quotes) | ((backslashes &- ones) & ~backslashes) | controls | word)
      & tops
  }

  /// A mask of the bytes of `word` that end a run of a checked string: a quotation mark or a backslash. Bit 7 of the
  /// lowest such byte is correct; bits above it may be set wrongly.
  @inline(__always)
  static func ends(in word: UInt64) -> UInt64 {
    let quotes = word ^ (ones &* UInt64(quote))
    return (((quotes &- ones) & ~quotes) & tops) | backslashes(in: word)
  }

  /// A mask of the bytes of `word` that are backslashes, with the same restriction as ``ends(in:)``.
  @inline(__always)
  static func backslashes(in word: UInt64) -> UInt64 {
    let backslashes = word ^ (ones &* UInt64(backslash))
    return ((backslashes &- ones) & ~backslashes) & tops
  }

  private static var ones: UInt64 { 0x0101_0101_0101_0101 }
  private static var tops: UInt64 { 0x8080_8080_8080_8080 }
}

/// Comparisons of byte ranges, by value and never by Unicode equivalence.
enum JSONBytes {
  /// Whether two ranges contain the same bytes.
  static func same(
    _ one: Span<UInt8>, _ first: Range<Int>, _ other: Span<UInt8>, _ second: Range<Int>
  ) -> Bool {
    first.count == second.count && precedes(one, first, other, second) == nil
  }

  /// Whether the first range comes before the second in the order of their bytes, a prefix first; nil when they are the
  /// same.
  static func precedes(
    _ one: Span<UInt8>, _ first: Range<Int>, _ other: Span<UInt8>, _ second: Range<Int>
  ) -> Bool? {
    let shorter = min(first.count, second.count)
    var index = 0
    while shorter - index >= 8 {
      let left = word(one, first.lowerBound + index)
      let right = word(other, second.lowerBound + index)
      if left != right { return left < right }
      index += 8
    }
    while index < shorter {
      let left = one[first.lowerBound + index]
      let right = other[second.lowerBound + index]
      if left != right { return left < right }
      index += 1
    }
    return first.count == second.count ? nil : first.count < second.count
  }

  /// The first eight bytes of a range as a number with the same order as the bytes; zeros stand for missing bytes.
  static func prefix(_ text: Span<UInt8>, _ range: Range<Int>) -> UInt64 {
    if range.count >= 8 { return word(text, range.lowerBound) }
    var value: UInt64 = 0
    for index in range {
      value = value << 8 | UInt64(text[index])
    }
    return range.isEmpty ? 0 : value << (8 * UInt64(8 - range.count))
  }

  /// Whether two texts have the same bytes. `String`'s own `==` is canonical equivalence, which says that "e\u{301}"
  /// equals "\u{e9}".
  static func same(_ one: String, _ other: String) -> Bool {
    one.utf8.count == other.utf8.count && one.utf8.elementsEqual(other.utf8)
  }

  /// Adds the bytes of a text and their number to the hasher.
  static func hash(_ text: String, into hasher: inout Hasher) {
    hasher.combine(text.utf8.count)
    var text = text
    text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
  }

  @inline(__always)
  private static func word(_ text: Span<UInt8>, _ offset: Int) -> UInt64 {
    UInt64(bigEndian: text.bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self))
  }
}
