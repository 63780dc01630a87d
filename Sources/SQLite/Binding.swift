/// A value for a parameter of a statement, in the order of the parameters.
///
/// SQLite copies it. For a large value that is alive anyway, ``Statement/withBound(_:at:_:)``
/// spares the copy.
package enum Binding: Sendable {
  /// A 64-bit integer.
  case integer(Int64)
  /// Text, stored as its UTF-8 bytes; NUL is a byte like any other.
  case text(String)
  /// Bytes; none of them is an empty blob, not `NULL`.
  case bytes([UInt8])
  /// `NULL`.
  case null

  /// An `Int` as a 64-bit integer.
  package static func integer(_ value: Int) -> Binding { .integer(Int64(value)) }

  /// Text, or `NULL` for nil.
  package static func text(_ value: String?) -> Binding {
    guard let value else { return .null }
    return .text(value)
  }

  /// Bytes, or `NULL` for nil.
  package static func bytes(_ value: [UInt8]?) -> Binding {
    guard let value else { return .null }
    return .bytes(value)
  }
}
