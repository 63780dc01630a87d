import Documents
import Lanes
import SQLite
import Stores

/// Looking for damage while the store is used.
extension SQLiteStorage {
  func mend(
    _ extent: Mending.Extent, at now: Timestamp, pause: Duration
  ) async throws -> Mending {
    do {
      let outcome = try await mendAll(extent, at: now, pause: pause)
      counters.count(outcome, in: file.place)
      return outcome
    } catch {
      let error = ServiceError.translated(error)
      counters.countFailure(error)
      throw error
    }
  }

  /// A piece is looked at in one turn of the store's, and what is wrong in it is mended in one transaction; between
  /// pieces others have their turn.
  private func mendAll(
    _ extent: Mending.Extent, at now: Timestamp, pause: Duration
  ) async throws -> Mending {
    var outcome = try mendStructure()
    outcome += try mending(extent, at: now) { mending in
      try mending.mendIndexes(all: pause == .zero)
    }
    var place: [UInt8]? = []
    while let start = place {
      let piece = try look(extent, at: now).damagedLocals(after: start)
      place = piece.last
      if piece.isDamaged {
        outcome += try mending(extent, at: now) { mending in
          try mending.mendLocals()
        }
        place = nil
      }
      if place != nil { try await Self.rest(pause) }
    }
    var last: Int64? = .min
    while let start = last {
      let piece = try look(extent, at: now).damaged(after: start)
      if !piece.numbers.isEmpty {
        outcome += try mending(extent, at: now) { mending in
          for number in piece.numbers { try mending.mend(at: number) }
        }
      }
      last = piece.last
      if last != nil { try await Self.rest(pause) }
    }
    return outcome
  }

  /// Others have their turn.
  private static func rest(_ pause: Duration) async throws {
    guard pause > .zero else { return await Task.yield() }
    // It ends at once when its task does.
    guard (try? await Task.sleep(for: pause)) != nil else { throw ServiceError.ended }
  }

  private func look(
    _ extent: Mending.Extent, at now: Timestamp
  ) throws -> StoreMending {
    guard let rows else { throw failure ?? .closed }
    return StoreMending(rows: rows, extent: extent, now: now, header: header)
  }

  /// Runs what mends in one transaction, which is committed where anything was written.
  private func mending(
    _ extent: Mending.Extent, at now: Timestamp,
    _ work: (inout StoreMending) throws -> Void
  ) throws -> Mending {
    guard !isReadOnly else { throw ServiceError.readOnly }
    try prepareToWrite()
    guard let rows else { throw ServiceError.closed }
    var mending = StoreMending(rows: rows, extent: extent, now: now, header: header)
    do {
      try rows.connection.begin()
      try work(&mending)
      guard mending.outcome.hasChanged else {
        try rows.connection.rollback()
        return mending.outcome
      }
      if !mending.outcome.lost.isEmpty { try mending.notePurges() }
      try rows.recount(&mending.header)
      let next = mending.header
      try next.write(to: rows.connection)
      try LanePool.blocking { try rows.connection.commit() }
    } catch {
      undo(rows, after: error)
      throw error
    }
    rows.forgetTransaction()
    header = mending.header
    return mending.outcome
  }

  /// Small files are looked through by SQLite itself as at each opening, and their indexes made anew.
  private func mendStructure() throws -> Mending {
    if let failure { throw failure }
    guard let rows else { throw ServiceError.closed }
    guard try rows.connection.pageCount() <= Connection.checkedPages else {
      return Mending()
    }
    let findings = try rows.connection.integrityCheck(.full)
    guard !findings.isEmpty else { return Mending() }
    try prepareToWrite()
    try rows.connection.mendIndexes(after: findings)
    rows.forgetTransaction()
    var outcome = Mending()
    outcome.mended = 1
    return outcome
  }
}

extension Connection {
  /// Makes everything anew that follows from the rows of a store's file: SQLite's indexes and the order of local
  /// documents. Query indexes go: they are made anew when they are asked.
  ///
  /// In one transaction, which leaves the file as it was where the check finds something still.
  /// - Parameter findings: what the check found.
  /// - Throws: `damaged` with these where that does not help.
  func mendIndexes(after findings: [String]) throws {
    let rows = StoreRows(self)
    let isMended = try attempt {
      let locals = try rows.localsAsFound()
      try rows.dropIndexes()
      try rows.replaceLocals(with: locals)
      try execute("REINDEX")
    }
    guard isMended else { throw ServiceError.damaged(findings.prefix(3).joined(separator: "; ")) }
  }

  /// Runs work in a transaction, and commits it if the check finds nothing wrong any more.
  private func attempt(_ work: () throws -> Void) throws -> Bool {
    do {
      try begin()
      try work()
      if try integrityCheck(.full).isEmpty {
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
