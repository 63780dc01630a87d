import Documents
import StoreRecords
import Stores

/// A row of `locals`.
struct StoredLocal {
  /// What is stored.
  let document: LocalDocument
  /// When it may be forgotten, in milliseconds; nil for never.
  let expires: Int64?

  /// A row to be written.
  init(_ document: LocalDocument, expires: Int64?) {
    self.document = document
    self.expires = expires
  }

  /// Reads a row of revision, expiry, checksum and body.
  /// - Parameter start: the first of these columns.
  /// - Throws: `integrity`.
  init(_ row: Row, at start: Int = 0, _ id: LocalID, in store: Int64) throws {
    document = LocalDocument(revision: row.integer(start), body: row.bytes(start + 3))
    expires = row.optionalInteger(start + 1)
    guard checksum(of: id, in: store).matches(row.integer(start + 2)) else {
      throw ServiceError.integrity("a local document fails its checksum")
    }
  }

  /// The document; nil for one that has expired.
  func document(at now: Timestamp) -> LocalDocument? {
    if let expires, expires <= now.milliseconds { return nil }
    return document
  }

  /// What the row adds up to.
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
