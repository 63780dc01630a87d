package import Documents

/// The revision of a document that a client requests, and the extra members.
///
/// Source: CouchDB, "GET /{db}/{docid}".
package struct DocumentQuery: Sendable {
  /// The revision; nil for the winner.
  package var revision: RevisionID?
  /// Whether a revision that is not a leaf is replaced by the leaf that descends from it.
  package var latest: Bool
  /// Whether a document whose winner is a tombstone is answered with it.
  package var takesTombstone: Bool
  package var extras: DocumentExtras

  package init(
    revision: RevisionID? = nil, latest: Bool = false, takesTombstone: Bool = false,
    extras: DocumentExtras = DocumentExtras()
  ) {
    self.revision = revision
    self.latest = latest
    self.takesTombstone = takesTombstone
    self.extras = extras
  }

  /// Checks that the winner may be answered.
  /// - Throws: 404 `deleted`.
  func checkWinner(isDeleted: Bool) throws(DocumentError) {
    guard revision != nil || takesTombstone || !isDeleted else { throw .deleted }
  }

  /// Reads `rev`, `latest`, `deleted` and the extras. `att_encoding_info` has no effect, because no attachment is stored packed.
  /// - Throws: 400.
  package init(_ parameters: CouchParameters) throws {
    self.init(
      revision: try parameters.revision("rev"), latest: parameters.isTrue("latest"),
      takesTombstone: parameters.isTrue("deleted"),
      extras: try DocumentExtras(parameters))
  }
}

/// Members that a document contains only on request.
///
/// Source: CouchDB, "GET /{db}/{docid}: query parameters".
package struct DocumentExtras: Sendable, Equatable {
  /// `_revisions`: the revision and its known ancestors.
  package var revisions = false
  /// `_revs_info`: the revision and its known ancestors, each with the information whether it can still be read.
  package var revisionsInfo = false
  /// `_conflicts`: the leaves other than the winner that are not deleted.
  package var conflicts = false
  /// `_deleted_conflicts`: the tombstone leaves other than the winner.
  package var deletedConflicts = false
  /// `_local_seq`: the sequence of the document's last change in this store.
  package var localSequence = false
  /// The attachments that are not stubs; nil for none.
  package var attachments: WantedAttachments?

  package init() {}

  /// Reads `revs`, `revs_info`, `conflicts`, `deleted_conflicts`, `local_seq`, and `meta`, which sets `revs_info`,
  /// `conflicts` and `deleted_conflicts`.
  /// - Throws: 400 for a malformed `atts_since`.
  package init(_ parameters: CouchParameters) throws {
    let meta = parameters.isTrue("meta")
    revisions = parameters.isTrue("revs")
    revisionsInfo = parameters.isTrue("revs_info") || meta
    conflicts = parameters.isTrue("conflicts") || meta
    deletedConflicts = parameters.isTrue("deleted_conflicts") || meta
    localSequence = parameters.isTrue("local_seq")
    attachments = try WantedAttachments(parameters)
  }

  var isEmpty: Bool { self == DocumentExtras() }

  var needsTree: Bool { needsAncestors || conflicts || deletedConflicts }
  /// Whether they need the whole tree, and not only its newest revisions.
  var needsAncestors: Bool { revisions || revisionsInfo || attachments?.since.isEmpty == false }
}
