/// A member of an object in a ``ParsedJSON``.
package struct JSONMember: Sendable {
  package struct TextRanges: Sendable {
    private let nameStart: UInt32
    private let nameEnd: UInt32
    let value: JSONText.TextRange

    /// Makes the ranges of a member from the bytes of its name, with the quotation marks, and of its value.
    @inline(__always)
    init(name: JSONText.TextRange, value: JSONText.TextRange) {
      (nameStart, nameEnd) = (name.start, name.end)
      self.value = value
    }

    /// Makes the ranges of a member of which only the name is known; the name begins at `start`.
    init(nameAt start: Int, of text: Span<UInt8>) {
      let end = JSONScan.endOfString(at: start, in: text, shorterThan: .max) ?? start + 2
      let name = JSONText.TextRange(
        start: UInt32(truncatingIfNeeded: start), end: UInt32(truncatingIfNeeded: end), index: 0)
      self.init(name: name, value: name)
    }

    /// The bytes of the name, with the quotation marks.
    @inline(__always)
    var name: Range<Int> { Int(nameStart)..<Int(nameEnd) }
  }

  let text: JSONText

  package let ranges: TextRanges

  private var nameRange: JSONText.TextRange {
    JSONText.TextRange(
      start: UInt32(truncatingIfNeeded: ranges.name.lowerBound),
      end: UInt32(truncatingIfNeeded: ranges.name.upperBound), index: 0)
  }

  /// The name with its escapes resolved.
  package var name: String { text.string(nameRange) }

  /// The name as written, with its quotation marks and escapes.
  package var rawName: ArraySlice<UInt8> { text.bytes[ranges.name] }

  package var value: JSONNode { JSONNode(text: text, range: ranges.value) }

  /// Whether the name, escapes resolved, has exactly these UTF-8 bytes. Makes no `String` for a name without escapes.
  package func nameEquals(_ other: String) -> Bool { text.string(nameRange, equals: other) }

  /// Whether the name, escapes resolved, starts with `_`, which CouchDB reserves.
  package var nameStartsWithUnderscore: Bool {
    let first = text.bytes[ranges.name.lowerBound + 1]
    return first == JSONByte.backslash ? name.utf8.first == 0x5F : first == 0x5F
  }
}
