/// A text that has been read: its bytes and a flat list of its tokens. No `String`, `Array` or
/// `Dictionary` of its content exists until somebody asks for one.
package struct ParsedJSON: Sendable {
  private let text: JSONText

  /// Reads one JSON text (RFC 8259): UTF-8 without a byte order mark, no name twice in an object,
  /// and numbers kept as they are written. Strings are checked down to the last escape, so nothing
  /// that is asked of the nodes can fail later.
  ///
  /// Throws the first fault; a repeated name is found when its object ends.
  package init(_ bytes: [UInt8], limits: JSONLimits) throws(JSONError) {
    text = try JSONText(bytes, limits: limits)
  }

  /// The most bytes that reading a text may take beside the text itself.
  package static func mostBytes(for text: [UInt8]) -> Int { JSONTape.mostBytes(for: text.span) }

  /// The outermost value.
  package var root: JSONNode {
    JSONNode(text: text, index: 0)
  }

  /// The text as it was given.
  package var bytes: [UInt8] {
    text.bytes
  }
}
