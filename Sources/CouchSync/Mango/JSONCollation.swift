package import Documents

/// The order of JSON values in CouchDB's views and queries: `null`, `false`, `true`, numbers,
/// strings, arrays, objects.
///
/// Numbers compare exactly as they are written, where CouchDB rounds some to doubles. Strings
/// compare by the root collation; those that the collation finds equal, which CouchDB takes as one,
/// are told apart by their bytes, as everywhere in this service. Arrays compare element by element,
/// objects member by member in the order in which they are written, names as strings; one that is a
/// beginning of another comes first.
///
/// Source: CouchDB, "Views collation"; `couch_ejson_compare.c`.
package enum JSONCollation {
  /// Below 0 when `left` comes first, above 0 when `right` does, and 0 when they are equal.
  package static func compare(_ left: JSONNode, _ right: JSONNode) -> Int {
    let (rank, other) = (rank(left), rank(right))
    guard rank == other else { return rank < other ? -1 : 1 }
    switch left.kind {
    case .null, .bool:
      return 0
    case .number:
      guard let left = left.number, let right = right.number else { return 0 }
      return compare(left, right)
    case .string:
      guard let left = left.string, let right = right.string else { return 0 }
      return compare(left, right)
    case .array:
      return compareElements(left, right)
    case .object:
      return compareMembers(left, right)
    }
  }

  /// Whether two values are equal: what ``compare(_:_:)`` finds by 0, at less cost.
  static func areEqual(_ left: JSONNode, _ right: JSONNode) -> Bool {
    guard rank(left) == rank(right), left.count == right.count else { return false }
    switch left.kind {
    case .null, .bool:
      return true
    case .number:
      return compare(left, right) == 0
    case .string:
      return right.string.map { left.stringEquals($0) } ?? false
    case .array:
      return zip(left.elements, right.elements).allSatisfy { areEqual($0, $1) }
    case .object:
      return zip(left.members, right.members).allSatisfy { left, right in
        left.nameEquals(right.name) && areEqual(left.value, right.value)
      }
    }
  }

  /// The place of a value's kind among the kinds, from 1; `false` and `true` have one each.
  static func rank(_ node: JSONNode) -> UInt8 {
    switch node.kind {
    case .null: 1
    case .bool: node.bool == true ? 3 : 2
    case .number: 4
    case .string: 7
    case .array: 8
    case .object: 9
    }
  }

  /// Compares two numbers by their exact values.
  static func compare(_ left: JSONNumber, _ right: JSONNumber) -> Int {
    if let left = left.int, let right = right.int {
      return left == right ? 0 : left < right ? -1 : 1
    }
    // Rounding keeps the order, so doubles that differ tell enough.
    if let left = left.double, let right = right.double, left != right {
      return left < right ? -1 : 1
    }
    return JSONCollationNumber(left).compare(JSONCollationNumber(right))
  }

  private static func compareElements(_ left: JSONNode, _ right: JSONNode) -> Int {
    for (left, right) in zip(left.elements, right.elements) {
      let order = compare(left, right)
      if order != 0 { return order }
    }
    return left.count - right.count
  }

  private static func compareMembers(_ left: JSONNode, _ right: JSONNode) -> Int {
    for (left, right) in zip(left.members, right.members) {
      var order = compare(left.name, right.name)
      if order == 0 { order = compare(left.value, right.value) }
      if order != 0 { return order }
    }
    return left.count - right.count
  }
}
