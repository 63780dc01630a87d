import Documents

/// The list of `$in`, `$nin` or `$all`, kept in order so that a value is found in few steps.
struct SelectorValues: Sendable {
  /// The list as it was written.
  let source: JSONNode
  /// Nil for a long list that is not put in order yet.
  private var order: [JSONNode]?
  /// Values that are sorted without giving way.
  private static let short = 64

  /// Takes an array's elements. A long one is put in order by ``prepared()``.
  init(_ array: JSONNode) {
    source = array
    order = array.count <= Self.short ? sorted : nil
  }

  /// Its values in their order, each once.
  var sorted: [JSONNode] {
    order ?? Self.once(source.elements.sorted { JSONCollation.compare($0, $1) < 0 })
  }

  /// The same with its values in order.
  /// - Throws: 503 when nobody waits for the answer any more.
  func prepared() async throws(CouchError) -> SelectorValues {
    guard order == nil else { return self }
    var values = self
    values.order = Self.once(
      try await Array(source.elements).sortedInSlices { JSONCollation.compare($0, $1) < 0 })
    return values
  }

  private static func once(_ values: [JSONNode]) -> [JSONNode] {
    var each: [JSONNode] = []
    for value in values {
      if let last = each.last, JSONCollation.areEqual(last, value) { continue }
      each.append(value)
    }
    return each
  }

  /// The place of a value in ``sorted``; nil if it isn't there.
  func place(of value: JSONNode) -> Int? {
    let sorted = sorted
    var (low, high) = (0, sorted.count)
    while low < high {
      let middle = (low + high) / 2
      let isBefore = JSONCollation.compare(sorted[middle], value) < 0
      (low, high) = isBefore ? (middle + 1, high) : (low, middle)
    }
    return low < sorted.count && JSONCollation.areEqual(sorted[low], value) ? low : nil
  }
}
