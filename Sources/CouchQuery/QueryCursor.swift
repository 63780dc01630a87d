import Documents
package import Stores

/// The position at which a query continues: the kind of its index, and the last document that it counted.
///
/// The text form is the lower-case hexadecimal of these bytes: 1; the kind, 0 for all documents, 1 for the documents of
/// a type, 2 for an index; for an index the first 8 bytes of its digest; the length of the id in two bytes, high byte
/// first; the id; for an index the key of the document. A cursor contains no secret and grants no access, because every
/// document found from there must match the query.
package struct QueryCursor: Sendable, Equatable {
  package enum IndexKind: Sendable, Equatable {
    /// All documents by id.
    case documents
    /// The documents of a type, by id.
    case types
    /// An index by key, identified by the first bytes of its digest.
    case index([UInt8])
  }

  let kind: IndexKind
  /// The last document that was counted, with its key when an index was used.
  package let position: IndexEntry

  /// The longest text: for an id and a key of the greatest length.
  static let maximumBytes = 2 * (12 + DocumentID.maximumBytes + QueryLimits.keyBytes)
  /// The text for the beginning.
  static let start = "nil"

  package init(_ kind: IndexKind, _ position: IndexEntry) {
    self.kind = kind
    self.position = position
  }

  /// Reads the text from an answer; nil for the beginning, which is `nil` or empty.
  /// - Throws: 400 `invalid_bookmark`.
  init?(_ text: String) throws {
    if text.isEmpty || text.equalsBytes(of: Self.start) { return nil }
    guard text.utf8.count <= Self.maximumBytes, let bytes = Hex.bytes(text.utf8),
      let read = Self.read(bytes[...])
    else { throw Self.invalid(text) }
    self = read
  }

  /// The error, with CouchDB's message, for a text that is not a bookmark or belongs to another query.
  static func invalid(_ text: String) -> ServiceError {
    let shown = JSONValue.string(String(decoding: text.utf8.prefix(128), as: UTF8.self))
    return ServiceError(
      .invalidBookmark,
      "Invalid bookmark value: \(String(decoding: shown.bytes, as: UTF8.self))")
  }

  /// The text of the cursor, as clients see it.
  package var text: String {
    var bytes: [UInt8] = [1]
    switch kind {
    case .documents: bytes.append(0)
    case .types: bytes.append(1)
    case .index(let digest): bytes += [2] + digest
    }
    let id = Array(position.id.text.utf8)
    bytes += [UInt8(truncatingIfNeeded: id.count >> 8), UInt8(truncatingIfNeeded: id.count)]
    return Hex.string(bytes + id + position.key)
  }

  private static func read(_ bytes: ArraySlice<UInt8>) -> QueryCursor? {
    var rest = bytes
    guard rest.popFirst() == 1, let tag = rest.popFirst(), let kind = kind(tag, &rest),
      let high = rest.popFirst(), let low = rest.popFirst()
    else { return nil }
    let length = Int(high) << 8 | Int(low)
    guard rest.count >= length, let text = String(validating: rest.prefix(length), as: UTF8.self),
      let id = try? DocumentID(text)
    else { return nil }
    let key = Array(rest.dropFirst(length))
    guard key.count <= QueryLimits.keyBytes else { return nil }
    if case .index = kind { return QueryCursor(kind, IndexEntry(id: id, key: key)) }
    return key.isEmpty ? QueryCursor(kind, IndexEntry(id: id, key: [])) : nil
  }

  private static func kind(_ tag: UInt8, _ rest: inout ArraySlice<UInt8>) -> IndexKind? {
    switch tag {
    case 0: return .documents
    case 1: return .types
    case 2:
      guard rest.count >= IndexDefinition.bookmarkDigestBytes else { return nil }
      let digest = Array(rest.prefix(IndexDefinition.bookmarkDigestBytes))
      rest = rest.dropFirst(digest.count)
      return .index(digest)
    default: return nil
    }
  }
}
