/// The members of an object, in the order of the text.
package struct JSONMembers: Sequence, IteratorProtocol, Sendable {
  private let text: JSONText
  /// Where the next name begins; nil behind the last member.
  private var offset: Int?
  private var index: Int

  /// The members of a node; none if it is no object.
  init(of node: JSONNode) {
    text = node.text
    (offset, index) = text.content(of: node.place, in: JSONByte.openBrace)
  }

  /// The next member.
  package mutating func next() -> JSONMember? {
    guard let start = offset else { return nil }
    let bytes = text.bytes
    let span = bytes.span
    let (name, behindName) = text.place(at: start, index, in: span)
    // Over the colon.
    let colon = text.skipSpace(Int(name.end), in: span)
    let valueStart = text.skipSpace(colon + 1, in: span)
    let (value, next) = text.place(at: valueStart, behindName, in: span)
    offset = text.next(behind: Int(value.end), in: span)
    index = next
    return JSONMember(text: text, place: JSONMember.Place(name: name, value: value))
  }
}

/// The elements of an array, in order.
package struct JSONElements: Sequence, IteratorProtocol, Sendable {
  private let text: JSONText
  /// Where the next element begins; nil behind the last.
  private var offset: Int?
  private var index: Int

  /// The elements of a node; none if it is no array.
  init(of node: JSONNode) {
    text = node.text
    (offset, index) = text.content(of: node.place, in: JSONByte.openBracket)
  }

  /// The next element.
  package mutating func next() -> JSONNode? {
    guard let start = offset else { return nil }
    let bytes = text.bytes
    let span = bytes.span
    let (place, next) = text.place(at: start, index, in: span)
    offset = text.next(behind: Int(place.end), in: span)
    index = next
    return JSONNode(text: text, place: place)
  }
}
