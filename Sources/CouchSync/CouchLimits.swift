package import Documents

/// The limits of CouchDB requests and answers.
package enum CouchLimits {
  /// The most bytes of a document's body without its `_` fields: 1 MiB.
  package static let documentBytes = JSONLimits.document.maximumBytes
  /// The limits of one document with its `_` fields: a history of 1,000 ids takes 36 KiB, the names of `_` fields a
  /// little.
  package static let document = JSONLimits(maximumBytes: documentBytes + (128 << 10))
  /// The limits of a request with many documents: 16 MiB, and two levels deeper than a document, which is in an array
  /// in an object.
  package static let bulk = JSONLimits(
    maximumBytes: JSONLimits.request.maximumBytes,
    maximumDepth: JSONLimits.document.maximumDepth + 2)
  /// The most bytes of a `_bulk_docs` that is parsed in memory: 4 MiB. A longer one is kept in a file until it has
  /// arrived, and is then read in parts of about this length.
  package static let bulkPartBytes = 4 << 20
  /// The most bytes of a `_bulk_docs` besides its documents.
  package static let bulkRestBytes = 64 << 10
  /// The most documents in one `_bulk_docs` or `_bulk_get`, as in CouchDB (`max_bulk_docs_count`).
  package static let bulkDocuments = 10_000
  /// The most documents in one commit of `_bulk_docs`, so that a large request does not block a store for long.
  package static let commitDocuments = 1_000
  /// After so many attachments a commit of `_bulk_docs` takes no further document. Each takes 0.15 ms to write.
  package static let commitAttachments = 50
  /// The most documents that one step of compaction reads.
  static let compactedDocuments = 100
  /// How long one commit of `_bulk_docs` works on documents; it ends after the document that it has begun by then.
  package static let commitTime = Duration.milliseconds(commitMilliseconds)
  /// The same in milliseconds.
  package static let commitMilliseconds = 10
  /// The most bytes of an answer that is built in memory: 64 MiB. `_changes` is read in pages instead, and lists of
  /// documents in parts.
  package static let answerBytes = 64 << 20
  /// A part of a long list of documents ends after this many bytes: 1 MiB. For a slow client the server holds a part in
  /// memory.
  package static let answerPartBytes = 1 << 20
  /// The most rows of one page of `_changes`.
  package static let pageRows = 1_000
  /// A page of `_changes` ends after this many bytes of rows: 1 MiB. For a slow client the server holds a page in
  /// memory.
  package static let pageBytes = 1 << 20
  /// The most changes that one page of a filtered `_changes` looks at.
  package static let pageScan = 10_000
  /// The most bytes of documents that one page of `_changes` matches against a selector, so that other requests can use
  /// the store meanwhile: 4 MiB.
  package static let pageScanBytes = 4 << 20
  /// The most milliseconds that one page of `_changes` matches documents against a selector, for the same reason.
  package static let pageMatchingMilliseconds = 250
  /// The most revisions that one `_revs_diff` may ask for.
  package static let askedRevisions = 10_000
  /// The most ids that one `_changes` may be filtered by.
  package static let filteredDocuments = 10_000
  /// The most queries in one `_all_docs/queries`.
  package static let queries = 100
  /// The most ids that one `_uuids` returns, as in CouchDB (`max_count`).
  package static let uuids = 1_000
}
