import Documents
import JSON
package import Stores

/// The place at which a query goes on: which way it walks, and the last document that it counted.
///
/// As text the lower-case hexadecimal of: the byte 1; which way, 0 all documents, 1 a type's, 2 an index;
/// for an index the first 8 bytes of its digest; the length of the id in two bytes, high one first; the id;
/// for an index the key at which the document stood. A place is no secret and gives no right: whatever
/// is found from there must match the query itself.
package struct QueryCursor: Sendable, Equatable {
  /// Which way a query walks.
  package enum Way: Sendable, Equatable {
    /// All documents by id.
    case documents
    /// The documents of given types, by id.
    case types
    /// An index by key, named by the beginning of its digest.
    case index([UInt8])
  }

  /// Which way the query walked.
  let way: Way
  /// The last document that counted; with its key where the way is an index.
  package let place: IndexEntry

  /// The longest text: an id and a key of full length.
  static let maximumBytes = 2 * (12 + DocumentID.maximumBytes + QueryLimits.keyBytes)
  /// What stands for the beginning.
  static let start = "nil"

  /// A place on a way.
  package init(_ way: Way, _ place: IndexEntry) {
    self.way = way
    self.place = place
  }

  /// Reads a text that an answer gave; nil for the beginning, which is `nil` or empty.
  /// - Throws: 400 `invalid_bookmark`.
  init?(_ text: String) throws {
    if text.isEmpty || text.equalsBytes(of: Self.start) { return nil }
    guard text.utf8.count <= Self.maximumBytes, let bytes = Hex.bytes(text.utf8),
      let read = Self.read(bytes[...])
    else { throw Self.invalid(text) }
    self = read
  }

  /// The error of a text that is none, or of another query's, in CouchDB's words.
  static func invalid(_ text: String) -> ServiceError {
    let shown = JSONValue.string(String(decoding: text.utf8.prefix(128), as: UTF8.self))
    return ServiceError(
      .invalidBookmark,
      "Invalid bookmark value: \(String(decoding: shown.bytes, as: UTF8.self))")
  }

  /// The bookmark as clients see it.
  package var text: String {
    var bytes: [UInt8] = [1]
    switch way {
    case .documents: bytes.append(0)
    case .types: bytes.append(1)
    case .index(let digest): bytes += [2] + digest
    }
    let id = Array(place.id.text.utf8)
    bytes += [UInt8(truncatingIfNeeded: id.count >> 8), UInt8(truncatingIfNeeded: id.count)]
    return Hex.string(bytes + id + place.key)
  }

  private static func read(_ bytes: ArraySlice<UInt8>) -> QueryCursor? {
    var rest = bytes
    guard rest.popFirst() == 1, let tag = rest.popFirst(), let way = way(tag, &rest),
      let high = rest.popFirst(), let low = rest.popFirst()
    else { return nil }
    let length = Int(high) << 8 | Int(low)
    guard rest.count >= length, let text = String(validating: rest.prefix(length), as: UTF8.self),
      let id = try? DocumentID(text)
    else { return nil }
    let key = Array(rest.dropFirst(length))
    guard key.count <= QueryLimits.keyBytes else { return nil }
    if case .index = way { return QueryCursor(way, IndexEntry(id: id, key: key)) }
    return key.isEmpty ? QueryCursor(way, IndexEntry(id: id, key: [])) : nil
  }

  private static func way(_ tag: UInt8, _ rest: inout ArraySlice<UInt8>) -> Way? {
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
