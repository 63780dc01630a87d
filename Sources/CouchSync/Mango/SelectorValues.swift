import Documents

/// The list of `$in`, `$nin` or `$all`, kept in order so that a value is found in few steps.
struct SelectorValues: Sendable {
  /// The list as it was written.
  let source: JSONNode
  /// Its values in their order, each once.
  let sorted: [JSONNode]

  /// Takes an array's elements.
  init(_ array: JSONNode) {
    source = array
    var sorted: [JSONNode] = []
    for value in array.elements.sorted(by: { JSONCollation.compare($0, $1) < 0 }) {
      if let last = sorted.last, JSONCollation.areEqual(last, value) { continue }
      sorted.append(value)
    }
    self.sorted = sorted
  }

  /// The place of a value in ``sorted``; nil if it isn't there.
  func place(of value: JSONNode) -> Int? {
    var (low, high) = (0, sorted.count)
    while low < high {
      let middle = (low + high) / 2
      let isBefore = JSONCollation.compare(sorted[middle], value) < 0
      (low, high) = isBefore ? (middle + 1, high) : (low, middle)
    }
    return low < sorted.count && JSONCollation.areEqual(sorted[low], value) ? low : nil
  }
}
