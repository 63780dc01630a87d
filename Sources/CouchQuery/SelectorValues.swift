import Documents

/// The list of `$in`, `$nin` or `$all`, sorted so that a value is found by binary search.
struct SelectorValues: Sendable {
  /// The list as written.
  let source: JSONNode
  /// The sorted list; nil for a long list that has not been sorted yet.
  private var order: [JSONNode]?
  /// Lists of up to this many values are sorted without giving way.
  private static let short = 64

  /// Takes the elements of an array. ``prepared()`` sorts a long one.
  init(_ array: JSONNode) {
    source = array
    order = array.count <= Self.short ? sorted : nil
  }

  /// The values in order, each once.
  var sorted: [JSONNode] {
    order ?? Self.once(source.elements.sorted { JSONCollation.compare($0, $1) < 0 })
  }

  /// The list with its values sorted.
  /// - Throws: `WorkEnded` (503) when the request has ended.
  func prepared() async throws -> SelectorValues {
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

  /// The index of a value in ``sorted``; nil when the list does not contain it.
  func index(of value: JSONNode) -> Int? {
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
