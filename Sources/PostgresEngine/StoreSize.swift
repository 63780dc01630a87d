import NIOConcurrencyHelpers

/// The size of a store in bytes, as far as it is known. A count reads a page of each row. It is repeated only if what
/// any node has written since the last count might exceed the limit.
final class StoreSize: Sendable {
  /// The counted bytes, and the store's `written` at that time.
  private let counted = NIOLockedValueBox<(bytes: Int64, written: Int64)?>(nil)

  /// Creates an unknown size.
  init() {}

  /// Forgets the size, because the store's name refers to other rows now.
  func forget() { counted.withLockedValue { $0 = nil } }

  /// Whether a store contains more than `limit` bytes in a state.
  func exceeds(_ limit: Int64, in source: any RowSource) throws -> Bool {
    guard limit < .max else { return false }
    let written = try source.storeRow().written
    if let counted = counted.withLockedValue({ $0 }), counted.written <= written,
      counted.bytes + written - counted.written <= limit
    {
      return false
    }
    let bytes = try source.rows(Self.count, .integer(Call.rowBytes)).first?.integer(0) ?? 0
    counted.withLockedValue { $0 = (bytes, written) }
    return bytes > limit
  }

  /// Reads the lengths of values without the values.
  private static let count = Statement(
    """
    SELECT (
      (SELECT coalesce(sum(length(id) + length(body) + coalesce(length(tree), 0) + $2::int8), 0)
        FROM documents WHERE store = $1)
      + (SELECT coalesce(sum(length(body) + $2::int8), 0) FROM bodies WHERE store = $1)
      + (SELECT coalesce(sum(length(revisions) + $2::int8), 0) FROM histories WHERE store = $1)
      + (SELECT coalesce(sum(length(id) + length(body) + $2::int8), 0) FROM locals WHERE store = $1)
      + (SELECT coalesce(sum(length(key) + length(id) + coalesce(length(content), 0) + $2::int8), 0)
        FROM entries WHERE store = $1)
    )::int8
    """)
}
