/// Writes JSON text straight into bytes, for answers that splice stored bytes.
///
/// ```swift
/// var writer = JSONWriter()
/// writer.beginObject()
/// writer.member("id", id)
/// writer.name("hotel")
/// writer.raw(storedBody)
/// writer.endObject()
/// ```
///
/// It sets commas and colons; that brackets match and that every name has one value is up to the
/// caller.
package struct JSONWriter: Sendable {
  /// The text so far.
  package private(set) var bytes: [UInt8]

  /// Whether a comma must stand before the next name or element.
  private var needsComma = false

  /// An empty text with room for so many bytes.
  package init(reserving capacity: Int = 256) {
    bytes = []
    bytes.reserveCapacity(capacity)
  }

  /// A text that follows the bytes given, without a comma.
  package init(appendingTo bytes: [UInt8]) {
    self.bytes = bytes
  }

  /// Takes the text so far out. What follows goes on behind it, in an array of its own.
  /// - Parameter capacity: bytes that there is room for then.
  package mutating func take(reserving capacity: Int) -> [UInt8] {
    let taken = bytes
    bytes = []
    bytes.reserveCapacity(capacity)
    return taken
  }

  /// Appends a string in quotation marks with the fewest escapes (RFC 8785 section 3.2.2.2).
  package static func appendString(_ string: String, to output: inout [UInt8]) {
    var string = string
    string.withUTF8 { JSONEscape.appendQuoted($0, to: &output) }
  }

  /// Starts an object.
  package mutating func beginObject() {
    begin(JSONByte.openBrace)
  }

  /// Ends the object begun last.
  package mutating func endObject() {
    end(JSONByte.closeBrace)
  }

  /// Starts an array.
  package mutating func beginArray() {
    begin(JSONByte.openBracket)
  }

  /// Ends the array begun last.
  package mutating func endArray() {
    end(JSONByte.closeBracket)
  }

  /// Writes a member's name; its value must follow.
  package mutating func name(_ name: String) {
    string(name)
    bytes.append(JSONByte.colon)
    needsComma = false
  }

  /// Writes a string.
  package mutating func string(_ value: String) {
    separate()
    Self.appendString(value, to: &bytes)
  }

  /// Writes a string from bytes that need no escaping.
  /// - Parameter write: appends them.
  package mutating func plainString(_ write: (inout [UInt8]) -> Void) {
    separate()
    bytes.append(JSONByte.quote)
    write(&bytes)
    bytes.append(JSONByte.quote)
  }

  /// Writes members that are JSON text already: names, colons and values.
  package mutating func members(raw text: some Collection<UInt8>) {
    separate()
    bytes.append(contentsOf: text)
  }

  /// Writes an integer.
  package mutating func int(_ value: Int) {
    separate()
    bytes.append(contentsOf: String(value).utf8)
  }

  /// Writes `true` or `false`.
  package mutating func bool(_ value: Bool) {
    separate()
    bytes.append(contentsOf: (value ? "true" : "false").utf8)
  }

  /// Writes `null`.
  package mutating func null() {
    separate()
    bytes.append(contentsOf: "null".utf8)
  }

  /// Writes a number as it is.
  package mutating func number(_ value: JSONNumber) {
    separate()
    bytes.append(contentsOf: value.text.utf8)
  }

  /// Writes bytes that are one whole JSON value, such as a stored body.
  package mutating func raw(_ value: [UInt8]) {
    separate()
    bytes.append(contentsOf: value)
  }

  /// Writes bytes that are one whole JSON value.
  package mutating func raw(_ value: ArraySlice<UInt8>) {
    separate()
    bytes.append(contentsOf: value)
  }

  /// Appends bytes as they are, between two values or around them: no comma is set for them.
  package mutating func append(_ value: [UInt8]) {
    bytes.append(contentsOf: value)
  }

  /// Writes the members of a stored object among those of the object that is open, so that
  /// `{"id":"1"` and `{"name":"x"}` give `{"id":"1","name":"x"`.
  ///
  /// - Parameter object: One whole object without white space around it, as ``JSONNode/minified``
  ///   gives; anything shorter than `{}` writes nothing.
  package mutating func members(of object: [UInt8]) {
    guard object.count > 2 else { return }
    separate()
    bytes.append(contentsOf: object[1..<object.count - 1])
  }

  /// Puts the comma that is due, and makes one due before what follows.
  private mutating func separate() {
    if needsComma { bytes.append(JSONByte.comma) }
    needsComma = true
  }

  private mutating func begin(_ bracket: UInt8) {
    separate()
    bytes.append(bracket)
    needsComma = false
  }

  private mutating func end(_ bracket: UInt8) {
    bytes.append(bracket)
    needsComma = true
  }
}

extension JSONWriter {
  /// Writes a value with everything in it.
  package mutating func value(_ value: JSONValue) {
    switch value {
    case .null: null()
    case .bool(let value): bool(value)
    case .number(let value): number(value)
    case .string(let value): string(value)
    case .array(let values):
      beginArray()
      for element in values { self.value(element) }
      endArray()
    case .object(let object):
      beginObject()
      for (name, value) in object.members { member(name, value) }
      endObject()
    }
  }

  /// Writes a member whose value is a string.
  package mutating func member(_ name: String, _ value: String) {
    self.name(name)
    string(value)
  }

  /// Writes a member whose value is an integer.
  package mutating func member(_ name: String, _ value: Int) {
    self.name(name)
    int(value)
  }

  /// Writes a member whose value is `true` or `false`.
  package mutating func member(_ name: String, _ value: Bool) {
    self.name(name)
    bool(value)
  }

  /// Writes a member of any value.
  package mutating func member(_ name: String, _ value: JSONValue) {
    self.name(name)
    self.value(value)
  }

  /// Writes a member whose value is bytes that are one whole JSON value.
  package mutating func member(_ name: String, raw value: [UInt8]) {
    self.name(name)
    raw(value)
  }
}

/// Writes values of a text again, without white space or in the canonical spelling.
struct JSONOutput {
  /// The text.
  let text: JSONText

  /// Whether members are sorted and strings escaped anew.
  let isCanonical: Bool

  /// Appends the value at a place. Recurses once for each level, of which the parser allows at most
  /// ``JSONParser/deepestNesting``.
  func append(_ place: JSONText.Place, to output: inout [UInt8]) {
    switch text.bytes[place.range.lowerBound] {
    case JSONByte.quote where isCanonical: appendString(place.range, to: &output)
    case JSONByte.openBracket where isCanonical || text.hasSpace:
      appendArray(place, to: &output)
    case JSONByte.openBrace where isCanonical || text.hasSpace:
      var members: [JSONMember.Place] = []
      for member in JSONMembers(of: JSONNode(text: text, place: place)) {
        members.append(member.place)
      }
      append(members: members, to: &output)
    default: appendBytes(place.range, to: &output)
    }
  }

  /// Appends an object of these members alone.
  func append(members: [JSONMember.Place], to output: inout [UInt8]) {
    let bytes = text.bytes
    let ordered = isCanonical ? JSONNameOrder(members, text: bytes.span).members : members
    output.append(JSONByte.openBrace)
    for (position, member) in ordered.enumerated() {
      if position != 0 { output.append(JSONByte.comma) }
      if isCanonical {
        appendString(member.name, to: &output)
      } else {
        appendBytes(member.name, to: &output)
      }
      output.append(JSONByte.colon)
      append(member.value, to: &output)
    }
    output.append(JSONByte.closeBrace)
  }

  private func appendArray(_ place: JSONText.Place, to output: inout [UInt8]) {
    output.append(JSONByte.openBracket)
    var isFirst = true
    for element in JSONElements(of: JSONNode(text: text, place: place)) {
      if !isFirst { output.append(JSONByte.comma) }
      isFirst = false
      append(element.place, to: &output)
    }
    output.append(JSONByte.closeBracket)
  }

  /// Appends a string with the fewest escapes.
  private func appendString(_ range: Range<Int>, to output: inout [UInt8]) {
    let content = range.lowerBound + 1..<range.upperBound - 1
    let bytes = text.bytes
    guard JSONScan.isEscaped(content, in: bytes.span) else {
      return appendBytes(range, to: &output)
    }
    var resolved: [UInt8] = []
    JSONEscape.appendResolved(content, of: bytes.span, to: &resolved)
    resolved.withUnsafeBufferPointer { JSONEscape.appendQuoted($0, to: &output) }
  }

  /// As memory: a slice is counted and walked.
  private func appendBytes(_ range: Range<Int>, to output: inout [UInt8]) {
    text.bytes.withUnsafeBufferPointer { bytes in
      output.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[range]))
    }
  }
}
