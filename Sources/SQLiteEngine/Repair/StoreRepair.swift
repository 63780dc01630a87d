import Documents
import Lanes
import SQLite
import StoreRecords
import Stores

/// Checks a store's rows piece by piece and repairs damaged ones. It writes in the caller's transaction.
///
/// A row in which one byte is wrong is repaired. In a document that can't be repaired completely, each branch ends at
/// its newest revision that has a body. A revision without a body is set aside; see ``Damage``.
struct StoreRepair {
  /// The most rows of a piece.
  private static let rowsAtOnce = 256
  /// The most local documents of a piece. All of them are read before the first is checked.
  static let localsAtOnce = 32
  /// The bytes of bodies after which a piece ends: 1 MiB, which are hashed in a few milliseconds.
  private static let bytesAtOnce = 1 << 20

  /// The open file's rows.
  let rows: StoreRows
  /// Whether values that can't be repaired may be set aside.
  let extent: RepairOutcome.Extent
  /// The current time.
  let now: Timestamp
  /// The counts, including the repairs so far.
  var header: StoreHeader
  /// The results so far.
  var outcome = RepairOutcome()
  /// The number of notes of damage written.
  var notes = 0
  /// Whether the indexes were rebuilt already.
  private var hasReindexed = false

  /// Creates a check that has not started.
  init(rows: StoreRows, extent: RepairOutcome.Extent, now: Timestamp, header: StoreHeader) {
    self.rows = rows
    self.extent = extent
    self.now = now
    self.header = header
  }

  /// Checks the documents after a sequence number until the slice is over or the piece is full.
  /// - Returns: the sequence numbers of damaged documents, and the last number checked; nil at the end.
  func damaged(after start: Int64) throws -> (numbers: [Int64], last: Int64?) {
    let statement = try rows.connection.statement(
      StoredDocument.selected, ", body, tree FROM documents WHERE sequence > ?1 ORDER BY sequence")
    try statement.bind(start, at: 1)
    defer { statement.reset() }
    var numbers: [Int64] = []
    var lengths: [Int] = []
    var (count, bytes) = (0, 0)
    while try statement.step() {
      let last = statement.row.int64(0)
      if try !isSound(statement.row, &lengths) { numbers.append(last) }
      bytes += lengths.reduce(0, +)
      lengths = []
      count += 1
      if Slice.isOver || count == Self.rowsAtOnce || bytes >= Self.bytesAtOnce {
        return (numbers, last)
      }
    }
    return (numbers, nil)
  }

  private func isSound(_ row: borrowing Row, _ lengths: inout [Int]) throws -> Bool {
    let found = StoredDocument.reading(row)
    do {
      let document = try found.verified()
      try rows.check(document, found.content, tree: row.bytes(13), into: &lengths)
      try rows.checkArrivals(of: document)
      return try rows.isIndexed(document)
    } catch {
      guard ServiceError(engine: error).code == .integrity else { throw error }
      return false
    }
  }

  /// Repairs a document.
  mutating func repair(at number: Int64) throws {
    guard var found = try rows.damagedDocument(at: number) else { return }
    let wasIndexed = try found.head.document.map { document in
      try rows.isIndexed(document)
    }
    if !found.head.isSound || wasIndexed != true {
      // The indexes do not contain a row's damaged values.
      try reindex()
    }
    let first = found.head.integer(2)
    var repairs = found.repairHead(now: now) ? 1 : 0
    if found.head.integer(2) != first {
      found.others = try rows.bodiesAsFound(of: found.head.integer(2), id: found.head.text(1))
    }
    repairs += found.repairContent()
    if repairs > 0 {
      try rows.replace(number, with: found)
      outcome.repaired += repairs
    } else if wasIndexed == false {
      outcome.repaired += 1
    }
    if found.head.isSound, let row = found.head.document { try repairArrivals(of: row) }
    if !found.isWhole {
      if extent == .everything { try setAside(found, at: number) } else { outcome.left += 1 }
    }
    try repairHistory(of: DocumentID(stored: found.head.text(1)))
  }

  private mutating func reindex() throws {
    guard !hasReindexed else { return }
    try rows.connection.execute("REINDEX")
    hasReindexed = true
  }

  /// Removes lost revisions from the document, or the document from the store.
  private mutating func setAside(
    _ found: DamagedDocument, at number: Int64
  ) throws {
    guard let row = found.head.document, found.head.isSound else {
      try rows.connection.statement("DELETE FROM documents WHERE sequence = ?1")
        .run(.integer(number))
      header.lastSequence += 1
      try note(
        id: found.head.text(1), revision: found.head.revisionText, restored: nil, found.body.content
      )
      return
    }
    for (number, other) in found.others where !other.isSound {
      try rows.connection.statement("DELETE FROM bodies WHERE number = ?1").run(.integer(number))
    }
    guard !found.lacksOnlyAncestors else {
      outcome.dropped += 1
      return
    }
    let rest = found.rest(of: row)
    if rest.older == 0 { try rows.removePieces(of: row.first, below: .max) }
    let body = StoredBody(
      bytes: found.body.content, checksum: row.bodyChecksum,
      arrival: try rows.arrival(at: number) ?? .unknown)
    var writer = StoreWriter(rows: rows, header: header)
    try writer.write(
      Purge(id: row.id, tree: rest),
      replacing: LoadedDocuments.Found(row: row, body: body, tree: rest), at: now)
    header = writer.header
    for (revision, bytes) in found.lostBodies(of: row, keeping: rest) {
      try note(
        id: row.id.text, revision: revision, restored: rest.winner?.revision, bytes)
    }
  }

  private mutating func note(
    id: String, revision: String, restored: RevisionID?, _ bytes: [UInt8]
  ) throws {
    let damage = Damage(id: id, revision: revision, restored: restored, found: now)
    notes += 1
    let edit = LocalEdit(
      LocalID(damage: header.lastSequence, part: notes), damage.note(with: bytes),
      expires: now.adding(seconds: Damage.keptSeconds))
    try rows.apply(edit)
    outcome.lost.append(damage)
  }
}

/// The arrivals of revisions, unverified.
extension StoreRows {
  /// The column of one revision.
  struct ArrivalFound {
    /// The row of `documents` or `bodies`.
    let number: Int64
    /// Whether it is the winner's.
    let isWinner: Bool
    /// The revision.
    let revision: RevisionID
    /// The stored arrival, unverified.
    let arrival: StoredArrival
  }

  /// The arrivals of a document's revisions: first the winner's, then those of the other revisions that have a body.
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

  /// The arrival of the winner in the row with this sequence number.
  func arrival(at number: Int64) throws -> StoredArrival? {
    try connection.statement("SELECT arrival FROM documents WHERE sequence = ?1")
      .first(.integer(number)) { row in StoredArrival(bytes: row.bytes(0)) }
  }

  /// Checks the arrivals of a document's revisions.
  /// - Throws: `integrity` for the first arrival that fails its checksum.
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

extension StoreRepair {
  /// Repairs the arrivals of a document's revisions. An arrival that can't be repaired becomes unknown.
  mutating func repairArrivals(of document: StoredDocument) throws {
    for found in try rows.arrivalsAsFound(of: document) {
      do { _ = try found.arrival.arrival(of: found.revision, in: document) } catch {
        guard ServiceError(engine: error).code == .integrity else { throw error }
        if let repaired = found.arrival.repaired(of: found.revision, in: document) {
          try rows.put(repaired, for: found)
          outcome.repaired += 1
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
  /// The repaired column if one byte of it is wrong; otherwise nil.
  fileprivate func repaired(
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
    guard let repaired = found.repaired(), repaired.values == values else { return nil }
    let written = StoredArrival(bytes: Self.bytes(repaired.checksum) + repaired.content)
    return (try? written.arrival(of: revision, in: document)) == nil ? nil : written
  }
}
