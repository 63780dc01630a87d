/// Writes JSON text directly into bytes, for answers that contain stored bytes.
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
/// The writer sets commas and colons. The caller makes sure that brackets match and that every name has one value.
package struct JSONWriter: Sendable {
  /// The text so far.
  package private(set) var bytes: [UInt8]

  /// Whether a comma is due before the next name or element.
  private var needsComma = false

  /// Makes an empty text with capacity for this many bytes.
  package init(reserving capacity: Int = 256) {
    bytes = []
    bytes.reserveCapacity(capacity)
  }

  /// Makes a writer that appends to these bytes, without a comma before its first value.
  package init(appendingTo bytes: [UInt8]) { self.bytes = bytes }

  /// Takes the text so far out of the writer. What is written next continues the text in a new array.
  /// - Parameter capacity: the capacity of the new array, in bytes.
  package mutating func take(reserving capacity: Int) -> [UInt8] {
    let taken = bytes
    bytes = []
    bytes.reserveCapacity(capacity)
    return taken
  }

  /// Begins another text behind the one that is written, with these bytes between them.
  package mutating func beginText(after separator: [UInt8]) {
    bytes.append(contentsOf: separator)
    needsComma = false
  }

  /// Begins a line: the next value stands behind the comma that is due and a line break.
  package mutating func beginLine() {
    if needsComma { bytes.append(JSONByte.comma) }
    beginText(after: [0x0A])
  }

  /// Appends a string in quotation marks with the fewest escapes (RFC 8785 section 3.2.2.2).
  package static func appendString(_ string: String, to output: inout [UInt8]) {
    var string = string
    string.withUTF8 { JSONEscape.appendQuoted($0, to: &output) }
  }

  package mutating func beginObject() { begin(JSONByte.openBrace) }

  package mutating func endObject() { end(JSONByte.closeBrace) }

  package mutating func beginArray() { begin(JSONByte.openBracket) }

  package mutating func endArray() { end(JSONByte.closeBracket) }

  /// Writes a member's name; the caller must write its value next.
  package mutating func name(_ name: String) {
    string(name)
    bytes.append(JSONByte.colon)
    needsComma = false
  }

  package mutating func string(_ value: String) {
    separate()
    Self.appendString(value, to: &bytes)
  }

  /// Writes a string of bytes that need no escapes.
  /// - Parameter write: appends the bytes.
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

  package mutating func int(_ value: Int) {
    separate()
    bytes.append(contentsOf: String(value).utf8)
  }

  /// Writes `true` or `false`.
  package mutating func bool(_ value: Bool) {
    separate()
    bytes.append(contentsOf: (value ? "true" : "false").utf8)
  }

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

  /// Writes one whole JSON value.
  /// - Parameter write: appends its bytes.
  package mutating func raw(_ write: (inout [UInt8]) -> Void) {
    separate()
    write(&bytes)
  }

  /// Writes bytes that are one whole JSON value.
  package mutating func raw(_ value: ArraySlice<UInt8>) {
    separate()
    bytes.append(contentsOf: value)
  }

  /// Appends bytes as they are, between or around values, and sets no comma.
  package mutating func append(_ value: [UInt8]) { bytes.append(contentsOf: value) }

  /// Writes the members of a stored object into the object that is open, so that `{"id":"1"` and `{"name":"x"}` give
  /// `{"id":"1","name":"x"`.
  ///
  /// - Parameter object: One whole object without white space around it, as ``JSONNode/minified`` returns it; one that
  ///   is not longer than `{}` writes nothing.
  package mutating func members(of object: [UInt8]) {
    guard object.count > 2 else { return }
    separate()
    bytes.append(contentsOf: object[1..<object.count - 1])
  }

  /// Writes the comma when one is due, and makes one due before the next value.
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

  /// Writes a value with all its elements and members.
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

  package mutating func member(_ name: String, _ value: String) {
    self.name(name)
    string(value)
  }

  package mutating func member(_ name: String, _ value: Int) {
    self.name(name)
    int(value)
  }

  /// Writes a member whose value is `true` or `false`.
  package mutating func member(_ name: String, _ value: Bool) {
    self.name(name)
    bool(value)
  }

  package mutating func member(_ name: String, _ value: JSONValue) {
    self.name(name)
    self.value(value)
  }

  /// Writes a member of another object under its name as it stands there, minified.
  package mutating func member(_ member: JSONMember) { self.member(member, member.value) }

  /// Writes a value under the name of another object's member as it stands there.
  package mutating func member(_ member: JSONMember, _ value: JSONNode) {
    members(raw: member.rawName)
    bytes.append(JSONByte.colon)
    value.appendMinified(to: &bytes)
  }

  /// Writes an object.
  package mutating func object(_ write: (inout JSONWriter) throws -> Void) rethrows {
    beginObject()
    try write(&self)
    endObject()
  }

  /// Writes a member that is an object.
  package mutating func object(
    _ name: String, _ write: (inout JSONWriter) throws -> Void
  ) rethrows {
    self.name(name)
    try object(write)
  }

  /// The text of one object.
  /// - Parameter capacity: room for this many bytes.
  package static func object(
    reserving capacity: Int = 256, _ write: (inout JSONWriter) throws -> Void
  ) rethrows -> [UInt8] {
    var writer = JSONWriter(reserving: capacity)
    try writer.object(write)
    return writer.bytes
  }

  /// Writes an array.
  package mutating func array<Element>(
    _ elements: some Sequence<Element>, _ write: (Element, inout JSONWriter) throws -> Void
  ) rethrows {
    beginArray()
    for element in elements { try write(element, &self) }
    endArray()
  }

  /// Writes a member that is an array.
  package mutating func array<Element>(
    _ name: String, of elements: some Sequence<Element>,
    _ write: (Element, inout JSONWriter) throws -> Void
  ) rethrows {
    self.name(name)
    try array(elements, write)
  }

  /// Writes a member that is an array of objects.
  /// - Parameter write: writes the members of one of them.
  package mutating func objects<Element>(
    _ name: String, of elements: some Sequence<Element>,
    _ write: (Element, inout JSONWriter) throws -> Void
  ) rethrows {
    try array(name, of: elements) { element, writer in
      try writer.object { try write(element, &$0) }
    }
  }

  /// Writes a member whose value is given as the bytes of one whole JSON value.
  package mutating func member(_ name: String, raw value: [UInt8]) {
    self.name(name)
    raw(value)
  }
}
