import Documents
import Stores

/// Finding and repairing damage while nodes use the store. One statement reads a piece, and one transaction, which has
/// the lock on the store's row, repairs what is damaged in it.
extension PostgresStorage {
  func repair(
    _ extent: RepairOutcome.Extent, at now: Timestamp, pause: Duration
  ) async throws -> RepairOutcome {
    do {
      let outcome = try await repairAll(extent, at: now, pause: pause)
      writePool.counters.note(outcome)
      return outcome
    } catch { throw ServiceError.translated(error) }
  }

  private func repairAll(
    _ extent: RepairOutcome.Extent, at now: Timestamp, pause: Duration
  ) async throws -> RepairOutcome {
    var outcome = RepairOutcome()
    // Before rows that can't be repaired are removed, which the store has counted, too.
    let missing = try await look { try PostgresView.missingDocuments(in: $0) }
    var lastID: [UInt8]? = []
    while let start = lastID {
      let found = try await look { try PostgresView.damagedLocals(after: start, in: $0) }
      if !found.damaged.isEmpty {
        outcome += try await mend(extent, at: now) { repair in
          for id in found.damaged { try repair.rows.repairLocal(id, &repair) }
          guard repair.outcome.dropped > 0 else { return }
          try repair.notePurges(after: repair.rows.purgeCount)
        }
      }
      lastID = found.last
      if pause > .zero { try await Task.sleep(for: pause) }
    }
    var last: Int64? = .min
    while let start = last {
      let (damaged, end) = try await look { snapshot in
        let search = try DamageSearch(after: start, in: snapshot)
        return (search.findings.keys.sorted(), search.last)
      }
      if !damaged.isEmpty {
        outcome += try await mend(extent, at: now) { repair in
          for number in damaged { try repair.repair(at: number) }
          guard !repair.outcome.lost.isEmpty else { return }
          try repair.notePurges(after: repair.rows.purgeCount)
        }
      }
      last = end
      if pause > .zero { try await Task.sleep(for: pause) }
    }
    if try await look({ try PostgresView.hasDamagedIndexes(in: $0) }) {
      outcome += try await mend(extent, at: now) { repair in
        try repair.rows.removeIndexes()
        repair.outcome.dropped += 1
      }
    }
    let counts = try await mend(extent, at: now) { repair in
      let former = repair.header
      try repair.rows.recount(&repair.header)
      guard repair.header != former else { return }
      if missing > 0 { repair.outcome.missing = missing } else { repair.outcome.repaired += 1 }
    }
    // Counts that a repair has changed are not one more damage.
    if !outcome.hasChanged { outcome.repaired += counts.repaired }
    outcome.missing = counts.missing
    return outcome
  }

  private func look<Value: Sendable>(
    _ body: @escaping @Sendable (Snapshot) throws -> Value
  ) async throws -> Value {
    try await readPool.repeating { connection in
      try self.withRows(on: connection) { rows in
        let snapshot = Snapshot(of: rows.number, epoch: rows.epoch, on: connection)
        defer { snapshot.end() }
        return try body(snapshot)
      }
    }
  }

  /// Runs repairs in one transaction, which is committed if they changed anything.
  private func mend(
    _ extent: RepairOutcome.Extent, at now: Timestamp,
    _ work: @escaping @Sendable (inout DocumentRepair<WriteTransaction>) throws -> Void
  ) async throws -> RepairOutcome {
    try await writePool.repeating { connection in
      try self.withRows(on: connection) { rows in
        let transaction = try WriteTransaction(
          on: connection, store: rows.number, epoch: rows.epoch, loading: [])
        do {
          _ = try transaction.rows(Call(WriteTransaction.longIdle))
          var repair = DocumentRepair(
            rows: transaction, extent: extent, now: now, header: transaction.current.header)
          try work(&repair)
          guard repair.outcome.hasChanged else {
            transaction.undo()
            return repair.outcome
          }
          transaction.current.header = repair.header
          try transaction.commit(at: now.milliseconds)
          self.notices.add(.changed, self.name)
          self.sizes.forget()
          return repair.outcome
        } catch {
          transaction.undo()
          throw error
        }
      }
    }
  }
}

extension WriteTransaction {
  /// The number of purges that is noted in the store; nil for none.
  fileprivate var purgeCount: Int64? { get throws { try local(.purgeCount)?.document.revision } }
}

/// Looking for damage in the rows that do not belong to documents.
extension PostgresView {
  /// How many rows one statement reads.
  private static let rowsAtOnce = 1_000

  /// How many documents the store has counted whose rows are gone.
  fileprivate static func missingDocuments(in source: any RowSource) throws -> Int {
    let header = try source.storeRow().header
    let found = try source.rows(documentCount).first?.integer(0) ?? 0
    return Int(clamping: max(0, header.live + header.deleted - found))
  }

  /// Looks for damaged local documents.
  /// - Returns: the bytes of their ids, and of the last id that was checked; nil at the end.
  fileprivate static func damagedLocals(
    after id: [UInt8], in source: any RowSource
  ) throws -> (damaged: [[UInt8]], last: [UInt8]?) {
    let rows = try source.rows(StoreReader.locals(of: source.store, after: id)).all
    let damaged = rows.filter { row in
      guard let text = row.text(4) else { return true }
      return (try? StoredLocal(row, LocalID(stored: text), in: source.store)) == nil
    }
    return (damaged.map { $0.bytes(4) }, rows.last?.bytes(4))
  }

  /// Whether an index or an entry of one is not as it was written, or an entry leads to no document.
  static func hasDamagedIndexes(in source: any RowSource) throws -> Bool {
    for row in try source.rows(allIndexes).all {
      guard let name = row.text(0),
        checksum(IndexID(name), row.integer(1), row.integer(2), in: source.store)
          .matches(row.integer(3))
      else { return true }
    }
    var last = (number: Int64.min, key: [UInt8](), id: [UInt8]())
    while true {
      let rows = try source.rows(
        allEntries, .integer(last.number), .bytes(last.key), .bytes(last.id), .integer(rowsAtOnce)
      ).all
      for row in rows {
        last = (row.integer(0), row.bytes(1), row.bytes(2))
        guard let id = row.text(2),
          checksum(
            last.number, last.key, DocumentID(stored: id), row.isNull(4) ? nil : row.bytes(4),
            in: source.store
          ).matches(row.integer(3))
        else { return true }
      }
      guard rows.count == rowsAtOnce else { break }
    }
    return try source.rows(strayEntry).first != nil
  }

  private static let documentCount = Statement("SELECT count(*) FROM documents WHERE store = $1")
  private static let allIndexes = Statement(
    "SELECT name, number, sequence, checksum FROM indexes WHERE store = $1")
  private static let strayEntry = Statement(
    """
    SELECT 1::int8 FROM entries e WHERE e.store = $1 AND NOT EXISTS (
      SELECT 1 FROM documents d WHERE d.store = $1 AND d.id = e.id) LIMIT 1
    """)
  private static let allEntries = Statement(
    """
    SELECT number, key, id, checksum, readable(content) FROM entries
    WHERE store = $1 AND (number, key, id) > ($2, $3, $4) ORDER BY number, key, id LIMIT $5
    """)
}
