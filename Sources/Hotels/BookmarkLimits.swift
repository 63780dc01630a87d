/// What bookmarks may be. Every limit is shown by `GET /v1/limits`.
///
/// How many bookmarks a store holds is bounded by its quota of documents and by ``listBytes``.
package enum BookmarkLimits {
  /// The longest body of a hotel, in bytes as stored: 64 KiB.
  package static let hotelBytes = 64 * 1024
  /// The longest body of the list, in bytes: 1 MiB, as of any document. Bookmarking stops there; a merge
  /// keeps the first ids that fit.
  package static let listBytes = 1024 * 1024
  /// Hotels and ids in one batch, together.
  package static let batchItems = 200
  /// The most bookmarks in one page.
  package static let pageItems = 200
  /// Ids of the list that one page looks at before it ends early: bounds the reads of a page when a list
  /// names hotels that are not there.
  package static let pageScan = 2_000
  /// The longest idempotency key, in bytes of UTF-8.
  package static let receiptKeyBytes = 255
  /// How long a batch's receipt is kept, in seconds: 24 hours.
  package static let receiptSeconds: Int64 = 86_400
}
