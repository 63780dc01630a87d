package import Documents

/// What a revision says, as it is stored: with the winner or beside it.
package struct StoredBody {
  /// The bytes, `{…}`.
  package let bytes: [UInt8]
  /// What it must add up to; see ``Checksum/body(_:_:_:)``.
  package let checksum: Int64
  /// When the revision came.
  package var arrival = StoredArrival.unknown

  /// A body to be stored, or as read.
  package init(bytes: [UInt8], checksum: Int64, arrival: StoredArrival = .unknown) {
    self.bytes = bytes
    self.checksum = checksum
    self.arrival = arrival
  }
}

/// Where a body stands that is not the winner's.
package struct BodyPlace {
  /// The row's number, for an engine whose rows have one.
  package let number: Int64
  /// Whose it is.
  package let revision: RevisionID
  /// How many bytes it has.
  package let count: Int64

  /// A place as read.
  package init(number: Int64 = 0, revision: RevisionID, count: Int64) {
    self.number = number
    self.revision = revision
    self.count = count
  }
}

/// Old revisions of a document's history that are stored apart from its row.
package struct StoredPiece {
  /// The revisions.
  package let piece: HistoryPiece
  /// What it must add up to; see ``Checksum/piece(_:_:)``.
  package let checksum: Int64

  /// A piece to be stored, or as read.
  package init(piece: HistoryPiece, checksum: Int64) {
    self.piece = piece
    self.checksum = checksum
  }
}
