package import Documents

/// Repairs damaged rows of a store, in the caller's transaction. The same rules hold for each engine.
///
/// A row in which one byte is wrong is repaired. In a document that can't be repaired completely, each branch ends at
/// its newest revision that has a body. A revision without a body is set aside; see ``Damage``.
package struct DocumentRepair<Rows: RepairTables> {
  package let rows: Rows
  /// Whether values that can't be repaired may be set aside.
  package let extent: RepairOutcome.Extent
  package let now: Timestamp
  /// The counts, including the repairs so far.
  package var header: StoreHeader
  /// The results so far.
  package var outcome = RepairOutcome()
  /// The number of notes of damage written.
  private var notes = 0
  /// Whether the indexes were rebuilt already.
  private var hasReindexed = false

  package init(rows: Rows, extent: RepairOutcome.Extent, now: Timestamp, header: StoreHeader) {
    self.rows = rows
    self.extent = extent
    self.now = now
    self.header = header
  }

  package mutating func repair(at number: Int64) throws {
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
    try rows.reindex()
    hasReindexed = true
  }

  /// Removes lost revisions from the document, or the document from the store.
  private mutating func setAside(_ found: DamagedDocument, at number: Int64) throws {
    guard let row = found.head.document, found.head.isSound else {
      try rows.removeRow(at: number)
      header.lastSequence += 1
      try note(
        id: found.head.text(1), revision: found.head.revisionText, restored: nil, found.body.content
      )
      return
    }
    // Read again: an engine may have given rows other numbers when it replaced them.
    for (number, other) in try rows.bodiesAsFound(of: row.first, id: row.id.text)
    where !other.isSound { try rows.removeBody(at: number) }
    guard !found.lacksOnlyAncestors else {
      outcome.dropped += 1
      return
    }
    let rest = found.rest(of: row)
    if rest.older == 0 { try rows.removePieces(of: row.first, below: .max) }
    let body = StoredBody(
      bytes: found.body.content, checksum: row.bodyChecksum,
      arrival: try rows.arrivalOfWinner(of: row))
    try rows.takeOutUnremovable(at: number)
    var writer = StoreWriter(rows: rows, header: header)
    try writer.write(
      Purge(id: row.id, tree: rest),
      replacing: LoadedDocuments.Found(row: row, body: body, tree: rest), at: now)
    header = writer.header
    for (revision, bytes) in found.lostBodies(of: row, keeping: rest) {
      try note(id: row.id.text, revision: revision, restored: rest.winner?.revision, bytes)
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

  /// Counts one more purge, so that clients with a copy of the store start over. If the count is lost, it continues
  /// from the last sequence number. The count can't be higher than that, because each purge took a sequence number.
  /// - Parameter known: the revision of the document with the count; nil when there is none.
  package func notePurges(after known: Int64?) throws {
    let count = LocalDocument(
      revision: known.map { $0 &+ 1 } ?? header.lastSequence &+ 1, body: Array("{}".utf8))
    try rows.apply(LocalEdit(.purgeCount, count))
  }

  /// Repairs the arrivals of a document's revisions. An arrival that can't be repaired becomes unknown.
  private mutating func repairArrivals(of document: StoredDocument) throws {
    for found in try rows.arrivalsAsFound(of: document) {
      do { _ = try found.arrival.arrival(of: found.revision, in: document) } catch {
        guard ServiceError(error)?.code == .integrity else { throw error }
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

  // Repairing pieces of histories, which contain only ids of old revisions. Losing such ids is like forgetting them
  // because of their age.

  /// Repairs the pieces of a document's history. Everything older than a piece that can't be repaired is removed.
  private mutating func repairHistory(of id: DocumentID) throws {
    guard let found = try? rows.newestHistory(of: id), found.newest.older > 0 else { return }
    let (row, newest) = found
    var sound: [HistoryPiece] = []
    var hasRemoved = false
    for stored in try rows.pieces(of: row.first) {
      if stored.isSound(of: id) {
        sound.append(stored.piece)
      } else if let repaired = stored.repaired(of: id) {
        try rows.removePiece(of: row.first, at: stored.piece.generation)
        try rows.insert(repaired, of: row.first)
        sound.append(repaired.piece)
        outcome.repaired += 1
      } else if extent == .everything {
        try rows.removePiece(of: row.first, at: stored.piece.generation)
        hasRemoved = true
      }
    }
    sound.sort { $0.generation < $1.generation }
    guard (try? newest.completed(by: sound)) == nil else {
      // The removed piece was older than the history that is kept.
      if hasRemoved { outcome.repaired += 1 }
      return
    }
    guard extent == .everything else {
      outcome.left += 1
      return
    }
    try shorten(newest, of: row, to: sound)
    outcome.dropped += 1
  }

  /// Shortens a history to its newest generations without a gap.
  private func shorten(
    _ newest: RevisionTree, of row: StoredDocument, to pieces: [HistoryPiece]
  ) throws {
    var newest = newest
    let first = newest.oldestGeneration + newest.older
    var oldest = first
    for piece in pieces.reversed() where piece.last + 1 == oldest { oldest = piece.generation }
    newest.forgetOlder(to: first - oldest)
    try rows.removePieces(of: row.first, below: newest.older == 0 ? .max : newest.oldestGeneration)
    let tree = newest.encoded
    var row = row
    row.treeChecksum = Checksum.tree(row.id, row.revision, tree).value
    try rows.replaceHistory(of: row, with: tree)
  }
}

extension StoredPiece {
  /// The piece as it was written, if one byte of it is wrong; otherwise nil.
  package func repaired(of id: DocumentID) -> StoredPiece? {
    let name = RowValues.Value.text(Array(id.text.utf8))
    let row = RowValues(
      kind: .history, values: [name, .integer(Int64(piece.generation))], content: piece.bytes,
      checksum: checksum)
    guard let repaired = row.repaired(), repaired.values[0] == name else { return nil }
    return StoredPiece(
      piece: HistoryPiece(generation: Int(repaired.integer(1)), bytes: repaired.content),
      checksum: repaired.checksum)
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
