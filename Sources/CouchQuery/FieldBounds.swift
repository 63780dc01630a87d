package import JSON

/// A range of values in the order of ``JSONCollation``; for `_id` a range of strings in byte order.
package struct FieldBounds: Sendable {
  /// The least value; nil for no lower bound.
  package private(set) var lower: JSONNode?
  package private(set) var includesLower = true
  /// The greatest value; nil for no upper bound.
  package private(set) var upper: JSONNode?
  package private(set) var includesUpper = true

  private let isByBytes: Bool

  /// Makes a range; nil when it has no bound.
  init?(
    lower: JSONNode?, includesLower: Bool = true, upper: JSONNode?, includesUpper: Bool = true,
    isByBytes: Bool = false
  ) {
    guard lower != nil || upper != nil else { return nil }
    self.lower = lower
    self.includesLower = includesLower
    self.upper = upper
    self.includesUpper = includesUpper
    self.isByBytes = isByBytes
  }

  /// Whether the range contains exactly one value.
  package var isEquality: Bool {
    guard let lower, let upper else { return false }
    return includesLower && includesUpper && compare(lower, upper) == 0
  }

  /// Whether the range contains no value, because the lower bound is above the upper one.
  package var isEmpty: Bool {
    guard let lower, let upper else { return false }
    let order = compare(lower, upper)
    return order > 0 || order == 0 && !(includesLower && includesUpper)
  }

  func intersection(_ other: FieldBounds) -> FieldBounds {
    var both = self
    if let value = other.lower {
      let order = lower.map { compare(value, $0) } ?? 1
      if order > 0 { (both.lower, both.includesLower) = (value, other.includesLower) }
      if order == 0 { both.includesLower = includesLower && other.includesLower }
    }
    if let value = other.upper {
      let order = upper.map { compare(value, $0) } ?? -1
      if order < 0 { (both.upper, both.includesUpper) = (value, other.includesUpper) }
      if order == 0 { both.includesUpper = includesUpper && other.includesUpper }
    }
    return both
  }

  /// The smallest range that contains both; nil when it has no bound.
  func hull(_ other: FieldBounds) -> FieldBounds? {
    let (low, high) = (self.isLow(below: other) ? self : other, isHigh(above: other) ? self : other)
    return FieldBounds(
      lower: low.lower, includesLower: low.includesLower, upper: high.upper,
      includesUpper: high.includesUpper, isByBytes: isByBytes)
  }

  private func isLow(below other: FieldBounds) -> Bool {
    guard let lower else { return true }
    guard let bound = other.lower else { return false }
    let order = compare(lower, bound)
    return order < 0 || order == 0 && includesLower
  }

  private func isHigh(above other: FieldBounds) -> Bool {
    guard let upper else { return true }
    guard let bound = other.upper else { return false }
    let order = compare(upper, bound)
    return order > 0 || order == 0 && includesUpper
  }

  private func compare(_ left: JSONNode, _ right: JSONNode) -> Int {
    isByBytes ? JSONCollation.compareByBytes(left, right) : JSONCollation.compare(left, right)
  }
}
