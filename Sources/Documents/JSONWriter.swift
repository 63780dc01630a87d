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
