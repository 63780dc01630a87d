package import Documents

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
    (both.lower, both.includesLower) = end(low, other.low, sign: 1, leavesMore: false)
    (both.upper, both.includesUpper) = end(high, other.high, sign: -1, leavesMore: false)
    return both
  }

  /// The smallest range that contains both; nil when it has no bound.
  func hull(_ other: FieldBounds) -> FieldBounds? {
    let low = end(low, other.low, sign: 1, leavesMore: true)
    let high = end(high, other.high, sign: -1, leavesMore: true)
    return FieldBounds(
      lower: low.value, includesLower: low.isIncluded, upper: high.value,
      includesUpper: high.isIncluded, isByBytes: isByBytes)
  }

  /// A bound, and whether the range contains it.
  private typealias End = (value: JSONNode?, isIncluded: Bool)
  private var low: End { (lower, includesLower) }
  private var high: End { (upper, includesUpper) }

  /// The one of two ends that leaves more values in a range, or fewer.
  /// - Parameter sign: 1 for lower ends, -1 for upper ones.
  private func end(_ one: End, _ other: End, sign: Int, leavesMore: Bool) -> End {
    guard let value = one.value, let bound = other.value else {
      return (one.value == nil) == leavesMore ? one : other
    }
    let order = sign * compare(value, bound)
    guard order != 0 else { return one.isIncluded == leavesMore ? one : other }
    return (order < 0) == leavesMore ? one : other
  }

  private func compare(_ left: JSONNode, _ right: JSONNode) -> Int {
    isByBytes ? JSONCollation.compareByBytes(left, right) : JSONCollation.compare(left, right)
  }
}
