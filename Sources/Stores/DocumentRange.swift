import Documents

/// A range of ids in byte order.
package struct DocumentRange: Sendable {
  /// The first id of the range; nil for no bound. Compared by bytes; it need not be a valid id.
  package var start: String?
  /// The last id of the range; nil for no bound.
  package var end: String?
  package var includesEnd: Bool
  /// Whether to read from ``end`` down to ``start``.
  package var descending: Bool
  package var includesDeleted: Bool

  package init(
    start: String? = nil, end: String? = nil, includesEnd: Bool = true, descending: Bool = false,
    includesDeleted: Bool = false
  ) {
    self.start = start
    self.end = end
    self.includesEnd = includesEnd
    self.descending = descending
    self.includesDeleted = includesDeleted
  }

  /// All ids with a prefix that ends with a slash; `0` is the byte after the slash.
  package static func below(_ folder: String) -> DocumentRange {
    DocumentRange(start: folder, end: String(folder.dropLast()) + "0", includesEnd: false)
  }

  /// The part of the range that follows an id in the range's direction.
  package func behind(_ id: String) -> DocumentRange {
    var rest = self
    if descending {
      (rest.end, rest.includesEnd) = (id, false)
    } else {
      // The smallest text that is greater than `id` in byte order.
      rest.start = id + "\0"
    }
    return rest
  }

  /// Whether an id is between the range's ends.
  package func contains(_ id: String) -> Bool {
    if let start, id.precedesBytes(of: start) { return false }
    guard let end else { return true }
    return includesEnd ? !end.precedesBytes(of: id) : id.precedesBytes(of: end)
  }
}
