import Documents
package import JSON
package import Stores

/// What the dialect's verbs take and give at most.
package enum CouchLimits {
  /// A document's body, in bytes without its `_` fields: 1 MiB.
  package static let documentBytes = JSONLimits.document.maximumBytes
  /// One document with its `_` fields: a history of 1,000 ids takes 36 KiB, names of `_` fields a little.
  package static let document = JSONLimits(maximumBytes: documentBytes + (128 << 10))
  /// Many documents: 16 MiB. Two levels deeper than a document, which stands in an array in an object.
  package static let bulk = JSONLimits(
    maximumBytes: JSONLimits.request.maximumBytes,
    maximumDepth: JSONLimits.document.maximumDepth + 2)
  /// Documents in one `_bulk_docs` or `_bulk_get` at most, as in CouchDB (`max_bulk_docs_count`).
  package static let bulkDocuments = 10_000
  /// Documents that one commit of `_bulk_docs` takes, so that a large request does not hold up a store.
  package static let commitDocuments = 1_000
  /// Documents that compaction takes at a time.
  static let compactedDocuments = 100
  /// How long one commit of `_bulk_docs` decides; the document that it is at then is its last.
  package static let commitTime = Duration.milliseconds(commitMilliseconds)
  /// The same in milliseconds.
  package static let commitMilliseconds = 10
  /// Bytes of an answer that is put together in memory: 64 MiB. `_changes` is read in pages instead.
  package static let answerBytes = 64 << 20
  /// Rows of one page of `_changes`.
  package static let pageRows = 1_000
  /// Bytes of rows after which a page of `_changes` ends: 1 MiB, which a slow client holds in memory.
  package static let pageBytes = 1 << 20
  /// Changes that one page of a filtered `_changes` looks at.
  package static let pageScan = 10_000
  /// Bytes of documents that one page of `_changes` matches against a selector, so that others get at the
  /// store meanwhile: 4 MiB.
  package static let pageScanBytes = 4 << 20
  /// Milliseconds that one page of `_changes` matches documents against a selector, for the same reason.
  package static let pageMatchingMilliseconds = 250
  /// Revisions that one `_revs_diff` may ask for.
  package static let askedRevisions = 10_000
  /// Ids that one `_changes` may be filtered by.
  package static let filteredDocuments = 10_000
  /// Queries of one `_all_docs/queries`.
  package static let queries = 100
  /// Ids that one `_uuids` gives, as in CouchDB (`max_count`).
  package static let uuids = 1_000
}

/// How large the documents of a database may be, and what that makes of the requests that carry them. Depth and digits
/// of numbers are bounded alike in every database.
package struct DocumentLimits: Sendable {
  /// Bytes of one document's body.
  package let bytes: Int
  /// One document with its `_` fields.
  package let document: JSONLimits
  /// Many documents: two levels deeper than one, which stands in an array in an object.
  package let bulk: JSONLimits

  /// The limits of people's own stores, whose objects and strings are bounded besides.
  package static let standard = DocumentLimits(.full)

  /// The limits in a store with these.
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

/// `GET /_uuids`: random ids for clients that name their documents before they send them.
///
/// Source: CouchDB, "GET /_uuids".
package enum CouchUUIDs {
  /// So many ids of 32 hex digits; one where `count` is absent.
  /// - Throws: 400 for a `count` that is no number or above ``CouchLimits/uuids``.
  package static func answer(
    _ parameters: CouchParameters, using generator: inout some RandomNumberGenerator
  ) throws -> CouchAnswer {
    let text = parameters["count"] ?? "1"
    guard (1...18).contains(text.utf8.count),
      text.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let count = Int(text)
    else { throw ServiceError.badRequest("count must be a positive integer") }
    guard count <= CouchLimits.uuids else {
      throw ServiceError.badRequest("count parameter too large")
    }
    var writer = JSONWriter(reserving: count * 36 + 16)
    writer.beginObject()
    writer.name("uuids")
    writer.beginArray()
    for _ in 0..<count { writer.string(Hex.string(generator.next(), generator.next())) }
    writer.endArray()
    writer.endObject()
    return CouchAnswer(writer.bytes)
  }
}
