/// A queue that gives back what came first, each in constant time.
struct FirstIn<Element> {
  private var elements: [Element?] = []
  private var head = 0

  var isEmpty: Bool { head == elements.count }
  var count: Int { elements.count - head }
  var first: Element? { isEmpty ? nil : elements[head] }

  mutating func append(_ element: Element) { elements.append(element) }

  mutating func popFirst() -> Element? {
    guard head < elements.count else { return nil }
    let element = elements[head]
    elements[head] = nil
    head += 1
    if head == elements.count {
      elements.removeAll(keepingCapacity: true)
      head = 0
    } else if head >= 64, head * 2 >= elements.count {
      elements.removeFirst(head)
      head = 0
    }
    return element
  }

  /// Takes out all that fit, in order.
  mutating func remove(where fits: (Element) -> Bool) -> [Element] {
    let all = elements[head...].compactMap { $0 }
    let taken = all.filter(fits)
    guard !taken.isEmpty else { return [] }
    elements = all.filter { !fits($0) }
    head = 0
    return taken
  }
}
