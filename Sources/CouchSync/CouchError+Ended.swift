import Documents
import Lanes
import Stores

extension CouchError {
  /// Gives way to others where the slice is over, in work that a client sizes.
  /// - Throws: 503 when nobody waits for the answer any more.
  static func givingWay() async throws(CouchError) {
    do { try await Slice.giveWay() } catch { throw CouchError(StoreError.ended) }
  }
}

extension Selector {
  /// Whether a document, with its `_id`, matches; gives way to others while it finds out.
  /// - Throws: 400 `selector_too_costly`; 503 when nobody waits for the answer any more.
  func matches(
    _ root: JSONNode, givingWay budget: inout SelectorBudget
  ) async throws(CouchError) -> Bool {
    guard !matchesAll else { return true }
    var match = match(root)
    while true {
      let isMatch = match.next(&budget)
      guard !budget.isSpent else { throw SelectorBudget.spent }
      if let isMatch { return isMatch }
      try await CouchError.givingWay()
    }
  }
}
