package import Documents

/// What is known of a store without opening it, for its operator.
package struct StoreFigures: Sendable, Equatable {
  /// Which store.
  package let name: StoreName
  /// Bytes of its files; nil where they can't be looked at.
  package var bytes: Int64?
  /// When its files changed last, which is about when it was last used; nil where they can't be looked at.
  package var changedAt: Timestamp?
  /// What it counted when it was last open; nil where it has not been open since the start, or long ago.
  package var counts: StoreCounts?

  /// Figures of a store.
  package init(
    _ name: StoreName, bytes: Int64? = nil, changedAt: Timestamp? = nil, counts: StoreCounts? = nil
  ) {
    self.name = name
    self.bytes = bytes
    self.changedAt = changedAt
    self.counts = counts
  }
}

/// What a store counts.
package struct StoreCounts: Sendable, Equatable {
  /// Documents whose winner is live.
  package let documents: Int64
  /// Documents whose winner is a tombstone.
  package let deleted: Int64
  /// The number of the last change, 0 for none.
  package let lastSequence: Int64

  /// Counts as read.
  package init(documents: Int64, deleted: Int64, lastSequence: Int64) {
    self.documents = documents
    self.deleted = deleted
    self.lastSequence = lastSequence
  }
}
