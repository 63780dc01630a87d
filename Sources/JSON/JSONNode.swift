/// A value in a ``ParsedJSON``: a cheap pointer into it, which keeps the whole text alive.
package struct JSONNode: Sendable {
  /// The kinds of values of RFC 8259 section 3.
  package enum Kind: Sendable, Equatable {
    case null, bool, number, string, array, object
  }

  /// The text.
  let text: JSONText

  /// Where the value stands.
  let place: JSONText.Place

  /// Its first byte, which tells its kind.
  @inline(__always)
  private var first: UInt8 { text.bytes[Int(place.start)] }

  /// Which kind of value this is.
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

  /// Whether this is `null`.
  package var isNull: Bool { first == 0x6E }

  /// The truth value, if it is one.
  package var bool: Bool? {
    switch first {
    case 0x74: true
    case 0x66: false
    default: nil
    }
  }

  /// The characters of a string with its escapes resolved, if it is one.
  package var string: String? {
    first == JSONByte.quote ? text.string(place) : nil
  }

  /// The number as written, if it is one.
  package var number: JSONNumber? {
    guard kind == .number else { return nil }
    return JSONNumber(checked: String(decoding: text.bytes[place.range], as: UTF8.self))
  }

  /// The integer, if it is a number written without a point or an exponent that fits.
  package var int: Int? {
    number?.int
  }

  /// The double nearest to the number, if it is one.
  package var double: Double? {
    number?.double
  }

  /// The number of elements of an array or members of an object; 0 for any other kind. Counts them, unless they are
  /// more than 64 KiB.
  package var count: Int {
    switch first {
    case JSONByte.openBracket: text.extents.items(Int(place.index)) ?? elements.count { _ in true }
    case JSONByte.openBrace: text.extents.items(Int(place.index)) ?? members.count { _ in true }
    default: 0
    }
  }

  /// Whether this is a string of exactly these UTF-8 bytes; makes no `String`.
  package func stringEquals(_ other: String) -> Bool {
    first == JSONByte.quote && text.string(place, equals: other)
  }

  /// The value of the member whose name has exactly these UTF-8 bytes; `nil` if there is none or
  /// this is no object. Looks at every member in turn.
  package subscript(name: String) -> JSONNode? {
    for member in members where member.nameEquals(name) {
      return member.value
    }
    return nil
  }

  /// The element at a position from 0; `nil` if there is none or this is no array. Steps over the
  /// elements before it: to visit them all, use ``elements``.
  package subscript(position: Int) -> JSONNode? {
    guard position >= 0 else { return nil }
    return elements.dropFirst(position).first { _ in true }
  }

  /// Where the value stands in its text, in eight bytes; see ``value(at:)``.
  package var position: UInt64 { UInt64(place.start) << 32 | UInt64(place.index) }

  /// The value of the same text at a position that ``position`` gave.
  package func value(at position: UInt64) -> JSONNode {
    let bytes = text.bytes
    let (place, _) = text.place(
      at: Int(position >> 32), Int(position & 0xFFFF_FFFF), in: bytes.span)
    return JSONNode(text: text, place: place)
  }

  /// The elements of an array, in order; empty for any other kind.
  package var elements: JSONElements {
    JSONElements(of: self)
  }

  /// The members of an object, in the order of the text; empty for any other kind.
  package var members: JSONMembers {
    JSONMembers(of: self)
  }
}

extension JSONNode {
  /// The value apart from its text.
  package var value: JSONValue {
    switch kind {
    case .null: return .null
    case .bool: return .bool(bool ?? false)
    case .number: return number.map { .number($0) } ?? .null
    case .string: return .string(text.string(place))
    case .array: return .array(elements.map(\.value))
    case .object: return .object(JSONObject(checked: members))
    }
  }
}

extension JSONNode {
  /// The value without white space between tokens; see ``appendMinified(to:)``.
  package var minified: [UInt8] {
    var output: [UInt8] = []
    output.reserveCapacity(place.range.count)
    appendMinified(to: &output)
    return output
  }

  /// The value in its one canonical spelling; see ``appendCanonical(to:)``.
  package var canonical: [UInt8] {
    var output: [UInt8] = []
    output.reserveCapacity(place.range.count)
    appendCanonical(to: &output)
    return output
  }

  /// An object of some of this one's members.
  /// - Parameter isCanonical: whether as ``appendCanonical(to:)`` writes it, or as ``appendMinified(to:)``.
  package func object(of members: [JSONMember.Place], isCanonical: Bool) -> [UInt8] {
    var output: [UInt8] = []
    output.reserveCapacity(place.range.count)
    JSONOutput(text: text, isCanonical: isCanonical).append(members: members, to: &output)
    return output
  }

  /// Appends the value without white space between tokens. Strings and numbers are exactly as
  /// written, escapes included, and the order is kept.
  package func appendMinified(to output: inout [UInt8]) {
    JSONOutput(text: text, isCanonical: false).append(place, to: &output)
  }

  /// Appends the value so that texts that differ only in white space, in the order of members or in
  /// the escapes of strings give the same bytes: no white space, members in the order of the UTF-8
  /// bytes of their names, and strings with the fewest escapes (RFC 8785 section 3.2.2.2). Numbers
  /// are as written, unlike RFC 8785, so `1` and `1.0` stay different.
  package func appendCanonical(to output: inout [UInt8]) {
    JSONOutput(text: text, isCanonical: true).append(place, to: &output)
  }
}

/// A text that has been read: its bytes and how long the larger parts of it are. No `String`, `Array` or
/// `Dictionary` of its content exists until somebody asks for one.
package struct ParsedJSON: Sendable {
  private let text: JSONText

  /// Reads one JSON text (RFC 8259): UTF-8 without a byte order mark, no name twice in an object,
  /// and numbers kept as they are written. Strings are checked down to the last escape, so nothing
  /// that is asked of the nodes can fail later.
  ///
  /// Throws the first fault; a repeated name is found when its object ends.
  package init(_ bytes: [UInt8], limits: JSONLimits) throws(JSONError) {
    var reader = JSONReader(bytes, limits: limits)
    while true {
      guard let parsed = try reader.next(bytes: .max) else { continue }
      self = parsed
      return
    }
  }

  fileprivate init(_ text: JSONText) { self.text = text }

  /// The outermost value.
  package var root: JSONNode {
    let bytes = text.bytes
    let start = text.skipSpace(0, in: bytes.span)
    return JSONNode(text: text, place: text.place(at: start, 0, in: bytes.span).place)
  }

  /// The text as it was given.
  package var bytes: [UInt8] {
    text.bytes
  }
}

/// Reads a text in parts, so that others have their turn between them.
package struct JSONReader: Sendable {
  /// Bytes of a part: 64 KiB, which take a fraction of a millisecond. A string that begins in it belongs to it.
  package static let partBytes = 64 << 10

  private let bytes: [UInt8]
  private var parser: JSONParser

  /// A reader at the beginning of a text.
  package init(_ bytes: [UInt8], limits: JSONLimits) {
    self.bytes = bytes
    parser = JSONParser(for: bytes.span, limits: limits)
  }

  /// Reads the next part.
  /// - Returns: the text, once all of it is read.
  /// - Throws: as ``ParsedJSON/init(_:limits:)``.
  package mutating func next(bytes count: Int = JSONReader.partBytes) throws(JSONError)
    -> ParsedJSON?
  {
    let bytes = bytes
    guard try parser.read(bytes.span, bytes: count) else { return nil }
    return ParsedJSON(JSONText(bytes, read: parser))
  }
}
