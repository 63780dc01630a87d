/// The elements of an array, in order.
package struct JSONElements: Sequence, IteratorProtocol, Sendable {
  private let text: JSONText
  private var index: Int
  private let end: Int

  /// The elements of a node; none if it is no array.
  init(of node: JSONNode) {
    text = node.text
    index = node.index + 2
    end = text.tape.token(node.index) == .array ? text.tape.next(node.index) : 0
  }

  /// The next element.
  package mutating func next() -> JSONNode? {
    guard index < end else { return nil }
    defer { index = text.tape.next(index) }
    return JSONNode(text: text, index: index)
  }
}
