import SQLite
import Scheduling
import Stores

/// Commits of waiting updates.
extension StoreFile {
  /// A commit starts no further rule after this time.
  static let longestCommit = Duration.milliseconds(10)

  /// Whether the log is long enough to be copied into the file.
  var isLogLong: Bool { rows?.connection.isLogLong ?? false }
  /// Whether the file is new and something is committed in it.
  var isFreshlyWritten: Bool { isFresh && header.lastSequence > 0 }

  /// Copies a long log into the file.
  func copyLog() {
    guard failure == nil else { return }
    clock.blocking { rows?.connection.copyLongLog() }
  }

  /// Empties the log of a new file after its first commit. Many guests write only once, and the log takes as much space
  /// as the file.
  func settle() {
    guard isFresh, failure == nil else { return }
    isFresh = false
    clock.blocking { _ = try? rows?.connection.checkpoint(.truncate) }
  }

  /// Runs a batch of updates in one transaction.
  ///
  /// A failure that one update alone may cause (a damaged row, no room for a large body) makes each update run in its
  /// own transaction. After an error of the disk none runs again, because a second fsync may report success for data
  /// that the first one lost.
  /// - Returns: the updates that must wait for the next commit, because this one took ``longestCommit``.
  func commit(_ batch: [any PendingUpdate]) -> ArraySlice<any PendingUpdate> {
    do { try access.begin(key) } catch {
      for update in batch { finish(update, error) }
      return []
    }
    defer { access.end(key) }
    do {
      try prepareToWrite()
      return batch.dropFirst(try transactOrUndo(batch))
    } catch {
      let error = ServiceError.translated(error)
      if batch.count > 1, failure == nil, rows != nil {
        for update in batch { _ = commit([update]) }
      } else if (error as? ServiceError)?.code == .storageFull, failure == nil {
        for update in batch { commitOnFullDisk(update) }
      } else {
        for update in batch { finish(update, error) }
      }
      return []
    }
  }

  /// Runs a batch in one transaction, and rolls it back when it fails.
  /// - Returns: the number of updates that ran, at least one; the others must wait.
  func transactOrUndo(_ batch: [any PendingUpdate]) throws -> Int {
    guard let rows else { throw ServiceError.closed }
    do {
      return try transact(batch, rows)
    } catch {
      undo(rows, after: error)
      throw error
    }
  }

  /// Finishes an update with the error that prevented its commit.
  func finish(_ update: any PendingUpdate, _ error: any Error) {
    let error = ServiceError.translated(error)
    counters.countFailure(error)
    update.finish(.failure(error))
  }

  /// Savepoints are not needed: a rule that throws has written nothing yet, and a failed write ends the whole batch.
  private func transact(_ batch: [any PendingUpdate], _ rows: StoreRows) throws -> Int {
    let connection = rows.connection
    let begun = ContinuousClock.now
    try connection.begin()
    var writer = StoreWriter(rows: rows, header: header)
    var outcomes: [Result<Void, any Error>] = []
    outcomes.reserveCapacity(batch.count)
    for update in batch {
      guard outcomes.isEmpty || ContinuousClock.now - begun < Self.longestCommit else { break }
      if update.work?.hasEnded ?? false {
        outcomes.append(.failure(ServiceError.ended))
        continue
      }
      outcomes.append(
        try clock.charging([update.work]) {
          try run(update, &writer, rows)
        })
      latest = max(latest, update.now)
    }
    let next = writer.header
    if writer.hasWritten {
      if next != header { try next.write(to: connection) }
      try clock.blocking { try connection.commit() }
      let updates = outcomes.count { (try? $0.get()) != nil }
      counters.count { counts in
        counts.commits += 1
        counts.updates += updates
      }
    } else {
      try connection.rollback()
    }
    if next != header { counters.figures.note(next) }
    header = next
    for (update, outcome) in zip(batch, outcomes) { update.finish(outcome) }
    return outcomes.count
  }

  /// Runs one rule and writes the changes that it records.
  /// - Returns: the rule's outcome; an error that the rule throws is its outcome.
  /// - Throws: an error that ends the whole transaction.
  private func run(
    _ update: any PendingUpdate, _ writer: inout StoreWriter<StoreRows>, _ rows: StoreRows
  ) throws -> Result<Void, any Error> {
    let loaded = LoadedDocuments(update.ids, in: rows)
    let view = SQLiteView(
      rows: rows, header: writer.header, now: update.now, slice: Slice(of: update.work),
      loaded: loaded)
    var changes = StoreChanges(of: view)
    do {
      try update.run(&changes)
      try requireTransaction(on: rows.connection)
      let isThorough = !changes.forgotten.isEmpty
      if isThorough { try rows.connection.setSecureDelete(.thorough) }
      defer { if isThorough { try? rows.connection.setSecureDelete(.whereFree) } }
      return .success(try writer.write(changes, of: loaded, at: update.now))
    } catch {
      guard !writer.isWriting else { throw error }
      try requireTransaction(on: rows.connection)
      return .failure(ServiceError.translated(error))
    }
  }

  /// SQLite ends a transaction by itself after some errors of the disk. If a rule catches such an error, its writes
  /// must not be committed one by one.
  private func requireTransaction(on connection: Connection) throws {
    guard !connection.inTransaction else { return }
    throw ServiceError.storage("rolled back")
  }

  /// Rolls the transaction back. After an error of the disk, or a failed rollback, sets ``failure``, so that nothing
  /// more is written.
  func undo(_ rows: StoreRows, after error: any Error) {
    if let error = ServiceError.translated(error) as? ServiceError, error.code == .storage {
      failure = error
    }
    rows.forgetTransaction()
    do { try rows.connection.rollback() } catch { failure = ServiceError(engine: error) }
  }
}
