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
