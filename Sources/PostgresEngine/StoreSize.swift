import NIOConcurrencyHelpers
import Stores

/// What is known of the bytes that a store holds. Counting them reads a page of each row, so it is done again only
/// when what was written since, by whichever node, might have made the difference.
final class StoreSize: Sendable {
  /// What was counted, and what had been written to the store by then.
  private let counted = NIOLockedValueBox<(bytes: Int64, written: Int64)?>(nil)

  /// Nothing is known.
  init() {}

  /// Forgets what is known, because the store's name leads to other rows now.
  func forget() { counted.withLockedValue { $0 = nil } }

  /// Whether a state holds more bytes than `limit`.
  func exceeds(_ limit: Int64, in source: any RowSource) throws -> Bool {
    guard limit < .max else { return false }
    let written = try source.storeRow().written
    if let counted = counted.withLockedValue({ $0 }), counted.written <= written,
      counted.bytes + written - counted.written <= limit
    {
      return false
    }
    let bytes =
      try source.rows(
        Call(Self.count, .integer(source.store), .integer(Call.rowBytes))
      ).first?.integer(0) ?? 0
    counted.withLockedValue { $0 = (bytes, written) }
    return bytes > limit
  }

  /// The lengths of values are read without the values themselves.
  private static let count = Statement(
    "store_size",
    """
    SELECT (
      (SELECT coalesce(sum(length(id) + length(body) + coalesce(length(tree), 0) + $2::int8), 0)
        FROM documents WHERE store = $1)
      + (SELECT coalesce(sum(length(body) + $2::int8), 0) FROM bodies WHERE store = $1)
      + (SELECT coalesce(sum(length(id) + length(body) + $2::int8), 0) FROM locals WHERE store = $1)
      + (SELECT coalesce(sum(length(key) + length(id) + coalesce(length(content), 0) + $2::int8), 0)
        FROM entries WHERE store = $1)
    )::int8
    """)
}
