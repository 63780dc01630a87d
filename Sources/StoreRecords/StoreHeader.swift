package import Stores

/// The one row of a store's file that says whose it is and what it counts.
///
/// It is kept in memory while the store is open and written once a commit.
package struct StoreHeader: Equatable, Sendable {
  /// The store's key; a file under another store's name is found out by it.
  package var key: String
  /// Drawn when the file was made; see `StoreInfo.epoch`.
  package var epoch: String
  /// The number of the last change.
  package var lastSequence: Int64 = 0
  /// The number of the last document, which is less than ``lastSequence`` when a purge came after it.
  package var newest: Int64 = 0
  /// Documents whose winner is live.
  package var live: Int64 = 0
  /// Documents whose winner is a tombstone.
  package var deleted: Int64 = 0
  /// Bytes of the winners' bodies.
  package var bytes: Int64 = 0
  /// Bytes of the other bodies, the rows of `bodies`.
  package var otherBodyBytes: Int64 = 0

  /// A header with these counts; those of an empty store unless said otherwise.
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

  /// What the store tells of itself.
  package var info: StoreInfo {
    StoreInfo(
      documentCount: live, deletedCount: deleted, lastSequence: lastSequence, bodyBytes: bytes,
      keptBytes: otherBodyBytes, epoch: epoch)
  }

  /// What the row must add up to.
  package var checksum: Checksum {
    var checksum = Checksum(.header)
    checksum.append(key)
    checksum.append(epoch)
    for count in [lastSequence, live, deleted, bytes] { checksum.append(count) }
    // As before there were purges, so that files of then are read as they are.
    if newest != lastSequence { checksum.append(newest) }
    if otherBodyBytes != 0 {
      // The column's name.
      checksum.append("kept")
      checksum.append(otherBodyBytes)
    }
    return checksum
  }
}
