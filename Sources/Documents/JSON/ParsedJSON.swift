/// A text that has been parsed: its bytes, and the lengths of its larger parts. It contains no `String`, `Array` or
/// `Dictionary` of its content; a node makes one when asked.
package struct ParsedJSON: Sendable {
  private let text: JSONText

  /// Parses one JSON text (RFC 8259): UTF-8 without a byte order mark, no name twice in an object, numbers kept as
  /// written. Every string and escape is checked, so that no later read of a node can fail.
  /// - Throws: the first error in the text; a repeated name is found when its object ends.
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
    return JSONNode(text: text, range: text.range(at: start, 0, in: bytes.span).range)
  }
}

/// Parses a text in parts, so that other tasks can run between them.
package struct JSONReader: Sendable {
  /// The size of a part in bytes: 64 KiB, which take a fraction of a millisecond. A string that begins in a part
  /// belongs to it.
  package static let partBytes = 64 << 10

  private let bytes: [UInt8]
  private var parser: JSONParser

  /// Makes a reader at the beginning of a text.
  package init(_ bytes: [UInt8], limits: JSONLimits) {
    self.bytes = bytes
    parser = JSONParser(for: bytes.span, limits: limits)
  }

  /// Parses the next part.
  /// - Returns: the parsed text, once its end is reached; nil before.
  /// - Throws: the same errors as ``ParsedJSON/init(_:limits:)``.
  package mutating func next(bytes count: Int = JSONReader.partBytes) throws(JSONError)
    -> ParsedJSON?
  {
    let bytes = bytes
    guard try parser.read(bytes.span, bytes: count) else { return nil }
    return ParsedJSON(JSONText(bytes, read: parser))
  }
}
