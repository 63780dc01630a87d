import Documents
import SQLite
import Scheduling
import Stores

/// Finding and repairing damage while the store is in use.
extension SQLiteStorage {
  func repair(
    _ extent: RepairOutcome.Extent, at now: Timestamp, pause: Duration
  ) async throws -> RepairOutcome {
    do {
      let outcome = try await repairAll(extent, at: now, pause: pause)
      await file.run { file in file.note(outcome) }
      return outcome
    } catch {
      let error = ServiceError.translated(error)
      counters.countFailure(error)
      throw error
    }
  }

  /// Checks the store piece by piece. One call checks a piece, and one transaction repairs what is damaged in it. Between
  /// pieces, other calls on the store run.
  private func repairAll(
    _ extent: RepairOutcome.Extent, at now: Timestamp, pause: Duration
  ) async throws -> RepairOutcome {
    var outcome = try await file.run { file in try file.repairStructure() }
    outcome += try await file.run { file in
      try file.withRepair(extent, at: now) { repair in
        try repair.repairHeader()
        try repair.repairIndexes(all: pause == .zero)
      }
    }
    var lastID: [UInt8]? = []
    while let start = lastID {
      let (last, repaired) = try await file.run { file in
        let piece = try file.look(extent, at: now).damagedLocals(after: start)
        guard piece.isDamaged else { return (piece.last, RepairOutcome()) }
        return (nil, try file.withRepair(extent, at: now) { repair in try repair.repairLocals() })
      }
      outcome += repaired
      lastID = last
      if lastID != nil { try await Self.rest(pause) }
    }
    var last: Int64? = .min
    while let start = last {
      let (next, repaired) = try await file.run { file in
        let piece = try file.look(extent, at: now).damaged(after: start, within: Slice(of: nil))
        guard !piece.numbers.isEmpty else { return (piece.last, RepairOutcome()) }
        let repaired = try file.withRepair(extent, at: now) { repair in
          for number in piece.numbers { try repair.repair(at: number) }
        }
        return (piece.last, repaired)
      }
      outcome += repaired
      last = next
      if last != nil { try await Self.rest(pause) }
    }
    return outcome
  }

  /// Lets other calls on the store run.
  private static func rest(_ pause: Duration) async throws {
    guard pause > .zero else { return await Task.yield() }
    // A cancelled task ends the pause at once.
    guard (try? await Task.sleep(for: pause)) != nil else { throw ServiceError.ended }
  }
}

extension StoreFile {
  /// Counts what a repair has found.
  fileprivate func note(_ outcome: RepairOutcome) { counters.count(outcome, in: file.relativePath) }

  fileprivate func look(_ extent: RepairOutcome.Extent, at now: Timestamp) throws -> StoreRepair {
    guard let rows else { throw failure ?? .closed }
    return StoreRepair(rows: rows, extent: extent, now: now, header: header)
  }

  /// Runs repairs in one transaction, which is committed if they changed anything.
  fileprivate func withRepair(
    _ extent: RepairOutcome.Extent, at now: Timestamp,
    _ work: (inout StoreRepair) throws -> Void
  ) throws -> RepairOutcome {
    guard !isReadOnly else { throw ServiceError.readOnly }
    try access.begin(key)
    defer { access.end(key) }
    try prepareToWrite()
    guard let rows else { throw ServiceError.closed }
    var repair = StoreRepair(rows: rows, extent: extent, now: now, header: header)
    do {
      try rows.connection.begin()
      try work(&repair)
      guard repair.outcome.hasChanged else {
        try rows.connection.rollback()
        return repair.outcome
      }
      if !repair.outcome.lost.isEmpty { try repair.notePurges() }
      try rows.recount(&repair.header)
      let next = repair.header
      try next.write(to: rows.connection)
      try clock.blocking { try rows.connection.commit() }
    } catch {
      undo(rows, after: error)
      throw error
    }
    rows.forgetTransaction()
    header = repair.header
    return repair.outcome
  }

  /// Lets SQLite check a small file completely, as at each opening, and rebuilds its indexes if they are damaged.
  fileprivate func repairStructure() throws -> RepairOutcome {
    if let failure { throw failure }
    guard let rows else { throw ServiceError.closed }
    guard try rows.connection.pageCount() <= Connection.checkedPages else { return RepairOutcome() }
    let findings = try rows.connection.integrityCheck()
    guard !findings.isEmpty else { return RepairOutcome() }
    try prepareToWrite()
    try rows.connection.repairIndexes(after: findings, as: blank)
    rows.forgetTransaction()
    var outcome = RepairOutcome()
    outcome.repaired = 1
    return outcome
  }
}

extension Connection {
  /// Rebuilds everything that follows from the rows of a store's file: SQLite's indexes, and the order of local
  /// documents and of history pieces. Query indexes are deleted; queries build them again.
  ///
  /// All of it is one transaction. If the check still finds damage, the transaction is rolled back.
  /// - Parameter findings: the damage that the check found.
  /// - Throws: `damaged` with these findings when the damage remains.
  func repairIndexes(after findings: [String], as blank: BlankDatabase) throws {
    let rows = StoreRows(self, as: blank)
    let isRepaired = try attempt {
      let pieces = try rows.piecesAsFound()
      try rows.dropIndexes()
      try rows.replaceLocals { $0 }
      try rows.replacePieces(with: pieces)
      try execute("REINDEX")
    }
    guard isRepaired else { throw ServiceError.damaged(findings.prefix(3).joined(separator: "; ")) }
  }

  /// Runs work in a transaction, and commits it if the check then finds no damage.
  private func attempt(_ work: () throws -> Void) throws -> Bool {
    do {
      try begin()
      try work()
      if try integrityCheck().isEmpty {
        try commit()
        return true
      }
    } catch {
      guard let error = error as? SQLiteError, error.isDamage || error.code == .constraint
      else {
        try rollback()
        throw error
      }
    }
    try rollback()
    return false
  }
}

/// Reading rows without verifying them, and replacing them by repaired ones.
extension StoreRows: RepairTables {
  /// Whether the index of the ids contains a document.
  func isIndexed(_ document: StoredDocument) throws -> Bool {
    let found = try connection.integer(
      "SELECT sequence FROM documents INDEXED BY sqlite_autoindex_documents_1 WHERE id = ?1",
      .text(document.id.text))
    return found == document.sequence
  }

  /// All data of a document in the file, unverified, by the sequence number of its row.
  func damagedDocument(at number: Int64) throws -> DamagedDocument? {
    let found = try connection.statement(
      StoredDocument.selected, ", body, tree FROM documents WHERE sequence = ?1"
    ).first(.integer(number)) { row in
      DamagedDocument(
        head: RowValues(
          kind: .head,
          values: [
            .integer(row.int64(0)), .text(row.bytes(1)), .integer(row.int64(2)),
            .integer(row.int64(3)), .text(row.bytes(4)), .integer(row.int64(5)),
            .optionalText(row.isNull(6) ? nil : row.bytes(6)), .integer(row.int64(7)),
            .integer(row.int64(8)), .integer(row.int64(9)),
            .optionalInteger(row.isNull(10) ? nil : row.int64(10)),
          ], checksum: row.int64(11)),
        body: RowValues(kind: .body, values: [], content: row.bytes(12), checksum: 0),
        tree: row.isNull(13)
          ? nil : RowValues(kind: .tree, values: [], content: row.bytes(13), checksum: 0),
        others: [])
    }
    guard var found else { return nil }
    found.others = try bodiesAsFound(of: found.head.integer(2), id: found.head.text(1))
    return found
  }

  /// The bodies of a document's other revisions, unverified.
  func bodiesAsFound(of first: Int64, id: String) throws -> [(number: Int64, row: RowValues)] {
    guard try has(.bodies) else { return [] }
    return try connection.statement(
      "SELECT number, generation, digest, body_checksum, body FROM bodies WHERE first = ?1"
    ).all(.integer(first)) { row in
      (
        row.int64(0),
        RowValues(
          kind: .body,
          values: [.text(Array(id.utf8)), .integer(row.int64(1)), .text(row.bytes(2))],
          content: row.bytes(4), checksum: row.int64(3))
      )
    }
  }

  /// Replaces the stored rows of a document by the repaired ones.
  func replace(_ number: Int64, with document: DamagedDocument) throws {
    guard let row = document.head.document else { return }
    let body = StoredBody(
      bytes: document.body.content, checksum: row.bodyChecksum,
      arrival: try arrival(at: number) ?? .unknown)
    try connection.run("DELETE FROM documents WHERE sequence = ?1", .integer(number))
    try insert(row, body: body, tree: document.tree?.content)
    for (number, other) in document.others where other.isSound {
      guard let revision = other.revision else { continue }
      try connection.run(
        """
        UPDATE bodies SET generation = ?1, digest = ?2, body_checksum = ?3, body = ?4
        WHERE number = ?5
        """,
        .integer(revision.generation), .text(revision.digest.text), .integer(other.checksum),
        .bytes(other.content), .integer(number))
    }
  }

  func reindex() throws { try connection.execute("REINDEX") }

  func removeRow(at number: Int64) throws {
    try connection.run("DELETE FROM documents WHERE sequence = ?1", .integer(number))
  }

  func removeBody(at number: Int64) throws {
    try connection.run("DELETE FROM bodies WHERE number = ?1", .integer(number))
  }

  /// Counts all rows again, because damaged rows may have been counted wrongly. Also removes bodies and history pieces
  /// that belong to no document.
  func recount(_ header: inout StoreHeader) throws {
    var kept: Int64 = 0
    if try has(.bodies) {
      try connection.run("DELETE FROM bodies WHERE first NOT IN (SELECT first FROM documents)")
      kept = try connection.integer("SELECT coalesce(sum(length(body)), 0) FROM bodies") ?? 0
    }
    if try has(.histories) {
      try connection.run("DELETE FROM histories WHERE first NOT IN (SELECT first FROM documents)")
    }
    let counts = try connection.statement(
      """
      SELECT coalesce(sum(is_deleted = 0), 0), coalesce(sum(is_deleted = 1), 0),
        coalesce(sum(length(body)), 0), coalesce(max(sequence), 0)
      FROM documents NOT INDEXED
      """
    ).first { row in
      (row.int64(0), row.int64(1), row.int64(2), row.int64(3), kept)
    }
    guard let counts else { return }
    (header.live, header.deleted, header.bytes, header.newest, header.otherBodyBytes) = counts
    header.lastSequence = max(header.lastSequence, header.newest)
  }
}

extension StoreRows {
  /// Checks the body, the history and the other bodies of a document whose columns are sound.
  /// - Parameter lengths: receives the length of each checked body.
  /// - Throws: `integrity` for the first damaged value.
  func check(
    _ document: StoredDocument, _ body: [UInt8], tree encoded: [UInt8], into lengths: inout [Int]
  ) throws {
    lengths.append(body.count)
    _ = try document.document(body)
    guard document.first >= 1, document.first <= document.sequence else {
      throw ServiceError.integrity("its first change has the number \(document.first)")
    }
    let tree = try document.tree(encoded)
    guard let winner = tree.winner, winner.revision == document.revision,
      winner.isDeleted == document.isDeleted
    else { throw ServiceError.integrity("the row's revision is not the tree's winner") }
    _ = try document.whole(tree) { try pieces(of: document.first) }
    try checkBodies(of: document, tree, into: &lengths)
  }

  /// Checks that each body of another revision matches its checksum, and that no leaf lacks a body.
  private func checkBodies(
    of document: StoredDocument, _ tree: RevisionTree, into lengths: inout [Int]
  ) throws {
    var missing = Set(tree.nodes.lazy.filter(\.isLeaf).map(\.revision))
    missing.remove(document.revision)
    guard try has(.bodies) else {
      guard missing.isEmpty else { throw ServiceError.integrity("the body of a leaf is missing") }
      return
    }
    try connection.statement(
      "SELECT generation, digest, body_checksum, body FROM bodies WHERE first = ?1"
    ).query(.integer(document.first)) { row in
      let digest = (try? row.string(1)) ?? ""
      let revision = RevisionID(generation: Int(clamping: row.int64(0)), digest: digest)
      let bytes = row.bytes(3)
      lengths.append(bytes.count)
      guard Checksum.body(document.id, revision, bytes).matches(row.int64(2)) else {
        throw ServiceError.integrity("the body of one of its revisions fails its checksum")
      }
      missing.remove(revision)
    }
    guard missing.isEmpty else { throw ServiceError.integrity("the body of a leaf is missing") }
  }
}
