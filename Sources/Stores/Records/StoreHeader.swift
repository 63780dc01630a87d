import Documents

/// The row of a store's file that has the store's name and counts. There is one.
///
/// It is kept in memory while the store is open, and is written once in each commit.
package struct StoreHeader: Equatable, Sendable {
  /// The store's key. It shows when a file has the name of another store.
  package var key: String
  /// A random text from when the file was created; see `StoreInfo.epoch`.
  package var epoch: String
  package var lastSequence: Int64 = 0
  /// The highest sequence number of a document. It is lower than ``lastSequence`` when a purge came after it.
  package var newest: Int64 = 0
  /// Documents whose winner is live.
  package var live: Int64 = 0
  /// Documents whose winner is a tombstone.
  package var deleted: Int64 = 0
  /// Bytes of the winners' bodies.
  package var bytes: Int64 = 0
  /// Bytes of the other bodies, the rows of `bodies`.
  package var otherBodyBytes: Int64 = 0

  /// Creates a header. The defaults are the counts of an empty store.
  package init(
    key: String, epoch: String, lastSequence: Int64 = 0, newest: Int64 = 0, live: Int64 = 0,
    deleted: Int64 = 0, bytes: Int64 = 0, otherBodyBytes: Int64 = 0
  ) {
    self.key = key
    self.epoch = epoch
    self.lastSequence = lastSequence
    self.newest = newest
    self.live = live
    self.deleted = deleted
    self.bytes = bytes
    self.otherBodyBytes = otherBodyBytes
  }

  package static func freshEpoch() -> String { Hex.random() }

  /// The counts as a ``StoreInfo``.
  package var info: StoreInfo {
    StoreInfo(
      documentCount: live, deletedCount: deleted, lastSequence: lastSequence, bodyBytes: bytes,
      keptBytes: otherBodyBytes, epoch: epoch)
  }

  package var checksum: Checksum {
    var checksum = Checksum(.header)
    checksum.append(key)
    checksum.append(epoch)
    for count in [lastSequence, live, deleted, bytes, newest, otherBodyBytes] {
      checksum.append(count)
    }
    return checksum
  }
}
