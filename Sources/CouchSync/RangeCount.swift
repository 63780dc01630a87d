import Documents
import Lanes
import Stores

/// Counts the winners of a range in slices, by their ids alone; what is behind them is what is left of the range.
struct RangeCount: Sendable {
  /// Ids that are counted in one go.
  private static let idsAtOnce = 4_096
  /// Ids that are looked at at least, as far as no more winners than wanted are among them: where there are mostly
  /// tombstones, few are found in many.
  private static let fewestIDs = 256

  /// What is left of the range; nil for nothing.
  private(set) var rest: DocumentRange?
  /// How many winners there are before that.
  private(set) var count = 0
  private let limit: Int

  /// A count of a range, nil for an empty one.
  /// - Parameter limit: how many winners to count at most.
  init(_ range: DocumentRange?, limit: Int = .max) {
    rest = range
    self.limit = limit
  }

  /// Goes on in a state of the store until the slice is over.
  /// - Returns: whether the count is done.
  mutating func read(_ view: any StoreView) throws(StoreError) -> Bool {
    while let range = rest, count < limit {
      let wanted = min(limit - count, Self.idsAtOnce)
      var part = try view.count(range, among: max(wanted, Self.fewestIDs))
      if part.count > wanted { part = try view.count(range, among: wanted) }
      count += part.count
      rest = part.last.map { range.behind($0.text) }
      if Slice.isOver { break }
    }
    return rest == nil || count >= limit
  }
}
