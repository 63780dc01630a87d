/// A line of waiting elements: joined at the end, left at the front, both in constant time on
/// average.
struct FirstInFirstOut<Element: Sendable>: Sendable {
  private var elements: [Element] = []
  private var head = 0

  /// How many wait.
  var count: Int { elements.count - head }
  /// Whether nobody waits.
  var isEmpty: Bool { head == elements.count }

  /// Joins at the end.
  mutating func append(_ element: Element) { elements.append(element) }

  /// Takes the one that waits longest; nil when nobody does.
  mutating func popFirst() -> Element? {
    guard head < elements.count else { return nil }
    defer {
      head += 1
      if head > 32, head * 2 > elements.count {
        elements.removeFirst(head)
        head = 0
      }
    }
    return elements[head]
  }

  /// Leaves only those that are wanted, in their order.
  mutating func keep(where isWanted: (Element) -> Bool) {
    elements = elements[head...].filter(isWanted)
    head = 0
  }
}
