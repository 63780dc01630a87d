package import Documents

/// What is known of a store without opening it, for the operator.
package struct StoreFigures: Sendable, Equatable {
  package let name: StoreName
  /// Bytes of the store's files; nil when they can't be examined.
  package var bytes: Int64?
  /// When the files last changed, which is about the time of the last use; nil when they can't be examined.
  package var changedAt: Timestamp?
  /// The store's counts from when it was last open; nil when it was not open since the start, or was open
  /// long ago.
  package var counts: StoreCounts?

  package init(
    _ name: StoreName, bytes: Int64? = nil, changedAt: Timestamp? = nil, counts: StoreCounts? = nil
  ) {
    self.name = name
    self.bytes = bytes
    self.changedAt = changedAt
    self.counts = counts
  }
}

package struct StoreCounts: Sendable, Equatable {
  /// Documents whose winner is live.
  package let documents: Int64
  /// Documents whose winner is a tombstone.
  package let deleted: Int64
  /// The sequence number of the last change; 0 when there is none.
  package let lastSequence: Int64

  package init(documents: Int64, deleted: Int64, lastSequence: Int64) {
    self.documents = documents
    self.deleted = deleted
    self.lastSequence = lastSequence
  }
}
