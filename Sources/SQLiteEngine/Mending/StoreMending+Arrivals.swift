import Documents
import SQLite
import Stores

/// When revisions came, whatever the columns say.
extension StoreRows {
  /// The column of one revision.
  struct ArrivalFound {
    /// The row of `documents` or `bodies`.
    let number: Int64
    /// Whether it is the winner's.
    let isWinner: Bool
    /// Whose it is.
    let revision: RevisionID
    /// What stands there.
    let arrival: StoredArrival
  }

  /// When a document's revisions came: the winner first, then those that have a body beside it.
  func arrivalsAsFound(of document: StoredDocument) throws -> [ArrivalFound] {
    let winner = try arrival(at: document.sequence).map { arrival in
      ArrivalFound(
        number: document.sequence, isWinner: true, revision: document.revision, arrival: arrival)
    }
    let others = try connection.statement(
      "SELECT number, generation, digest, arrival FROM bodies WHERE first = ?1"
    ).all(.integer(document.first)) { row in
      ArrivalFound(
        number: row.int64(0), isWinner: false,
        revision: RevisionID(
          generation: Int(clamping: row.int64(1)), digest: (try? row.string(2)) ?? ""),
        arrival: StoredArrival(bytes: row.bytes(3)))
    }
    return (winner.map { [$0] } ?? []) + others
  }

  /// When the winner came whose row has this number.
  func arrival(at number: Int64) throws -> StoredArrival? {
    try connection.statement("SELECT arrival FROM documents WHERE sequence = ?1")
      .first(.integer(number)) { row in StoredArrival(bytes: row.bytes(0)) }
  }

  /// Checks when a document's revisions came.
  /// - Throws: `integrity` for the first that is not what was written.
  func checkArrivals(of document: StoredDocument) throws {
    for found in try arrivalsAsFound(of: document) {
      _ = try found.arrival.arrival(of: found.revision, in: document)
    }
  }

  fileprivate func put(_ arrival: StoredArrival, for found: ArrivalFound) throws {
    let statement =
      found.isWinner
      ? try connection.statement("UPDATE documents SET arrival = ?1 WHERE sequence = ?2")
      : try connection.statement("UPDATE bodies SET arrival = ?1 WHERE number = ?2")
    try statement.run(arrival.binding, .integer(found.number))
  }
}

extension StoreMending {
  /// Computes back when a document's revisions came; what can't be is not known any more.
  mutating func mendArrivals(of document: StoredDocument) throws {
    for found in try rows.arrivalsAsFound(of: document) {
      do { _ = try found.arrival.arrival(of: found.revision, in: document) } catch {
        guard ServiceError(engine: error).code == .integrity else { throw error }
        if let mended = found.arrival.mended(of: found.revision, in: document) {
          try rows.put(mended, for: found)
          outcome.mended += 1
        } else if extent == .everything {
          try rows.put(.unknown, for: found)
          outcome.dropped += 1
        } else {
          outcome.left += 1
        }
      }
    }
  }
}

extension StoredArrival {
  /// The column as it was written, if one byte of it has turned.
  fileprivate func mended(
    of revision: RevisionID, in document: StoredDocument
  ) -> StoredArrival? {
    guard bytes.count > Self.checksumBytes else { return nil }
    let values: [RowValues.Value] = [
      .text(Array(document.id.text.utf8)), .integer(Int64(revision.generation)),
      .text(Array(revision.digest.text.utf8)),
    ]
    let found = RowValues(
      kind: .arrival, values: values, content: Array(bytes.dropFirst(Self.checksumBytes)),
      checksum: checksum)
    guard let mended = found.mended(), mended.values == values else { return nil }
    let written = StoredArrival(bytes: Self.bytes(mended.checksum) + mended.content)
    return (try? written.arrival(of: revision, in: document)) == nil ? nil : written
  }
}
