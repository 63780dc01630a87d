/// The ranges of the parts of one array or object in a text, found only by brackets, commas and strings.
///
/// It splits a text that the parser refuses because of one value, so that the other values can be read, and also a text
/// that was checked before. It does not check the parts: a caller that needs checked parts parses them. It uses no
/// stack, however deeply the text is nested.
package struct JSONOutline: Sendable {
  /// One element or member.
  package struct Part: Sendable {
    /// The range of a member's name with its quotation marks; nil for an element.
    package let name: Range<Int>?
    package let value: Range<Int>
  }

  /// The parts in the order of the text.
  package private(set) var parts: [Part] = []
  package let isObject: Bool

  /// Finds the parts of the array or object in a range of a text. Nil when the range contains anything else, and when
  /// the brackets, commas and colons of the outermost level are not valid JSON.
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

  /// The range of the value of the last member with this name; nil when there is none.
  package func value(named name: String, in bytes: [UInt8]) -> Range<Int>? {
    parts.last { part in
      // Only a name with escapes is longer than what it represents.
      guard let range = part.name,
        range.count == name.utf8.count + 2 || bytes[range].contains(JSONByte.backslash),
        let parsed = try? ParsedJSON(Array(bytes[range]), limits: .small)
      else { return false }
      return parsed.root.stringEquals(name)
    }?.value
  }

  private static func part(of text: Span<UInt8>, from start: Int, isNamed: Bool) -> Part? {
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
      case JSONByte.comma where depth == 0: return start < offset ? start..<offset : nil
      case let byte where depth == 0 && JSONByte.isSpace(byte):
        return start < offset ? start..<offset : nil
      default: offset += 1
      }
    }
    return nil
  }

  /// The offset after the string that begins at `start`; nil when no string begins there or it does not end.
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
