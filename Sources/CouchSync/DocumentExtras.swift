import Documents
import Stores

/// Members that a document carries only on request.
///
/// Source: CouchDB, "GET /{db}/{docid}: query parameters".
package struct DocumentExtras: Sendable, Equatable {
  /// `_revisions`: the revision and its known ancestors.
  package var revisions = false
  /// `_revs_info`: the same with whether each can still be read.
  package var revisionsInfo = false
  /// `_conflicts`: live leaves beside the winner.
  package var conflicts = false
  /// `_deleted_conflicts`: tombstone leaves beside the winner.
  package var deletedConflicts = false
  /// `_local_seq`: the number of the document's last change in this store.
  package var localSequence = false

  /// No extras.
  package init() {}

  /// Reads `revs`, `revs_info`, `conflicts`, `deleted_conflicts`, `local_seq`, and `meta`, which stands
  /// for three of them.
  /// - Throws: 400 `query_parse_error`.
  package init(_ parameters: CouchParameters) throws(CouchError) {
    let meta = try parameters.flag("meta")
    revisions = try parameters.flag("revs")
    revisionsInfo = try parameters.flag("revs_info") || meta
    conflicts = try parameters.flag("conflicts") || meta
    deletedConflicts = try parameters.flag("deleted_conflicts") || meta
    localSequence = try parameters.flag("local_seq")
  }

  /// Whether nothing is wanted.
  var isEmpty: Bool { self == DocumentExtras() }

  /// Whether the document's tree must be read.
  var needsTree: Bool { revisions || revisionsInfo || conflicts || deletedConflicts }
}
