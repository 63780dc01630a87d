/// A member of an object in a ``ParsedJSON``.
package struct JSONMember: Sendable {
  /// The text.
  let text: JSONText

  /// The index of the name on the text's tape; the value is at the next index.
  let index: Int

  /// The name with its escapes resolved.
  package var name: String {
    text.string(index)
  }

  /// The name as written, with its quotation marks and escapes.
  package var rawName: ArraySlice<UInt8> {
    text.slice(index)
  }

  /// The value.
  package var value: JSONNode {
    JSONNode(text: text, index: index + 1)
  }

  /// Whether the name, escapes resolved, has exactly these UTF-8 bytes; makes no `String` of a name
  /// without escapes.
  package func nameEquals(_ other: String) -> Bool {
    text.string(index, equals: other)
  }

  /// Whether the name, escapes resolved, starts with `_`, which CouchDB keeps for itself.
  package var nameStartsWithUnderscore: Bool {
    let start = text.tape.start(index) + 1
    guard text.tape.isEscaped(index), text.bytes[start] == JSONByte.backslash else {
      return text.bytes[start] == 0x5F
    }
    return name.utf8.first == 0x5F
  }
}
