import Documents
import Scheduling
import Stores

/// The keys that `_all_docs` requests, one after the other in the order of their rows.
struct AskedKeys: Sendable {
  private let list: JSONNode?
  private var elements: JSONElements?
  /// The positions of the keys in a descending query, until all are known.
  private var collected = GrowingList<UInt64>()
  /// The positions of the keys in a descending query; nil before all are known, and for the order of the list.
  private var positions: ArraySlice<UInt64>?
  private let descends: Bool
  private var skip: Int
  private var left: Int

  /// Makes the keys of a query; none when it requests a range.
  init(_ query: AllDocumentsQuery) {
    (list, elements) = (query.keys, query.keys?.elements)
    (descends, skip, left) = (query.descending, query.skip, query.limit ?? .max)
  }

  /// Whether there may be another key.
  var hasMore: Bool { list != nil && left > 0 }

  /// Prepares the first key, until the slice is over.
  /// - Returns: whether it is ready.
  mutating func prepare(within slice: Slice) -> Bool {
    guard hasMore, positions == nil else { return true }
    if !descends {
      while skip > 0 {
        guard elements?.next() != nil else {
          left = 0
          return true
        }
        skip -= 1
        if slice.isOver { return skip == 0 }
      }
      return true
    }
    while let element = elements?.next() {
      collected.append(element.position)
      if slice.isOver { return false }
    }
    positions = collected.all.dropLast(skip)
    collected = GrowingList()
    return true
  }

  /// The next key; nil after the last.
  mutating func next() -> JSONNode? {
    guard hasMore else { return nil }
    left -= 1
    let key =
      descends ? positions?.popLast().flatMap { list?.value(at: $0) } : elements?.next()
    if key == nil { left = 0 }
    return key
  }
}
