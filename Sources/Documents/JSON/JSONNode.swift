/// A value in a ``ParsedJSON``: a cheap reference into the text, which keeps the whole text alive.
package struct JSONNode: Sendable {
  /// The kinds of values of RFC 8259 section 3.
  package enum Kind: String, Sendable {
    case null
    case bool = "boolean"
    case number, string, array, object
  }

  let text: JSONText

  let range: JSONText.TextRange

  /// The first byte of the value, which determines its kind.
  @inline(__always)
  private var first: UInt8 { text.bytes[Int(range.start)] }

  /// The bytes of the longest string in the text that the value is part of; 0 if all are short.
  package var longestStringOfText: Int { text.longestString }

  package var kind: Kind {
    switch first {
    case 0x66, 0x74: .bool
    case JSONByte.quote: .string
    case JSONByte.openBracket: .array
    case JSONByte.openBrace: .object
    case 0x6E: .null
    default: .number
    }
  }

  package var isNull: Bool { first == 0x6E }

  /// The Boolean; nil for any other kind.
  package var bool: Bool? {
    switch first {
    case 0x74: true
    case 0x66: false
    default: nil
    }
  }

  /// The characters of a string, escapes resolved; nil for any other kind.
  package var string: String? { first == JSONByte.quote ? text.string(range) : nil }

  /// The number as written; nil for any other kind.
  package var number: JSONNumber? {
    guard kind == .number else { return nil }
    return JSONNumber(checked: String(decoding: text.bytes[range.offsets], as: UTF8.self))
  }

  /// The integer, when this is a number without a point or an exponent that fits into `Int`; otherwise nil.
  package var int: Int? { number?.int }

  /// The double nearest to the number; nil for any other kind.
  package var double: Double? { number?.double }

  /// The number of elements of an array or members of an object; 0 for any other kind. It is known for a value of 64
  /// KiB or more; in a smaller one they are counted.
  package var count: Int {
    switch first {
    case JSONByte.openBracket: text.extents.items(Int(range.index)) ?? elements.count { _ in true }
    case JSONByte.openBrace: text.extents.items(Int(range.index)) ?? members.count { _ in true }
    default: 0
    }
  }

  /// Whether this is a string of exactly these UTF-8 bytes. Makes no `String` when the string has no escapes.
  package func stringEquals(_ other: String) -> Bool {
    first == JSONByte.quote && text.string(range, equals: other)
  }

  /// The value of the first member whose name has exactly these UTF-8 bytes; nil when there is none or this is not an
  /// object. Looks at the members one after the other.
  package subscript(name: String) -> JSONNode? {
    for member in members where member.nameEquals(name) { return member.value }
    return nil
  }

  /// The element at a position from 0; nil when there is none or this is not an array. Steps over the elements before
  /// it: use ``elements`` to visit all of them.
  package subscript(position: Int) -> JSONNode? {
    guard position >= 0 else { return nil }
    return elements.dropFirst(position).first { _ in true }
  }

  /// The offsets of the value's bytes in its text.
  package var offsets: Range<Int> { range.offsets }

  /// The range of the value in its text, in eight bytes; see ``value(at:)``.
  package var position: UInt64 { UInt64(range.start) << 32 | UInt64(range.index) }

  /// The value of the same text at a position that ``position`` returned.
  package func value(at position: UInt64) -> JSONNode {
    let bytes = text.bytes
    let (range, _) = text.range(
      at: Int(position >> 32), Int(position & 0xFFFF_FFFF), in: bytes.span)
    return JSONNode(text: text, range: range)
  }

  /// The elements of an array, in order; empty for any other kind.
  package var elements: JSONElements { JSONElements(of: self) }

  /// The members of an object, in the order of the text; empty for any other kind.
  package var members: JSONMembers { JSONMembers(of: self) }

  /// A copy of the value without its text.
  package var value: JSONValue {
    switch kind {
    case .null: return .null
    case .bool: return .bool(bool ?? false)
    case .number: return number.map { .number($0) } ?? .null
    case .string: return .string(text.string(range))
    case .array: return .array(elements.map(\.value))
    case .object: return .object(JSONObject(checked: members))
    }
  }

  /// Whether the value has at most so many bytes in the text.
  package func isShort(_ bytes: Int) -> Bool { range.offsets.count <= bytes }

  /// The value without white space between tokens; see ``appendMinified(to:)``.
  package var minified: [UInt8] {
    var output: [UInt8] = []
    output.reserveCapacity(range.offsets.count)
    appendMinified(to: &output)
    return output
  }

  /// The value in its canonical form; see ``appendCanonical(to:)``.
  package var canonical: [UInt8] {
    var output: [UInt8] = []
    output.reserveCapacity(range.offsets.count)
    appendCanonical(to: &output)
    return output
  }

  /// An object of some of this object's members.
  /// - Parameter isCanonical: true for the form of ``appendCanonical(to:)``, false for that of ``appendMinified(to:)``.
  package func object(of members: [JSONMember.TextRanges], isCanonical: Bool) -> [UInt8] {
    var output: [UInt8] = []
    output.reserveCapacity(range.offsets.count)
    JSONOutput(text: text, isCanonical: isCanonical).append(members: members, to: &output)
    return output
  }

  /// Appends the value without white space between tokens. Strings, with their escapes, numbers and the order of
  /// members are kept as written.
  package func appendMinified(to output: inout [UInt8]) {
    JSONOutput(text: text, isCanonical: false).append(range, to: &output)
  }

  /// Appends the value in its canonical form: without white space, with members in the order of the UTF-8 bytes of
  /// their names, and with strings of the fewest escapes (RFC 8785 section 3.2.2.2). Texts that differ only in white
  /// space, order of members or escapes give the same bytes. Numbers are kept as written, unlike in RFC 8785, so `1`
  /// and `1.0` stay different.
  package func appendCanonical(to output: inout [UInt8]) {
    JSONOutput(text: text, isCanonical: true).append(range, to: &output)
  }
}
