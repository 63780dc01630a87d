import Documents
import StoreRecords
import Stores

/// A row of `locals`.
struct StoredLocal {
  /// The document, expired or not.
  let document: LocalDocument
  /// When the document expires, in milliseconds since 1970; nil for never.
  let expires: Int64?

  /// Creates a row to write.
  init(_ document: LocalDocument, expires: Int64?) {
    self.document = document
    self.expires = expires
  }

  /// Reads the columns revision, expiry, checksum and body.
  /// - Parameter start: the index of the first of these columns.
  /// - Throws: `integrity`.
  init(_ row: Row, at start: Int = 0, _ id: LocalID, in store: Int64) throws {
    document = LocalDocument(revision: row.integer(start), body: row.bytes(start + 3))
    expires = row.optionalInteger(start + 1)
    guard checksum(of: id, in: store).matches(row.integer(start + 2)) else {
      throw ServiceError.integrity("a local document fails its checksum")
    }
  }

  /// The document; nil if it has expired at `now`.
  func document(at now: Timestamp) -> LocalDocument? { isOver(at: now) ? nil : document }

  /// Whether the document has expired.
  func isOver(at now: Timestamp) -> Bool { expires.map { $0 <= now.milliseconds } ?? false }

  /// The checksum of the row.
  func checksum(of id: LocalID, in store: Int64) -> Checksum {
    var checksum = Checksum(.local)
    checksum.append(id.text)
    checksum.append(document.revision)
    checksum.append(expires)
    checksum.append(store)
    checksum.content = document.body
    return checksum
  }
}
