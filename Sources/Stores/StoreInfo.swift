/// Counts and sizes of one store.
package struct StoreInfo: Sendable, Equatable {
  /// Documents whose winner is live.
  package var documentCount: Int64
  /// Documents whose winner is a tombstone.
  package var deletedCount: Int64
  /// The sequence number of the last change; 0 when there is none.
  package var lastSequence: Int64
  /// Bytes of the winners' bodies.
  package var bodyBytes: Int64
  /// Bytes of the other bodies: those of losing leaves, and those of ancestors that are kept for the history.
  package var keptBytes: Int64
  /// A random text (32 hex digits) from when the store was created. A store that was created again under the
  /// same name has another epoch, so a reader notices that its old sequence numbers do not apply.
  package var epoch: String
  /// The epochs before the present one whose changes the store has up to some sequence number; see ``hasReached(_:in:)``.
  package var formerEpochs: [FormerEpoch] = []
  /// The epoch with which the store was created. It stays the same when another database server takes over.
  package let firstEpoch: String

  /// Whether the store has all that a client has seen: whether its state continues from the client's.
  /// - Parameter sequence: the last change that the client has seen.
  /// - Parameter isEpoch: whether an epoch is the one that the client knows.
  package func hasReached(_ sequence: Int64, in isEpoch: (String) -> Bool) -> Bool {
    if isEpoch(epoch) { return sequence <= lastSequence }
    return formerEpochs.contains { isEpoch($0.epoch) && sequence <= $0.last }
  }

  package init(
    documentCount: Int64, deletedCount: Int64, lastSequence: Int64, bodyBytes: Int64,
    keptBytes: Int64 = 0, epoch: String
  ) {
    self.documentCount = documentCount
    self.deletedCount = deletedCount
    self.lastSequence = lastSequence
    self.bodyBytes = bodyBytes
    self.keptBytes = keptBytes
    self.epoch = epoch
    firstEpoch = epoch
  }

  /// Bytes of all bodies, which the quota counts.
  package var storedBytes: Int64 { bodyBytes + keptBytes }
}
