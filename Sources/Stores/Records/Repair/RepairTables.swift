package import Documents

/// What ``DocumentRepair`` needs of an engine's tables besides ``StoreTables``: rows as they are stored, verified or not.
package protocol RepairTables: StoreTables {
  /// All data of a document, unverified, by the sequence number of its row; nil when there is no such row.
  func damagedDocument(at number: Int64) throws -> DamagedDocument?
  /// The bodies of a document's other revisions, unverified, with a number for each that ``removeBody(at:)`` takes.
  func bodiesAsFound(of first: Int64, id: String) throws -> [(number: Int64, row: RowValues)]
  /// Replaces the rows of a document by the repaired ones.
  func replace(_ number: Int64, with document: DamagedDocument) throws
  func removeRow(at number: Int64) throws
  /// Takes a document's row out of the store if it can't be removed, because a value of it can't be read.
  func takeOutUnremovable(at number: Int64) throws
  func removeBody(at number: Int64) throws

  /// The arrivals of a document's revisions, unverified: first the winner's, then those of the other revisions that have
  /// a body.
  func arrivalsAsFound(of document: StoredDocument) throws -> [ArrivalFound]
  func put(_ arrival: StoredArrival, for found: ArrivalFound) throws

  /// A document's columns, and its history without the pieces; nil when there is no such document.
  /// - Throws: `integrity`.
  func newestHistory(of id: DocumentID) throws -> (row: StoredDocument, newest: RevisionTree)?
  /// Replaces the history of a document without the pieces.
  /// - Parameter row: the columns, with the checksum of the new history.
  func replaceHistory(of row: StoredDocument, with tree: [UInt8]) throws

  /// Whether the engine's own indexes lead to a document.
  func isIndexed(_ document: StoredDocument) throws -> Bool
  /// Rebuilds the engine's own indexes.
  func reindex() throws
}

extension RepairTables {
  package func isIndexed(_ document: StoredDocument) throws -> Bool { true }
  package func reindex() throws {}
  package func takeOutUnremovable(at number: Int64) throws {}

  /// The arrival of the winner; unknown when there is none.
  func arrivalOfWinner(of document: StoredDocument) throws -> StoredArrival {
    try arrivalsAsFound(of: document).first { $0.isWinner }?.arrival ?? .unknown
  }

  /// Checks the arrivals of a document's revisions.
  /// - Throws: `integrity` for the first arrival that fails its checksum.
  package func checkArrivals(of document: StoredDocument) throws {
    for found in try arrivalsAsFound(of: document) {
      _ = try found.arrival.arrival(of: found.revision, in: document)
    }
  }
}

/// The stored arrival of one revision, unverified.
package struct ArrivalFound {
  /// The number of the revision's row.
  package let number: Int64
  package let isWinner: Bool
  package let revision: RevisionID
  package let arrival: StoredArrival

  package init(number: Int64, isWinner: Bool, revision: RevisionID, arrival: StoredArrival) {
    self.number = number
    self.isWinner = isWinner
    self.revision = revision
    self.arrival = arrival
  }
}
