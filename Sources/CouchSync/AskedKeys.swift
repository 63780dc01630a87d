import Documents
import Lanes

/// The keys that `_all_docs` is asked for, one by one in the order of their rows.
struct AskedKeys: Sendable {
  private let list: JSONNode?
  private var elements: JSONElements?
  /// Where the keys stand that were passed over on the way to the last one; nil for the order of the list.
  private var positions: [UInt64]?
  private var skip: Int
  private var left: Int

  /// The keys of a query; none where a range is walked over.
  init(_ query: AllDocumentsQuery) {
    list = query.keys
    elements = query.keys?.elements
    positions = query.descending ? [] : nil
    skip = query.skip
    left = query.limit ?? .max
  }

  /// Whether there may be another key.
  var hasMore: Bool { list != nil && left > 0 }

  /// Gets ready for the first key, until the slice is over.
  /// - Returns: whether it is.
  mutating func prepare() -> Bool {
    guard hasMore else { return true }
    if positions == nil {
      while skip > 0 {
        guard elements?.next() != nil else {
          left = 0
          return true
        }
        skip -= 1
        if Slice.isOver { return skip == 0 }
      }
      return true
    }
    while let element = elements?.next() {
      positions?.append(element.position)
      if Slice.isOver { return false }
    }
    let known = positions?.count ?? 0
    positions?.removeLast(min(skip, known))
    skip = 0
    return true
  }

  /// The next key; nil behind the last.
  mutating func next() -> JSONNode? {
    guard hasMore else { return nil }
    left -= 1
    let key: JSONNode?
    if let position = positions?.popLast() {
      key = list?.value(at: position)
    } else {
      key = positions == nil ? elements?.next() : nil
    }
    if key == nil { left = 0 }
    return key
  }
}
