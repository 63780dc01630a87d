import Documents
import Stores

extension AllDocumentsQuery {
  /// The rows' ids; nil for none.
  var range: DocumentRange? {
    var range = range(from: start, to: end)
    guard !includesEnd, case .at(let id) = end else { return range }
    if descending { range?.start = id.successor } else { range?.includesEnd = false }
    return range
  }

  /// The ids that come before the first row, in the query's direction; nil for none.
  var rangeBefore: DocumentRange? {
    guard let start, var range = range(from: nil, to: start) else { return nil }
    guard case .at(let id) = start else { return range }
    if descending { range.start = id.successor } else { range.includesEnd = false }
    return range
  }

  /// The ids from a bound to another, both included.
  private func range(from start: KeyBound?, to end: KeyBound?) -> DocumentRange? {
    let low = descending ? end : start
    let high = descending ? start : end
    if low == .last || high == .first { return nil }
    if let low, let high, low.isBehind(high) { return nil }
    var range = DocumentRange(descending: descending)
    if case .at(let id) = low { range.start = id }
    if case .at(let id) = high { range.end = id }
    return range
  }
}

extension DocumentRange {
  /// The part of the range whose ids begin with a text and go on.
  /// - Parameter behind: the least text that every id which begins so precedes.
  func among(_ prefix: String, before behind: String) -> DocumentRange {
    var range = self
    if start?.precedesBytes(of: prefix) ?? true { range.start = prefix }
    if !(end?.precedesBytes(of: behind) ?? false) {
      range.end = behind
      range.includesEnd = false
    }
    return range
  }
}

extension AllDocumentsQuery.Scope {
  /// The part of a range that may be of interest; nil for nothing.
  func part(of range: DocumentRange?) -> DocumentRange? {
    switch self {
    case .everything: range
    // No other ids have these prefixes, and `0` follows `/`.
    case .designs: range?.among("_design/", before: "_design0")
    case .locals: range?.among(LocalID.clientPrefix, before: "_local0")
    }
  }
}

extension String {
  /// The next text in the order of bytes.
  fileprivate var successor: String { self + "\0" }
}
