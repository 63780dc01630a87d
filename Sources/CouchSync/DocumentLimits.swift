package import Documents
package import Stores

/// The size limits of the documents in a database, and of the requests that carry them. The limits of depth and of
/// digits are the same in every database.
package struct DocumentLimits: Sendable {
  /// The most bytes of one document's body, without attachments.
  package let bytes: Int
  /// The limits of one document with its `_` fields. Attachments in it may take as much as a request of many documents.
  package let document: JSONLimits
  /// The limits of many documents: two levels deeper than one document, which is in an array in an object.
  package let bulk: JSONLimits
  /// The limits of one document's body.
  private let body: JSONLimits

  /// The limits of the stores of users, guests and lists, which also limit the members of an object and the bytes of a
  /// string.
  package static let standard = DocumentLimits(.full)

  package init(_ limits: StoreLimits) {
    bytes = limits.documentBytes
    var (document, bulk) = (CouchLimits.document, CouchLimits.bulk)
    if bytes > CouchLimits.documentBytes {
      document.maximumMembers = bytes
      document.maximumStringBytes = bytes
      bulk.maximumMembers = bytes
    }
    body = document
    document.maximumBytes = bulk.maximumBytes
    document.maximumStringBytes = bulk.maximumBytes
    bulk.maximumStringBytes = bulk.maximumBytes
    (self.document, self.bulk) = (document, bulk)
  }

  /// Checks what the parser of a request could not, because the text may contain attachments.
  /// - Parameter longestString: the bytes of the longest string that the request has.
  /// - Throws: ``DocumentError`` with code `tooLarge`, or that of a string that is too long.
  func check(_ body: DocumentBody, longestString: Int) throws(DocumentError) {
    guard body.bytes.count <= bytes else {
      throw DocumentError(.tooLarge, "Document is too large: at most \(bytes) bytes")
    }
    guard min(body.bytes.count, longestString) > self.body.maximumStringBytes else { return }
    do { _ = try ParsedJSON(body.bytes, limits: self.body) } catch { throw DocumentError(error) }
  }
}
