/// The members of an object, in the order of the text.
package struct JSONMembers: Sequence, IteratorProtocol, Sendable {
  private let text: JSONText
  /// The offset of the next name; nil after the last member.
  private var offset: Int?
  private var index: Int

  /// Makes the members of a node; none when it is not an object.
  init(of node: JSONNode) {
    text = node.text
    (offset, index) = text.content(of: node.range, in: JSONByte.openBrace)
  }

  package mutating func next() -> JSONMember? {
    guard let start = offset else { return nil }
    let bytes = text.bytes
    let span = bytes.span
    let (name, behindName) = text.range(at: start, index, in: span)
    // Skips the colon.
    let colon = text.skipSpace(Int(name.end), in: span)
    let valueStart = text.skipSpace(colon + 1, in: span)
    let (value, next) = text.range(at: valueStart, behindName, in: span)
    offset = text.next(behind: Int(value.end), in: span)
    index = next
    return JSONMember(text: text, ranges: JSONMember.TextRanges(name: name, value: value))
  }
}

/// The elements of an array, in order.
package struct JSONElements: Sequence, IteratorProtocol, Sendable {
  private let text: JSONText
  /// The offset of the next element; nil after the last one.
  private var offset: Int?
  private var index: Int

  /// Makes the elements of a node; none when it is not an array.
  init(of node: JSONNode) {
    text = node.text
    (offset, index) = text.content(of: node.range, in: JSONByte.openBracket)
  }

  package mutating func next() -> JSONNode? {
    guard let start = offset else { return nil }
    let bytes = text.bytes
    let span = bytes.span
    let (range, next) = text.range(at: start, index, in: span)
    offset = text.next(behind: Int(range.end), in: span)
    index = next
    return JSONNode(text: text, range: range)
  }
}
