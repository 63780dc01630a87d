/// A checked text, shared by all the nodes that point into it.
final class JSONText: Sendable {
  /// The text as it was given.
  let bytes: [UInt8]

  /// The lengths of the text's arrays, objects and long strings.
  let extents: JSONExtents

  /// Whether there is white space outside strings.
  let hasSpace: Bool

  /// The bytes of the longest string; 0 if all are short (``JSONExtents/longString``).
  let longestString: Int

  /// Makes a text that a parser has read to its end.
  init(_ bytes: [UInt8], read parser: consuming JSONParser) {
    self.bytes = bytes
    extents = parser.extents
    hasSpace = parser.hasSpace
    longestString = parser.longestString
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
      return JSONScan.isEscaped(content, in: bytes.span) && JSONBytes.same(string(range), other)
    }
    return JSONBytes.same(bytes.span, content, span, 0..<span.count)
      && !JSONScan.isEscaped(content, in: bytes.span)
  }
}
