package import Documents

/// What a rule or a query sees of one store: one state, on the engine's own executor, without
/// waiting.
///
/// Inside an update the view shows what earlier updates of the same commit wrote.
package protocol StoreView {
  /// The winner, a tombstone included; nil when the id was never used. One indexed read.
  func document(_ id: DocumentID) throws(StoreError) -> Document?
  /// The whole history.
  func tree(_ id: DocumentID) throws(StoreError) -> RevisionTree?
  /// What a revision says; nil when the revision is unknown or its body was compacted away.
  func body(_ id: DocumentID, _ revision: RevisionID) throws(StoreError) -> [UInt8]?
  /// Winners by id in byte order, tombstones included where asked, until `visit` answers false.
  func documents(
    _ range: DocumentRange, _ visit: (Document) throws(StoreError) -> Bool
  ) throws(StoreError)
  /// The ids of live documents whose body's `type` is this, in byte order.
  func ids(ofType type: String) throws(StoreError) -> [DocumentID]
  /// Documents that changed after a sequence number, each once, at its last change, in order.
  /// - Parameter limit: how many rows at most.
  func changes(after sequence: Int64, limit: Int) throws(StoreError) -> [Change]
  /// A local document; nil when absent (or expired).
  func local(_ id: LocalID) throws(StoreError) -> LocalDocument?
  /// Counts and the last sequence number.
  func info() throws(StoreError) -> StoreInfo
}

/// Which ids to walk, in byte order.
package struct DocumentRange: Sendable {
  /// The first id wanted, compared by bytes; nil from the very first. Any text, legal id or not.
  package var start: String?
  /// The last id wanted; nil to the very last.
  package var end: String?
  /// Whether a document whose id equals ``end`` is wanted.
  package var includesEnd: Bool
  /// Whether to walk from ``end`` down to ``start``.
  package var descending: Bool
  /// Whether tombstones are wanted.
  package var includesDeleted: Bool

  /// A range of ids.
  package init(
    start: String? = nil, end: String? = nil, includesEnd: Bool = true, descending: Bool = false,
    includesDeleted: Bool = false
  ) {
    self.start = start
    self.end = end
    self.includesEnd = includesEnd
    self.descending = descending
    self.includesDeleted = includesDeleted
  }
}

/// One row of the change feed: a document at its last change.
package struct Change: Sendable, Equatable {
  /// The store's number of that change.
  package let sequence: Int64
  /// The document.
  package let id: DocumentID
  /// The winner after it.
  package let revision: RevisionID
  /// Whether the winner is a tombstone.
  package let isDeleted: Bool

  /// A row.
  package init(sequence: Int64, id: DocumentID, revision: RevisionID, isDeleted: Bool) {
    self.sequence = sequence
    self.id = id
    self.revision = revision
    self.isDeleted = isDeleted
  }
}

/// A local document: a body with a plain counter as its revision (`0-N` for clients).
package struct LocalDocument: Sendable, Equatable {
  /// How often it was written, from 1.
  package let revision: Int64
  /// Its bytes; JSON for clients' documents.
  package let body: [UInt8]

  /// A local document as read.
  package init(revision: Int64, body: [UInt8]) {
    self.revision = revision
    self.body = body
  }
}

/// Counts of one store.
package struct StoreInfo: Sendable, Equatable {
  /// Documents whose winner is live.
  package var documentCount: Int64
  /// Documents whose winner is a tombstone.
  package var deletedCount: Int64
  /// The number of the last change, 0 for none.
  package var lastSequence: Int64
  /// Bytes of the winners' bodies: what the quota counts.
  package var bodyBytes: Int64
  /// Drawn at random when the store was made (32 hex digits): tells this store from an earlier one
  /// of the same name, so that a reader's old sequence numbers are not mistaken for this store's.
  package var epoch: String

  /// Counts as read.
  package init(
    documentCount: Int64, deletedCount: Int64, lastSequence: Int64, bodyBytes: Int64, epoch: String
  ) {
    self.documentCount = documentCount
    self.deletedCount = deletedCount
    self.lastSequence = lastSequence
    self.bodyBytes = bodyBytes
    self.epoch = epoch
  }
}
