package import JSON
package import Stores

/// The size limits of the documents in a database, and of the requests that carry them. The limits of depth and of
/// digits are the same in every database.
package struct DocumentLimits: Sendable {
  /// The most bytes of one document's body.
  package let bytes: Int
  /// The limits of one document with its `_` fields.
  package let document: JSONLimits
  /// The limits of many documents: two levels deeper than one document, which is in an array in an object.
  package let bulk: JSONLimits

  /// The limits of the stores of users, guests and lists, which also limit the members of an object and the bytes of a
  /// string.
  package static let standard = DocumentLimits(.full)

  package init(_ limits: StoreLimits) {
    bytes = limits.documentBytes
    var document = CouchLimits.document
    var bulk = CouchLimits.bulk
    if bytes > CouchLimits.documentBytes {
      document.maximumBytes = bytes + CouchLimits.document.maximumBytes - CouchLimits.documentBytes
      document.maximumMembers = document.maximumBytes
      document.maximumStringBytes = document.maximumBytes
      bulk.maximumMembers = document.maximumBytes
      bulk.maximumStringBytes = document.maximumBytes
    }
    (self.document, self.bulk) = (document, bulk)
  }
}
