/// Where the parts of one array or object stand in a text, found by brackets and strings alone.
///
/// It takes apart a text that the parser refuses for one of its values, so that the others can be read, and one that
/// was checked before. Nothing is checked within a part: whoever does not know it has it parsed. It needs no stack, however deep the text is nested.
package struct JSONOutline: Sendable {
  /// One element or member.
  package struct Part: Sendable {
    /// A member's name with its quotation marks; nil for an element.
    package let name: Range<Int>?
    /// The value.
    package let value: Range<Int>
  }

  /// The parts in the order of the text.
  package private(set) var parts: [Part] = []
  /// Whether it is an object.
  package let isObject: Bool

  /// Finds the parts of the array or object that a range of a text holds; nil for anything else, and where the
  /// brackets, commas and colons of the outermost level are not JSON's.
  package init?(_ bytes: [UInt8], in range: Range<Int>) {
    guard range.upperBound <= bytes.count else { return nil }
    let text = bytes.span.extracting(..<range.upperBound)
    var offset = Self.skipSpace(text, from: range.lowerBound)
    isObject = JSONByte.at(offset, in: text) == JSONByte.openBrace
    let close = isObject ? JSONByte.closeBrace : JSONByte.closeBracket
    guard isObject || JSONByte.at(offset, in: text) == JSONByte.openBracket else { return nil }
    offset = Self.skipSpace(text, from: offset + 1)
    if JSONByte.at(offset, in: text) != close {
      while true {
        guard let part = Self.part(of: text, from: offset, isNamed: isObject) else { return nil }
        parts.append(part)
        offset = Self.skipSpace(text, from: part.value.upperBound)
        guard JSONByte.at(offset, in: text) == JSONByte.comma else { break }
        offset = Self.skipSpace(text, from: offset + 1)
      }
    }
    guard JSONByte.at(offset, in: text) == close,
      Self.skipSpace(text, from: offset + 1) == text.count
    else { return nil }
  }

  /// The value of the last member of a name; nil where there is none.
  package func value(named name: String, in bytes: [UInt8]) -> Range<Int>? {
    parts.last { part in
      guard let range = part.name, let parsed = try? ParsedJSON(Array(bytes[range]), limits: .small)
      else { return false }
      return parsed.root.stringEquals(name)
    }?.value
  }

  private static func part(
    of text: Span<UInt8>, from start: Int, isNamed: Bool
  ) -> Part? {
    guard isNamed else { return value(of: text, from: start).map { Part(name: nil, value: $0) } }
    guard let end = endOfString(text, from: start) else { return nil }
    let colon = skipSpace(text, from: end)
    guard JSONByte.at(colon, in: text) == JSONByte.colon else { return nil }
    return value(of: text, from: skipSpace(text, from: colon + 1)).map {
      Part(name: start..<end, value: $0)
    }
  }

  private static func value(of text: Span<UInt8>, from start: Int) -> Range<Int>? {
    var (offset, depth) = (start, 0)
    while offset < text.count {
      switch text[offset] {
      case JSONByte.quote:
        guard let end = endOfString(text, from: offset) else { return nil }
        if depth == 0 { return offset == start ? start..<end : nil }
        offset = end
      case JSONByte.openBrace, JSONByte.openBracket:
        depth += 1
        offset += 1
      case JSONByte.closeBrace, JSONByte.closeBracket:
        guard depth > 0 else { return start < offset ? start..<offset : nil }
        depth -= 1
        offset += 1
        if depth == 0 { return start..<offset }
      case JSONByte.comma where depth == 0:
        return start < offset ? start..<offset : nil
      case let byte where depth == 0 && JSONByte.isSpace(byte):
        return start < offset ? start..<offset : nil
      default:
        offset += 1
      }
    }
    return nil
  }

  /// The offset behind the string that begins here; nil where none does or it does not end.
  private static func endOfString(_ text: Span<UInt8>, from start: Int) -> Int? {
    guard JSONByte.at(start, in: text) == JSONByte.quote else { return nil }
    var offset = start + 1
    while offset < text.count {
      switch text[offset] {
      case JSONByte.quote: return offset + 1
      case JSONByte.backslash: offset += 2
      default: offset += 1
      }
    }
    return nil
  }

  private static func skipSpace(_ text: Span<UInt8>, from start: Int) -> Int {
    var offset = start
    while offset < text.count, JSONByte.isSpace(text[offset]) { offset += 1 }
    return offset
  }
}

/// How long the arrays, objects and long strings of a text are, in the order in which they begin: what lets a reader
/// step over one.
///
/// All else is short, and its end is found in the text, which was checked. So what is kept of a text takes at most
/// twice its bytes, of `[[[…]]]`, and next to nothing of a usual one. A word of 4 bytes has, from the low bits, the
/// bytes of the value (16), how many words follow for what stands in it (15), and a flag: with it the other bits are
/// the place in a list of those of 64 KiB or more.
struct JSONExtents: Sendable {
  /// Bytes from which on a string, with its quotation marks, has a word.
  static let longString = 256

  /// The words of longer values.
  private struct Long: Sendable {
    let bytes: UInt32
    let words: UInt32
    let items: UInt32
  }

  private var words: [UInt32] = []
  private var long: [Long] = []

  private static let flag: UInt32 = 1 << 31

  /// None yet for a text of so many bytes and values at most. Room for a long text is taken at once, as growing would
  /// take as much again; what is not used of it takes no memory.
  init(forBytes bytes: Int, values: Int) {
    words.reserveCapacity(bytes > 64 << 10 ? min(bytes / 2, values) : min(bytes / 64, 256) + 4)
  }

  /// The index of the next word.
  var count: Int { words.count }

  /// Begins a value; returns its index.
  mutating func open() -> Int {
    words.append(0)
    return words.count - 1
  }

  /// Ends the value at an index.
  /// - Parameter items: how many elements or members it has.
  mutating func close(_ index: Int, bytes: Int, items: Int) {
    let within = words.count - index - 1
    guard bytes > 0xFFFF else {
      words[index] = UInt32(truncatingIfNeeded: bytes) | UInt32(truncatingIfNeeded: within) << 16
      return
    }
    words[index] = Self.flag | UInt32(truncatingIfNeeded: long.count)
    long.append(
      Long(
        bytes: UInt32(truncatingIfNeeded: bytes), words: UInt32(truncatingIfNeeded: within),
        items: UInt32(truncatingIfNeeded: items)))
  }

  /// How many bytes the value at an index takes, and the index of the next value that does not stand in it.
  @inline(__always)
  func extent(_ index: Int) -> (bytes: Int, next: Int) {
    let word = words[index]
    guard word & Self.flag == 0 else {
      let value = long[Int(word & ~Self.flag)]
      return (Int(value.bytes), index + 1 + Int(value.words))
    }
    return (Int(word & 0xFFFF), index + 1 + Int(word >> 16))
  }

  /// How many elements or members the value at an index has, if it is so long that counting them would take long.
  func items(_ index: Int) -> Int? {
    let word = words[index]
    return word & Self.flag == 0 ? nil : Int(long[Int(word & ~Self.flag)].items)
  }
}
