/// A checked text and its tape, shared by all the nodes that point into it.
final class JSONText: Sendable {
  /// The text as it was given.
  let bytes: [UInt8]

  /// Its tokens.
  let tape: JSONTape

  /// Whether white space stands outside strings.
  let hasSpace: Bool

  /// Reads a text.
  init(_ bytes: [UInt8], limits: JSONLimits) throws(JSONError) {
    var parser = JSONParser(for: bytes.span, limits: limits)
    try parser.parse(bytes.span)
    self.bytes = bytes
    tape = parser.tape
    hasSpace = parser.hasSpace
  }

  /// The bytes of the token at `index`, with the quotation marks of a string.
  @inline(__always)
  func slice(_ index: Int) -> ArraySlice<UInt8> {
    bytes[tape.start(index)..<tape.end(index)]
  }

  /// The characters of the string at `index`.
  func string(_ index: Int) -> String {
    let content = tape.start(index) + 1..<tape.end(index) - 1
    guard tape.isEscaped(index) else {
      return String(decoding: bytes[content], as: UTF8.self)
    }
    var resolved: [UInt8] = []
    resolved.reserveCapacity(content.count)
    let bytes = bytes
    JSONEscape.appendResolved(content, of: bytes.span, to: &resolved)
    return String(decoding: resolved, as: UTF8.self)
  }

  /// Whether the string at `index` has exactly the UTF-8 bytes of `other`.
  func string(_ index: Int, equals other: String) -> Bool {
    let content = tape.start(index) + 1..<tape.end(index) - 1
    guard !tape.isEscaped(index) else { return JSONBytes.same(string(index), other) }
    let (bytes, other) = (bytes, other.utf8)
    let wanted = other.span
    return JSONBytes.same(bytes.span, content, wanted, 0..<wanted.count)
  }
}
