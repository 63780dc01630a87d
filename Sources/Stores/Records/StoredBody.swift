package import Documents

/// The stored form of a revision's body, of the winner or of another revision.
package struct StoredBody: Sendable {
  /// The bytes, `{…}`.
  package let bytes: [UInt8]
  /// The body's checksum; see ``Checksum/body(_:_:_:)``.
  package let checksum: Int64
  /// When the revision came and from whom.
  package var arrival = StoredArrival.unknown

  package init(bytes: [UInt8], checksum: Int64, arrival: StoredArrival = .unknown) {
    self.bytes = bytes
    self.checksum = checksum
    self.arrival = arrival
  }
}

/// The key of a stored body that is not the winner's.
package struct StoredBodyKey {
  /// The row's number, in an engine whose rows have one.
  package let number: Int64
  package let revision: RevisionID
  /// How many bytes it has.
  package let count: Int64

  package init(number: Int64 = 0, revision: RevisionID, count: Int64) {
    self.number = number
    self.revision = revision
    self.count = count
  }
}
