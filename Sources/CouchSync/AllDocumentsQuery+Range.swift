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

  /// The keys that have rows, in the order of the rows; none where a range is walked over.
  var askedKeys: ArraySlice<JSONValue> {
    let keys = keys ?? []
    return (descending ? Array(keys.reversed()) : keys).dropFirst(skip).prefix(limit ?? .max)
  }

  /// The ids from a bound to another, both included.
  private func range(from start: KeyBound?, to end: KeyBound?) -> DocumentRange? {
    let low = descending ? end : start
    let high = descending ? start : end
    if low == .last || high == .first { return nil }
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

  /// The part of the range that design documents are in: no other ids have their prefix, and `0` follows `/`.
  var amongDesigns: DocumentRange { among("_design/", before: "_design0") }
  /// The part of the range that clients' local documents are in.
  var amongLocals: DocumentRange { among(LocalID.clientPrefix, before: "_local0") }
}

extension String {
  /// The next text in the order of bytes.
  fileprivate var successor: String { self + "\0" }
}
