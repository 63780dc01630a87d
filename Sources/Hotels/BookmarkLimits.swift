/// The limits of bookmarks. `GET /v1/limits` shows every one.
///
/// How many bookmarks a store holds is bounded by its quota of documents and by ``listBytes``.
package enum BookmarkLimits {
  /// The largest body of a hotel, in bytes as stored: 64 KiB.
  package static let hotelBytes = 64 * 1024
  /// The largest body of the list, in bytes: 1 MiB, as of any document. Bookmarking beyond it fails. A merge keeps
  /// the first ids that fit.
  package static let listBytes = 1024 * 1024
  /// The most items in one batch.
  package static let batchItems = 200
  /// The most hotels that restoring an earlier list may add and remove, together. They change in one commit.
  package static let restoredHotels = 1_000
  /// How long an adoption can be undone, in seconds: 24 hours.
  package static let undoSeconds: Int64 = 86_400
  /// The most adopted revisions that a receipt records for an undo.
  package static let undoneRevisions = 4_096
  /// The most bookmarks in one page.
  package static let pageItems = 200
  /// The most ids of the list that one page looks at before it ends early. This bounds the reads of a page when the
  /// list has ids of hotels that do not exist.
  package static let pageScan = 2_000
}
