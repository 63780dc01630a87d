/// The members of an object, in the order of the text.
package struct JSONMembers: Sequence, IteratorProtocol, Sendable {
  private let text: JSONText
  private var index: Int
  private let end: Int

  /// The members of a node; none if it is no object.
  init(of node: JSONNode) {
    text = node.text
    index = node.index + 2
    end = text.tape.token(node.index) == .object ? text.tape.next(node.index) : 0
  }

  /// The next member.
  package mutating func next() -> JSONMember? {
    guard index < end else { return nil }
    defer { index = text.tape.next(index + 1) }
    return JSONMember(text: text, index: index)
  }
}
