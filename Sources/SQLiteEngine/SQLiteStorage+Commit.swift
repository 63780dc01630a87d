import Documents
import Lanes
import NIOConcurrencyHelpers
import SQLite
import StoreRecords
import Stores
import Synchronization

/// Shared commits: whoever gets to the lane first commits for all that wait.
extension SQLiteStorage {
  /// A commit takes no further rule after this long.
  static let longestCommit = Duration.milliseconds(10)

  /// Commits what waits, and goes on with what has come meanwhile behind the reads that wait by then.
  func commitWaiting() {
    let batch = inbox.take(atMost: Self.updatesPerCommit)
    if !batch.isEmpty {
      inbox.putBack(commit(batch))
      // After the answers, which are on their way already.
      if rows?.connection.isLogLong ?? false { Task { copyLog() } }
    }
    guard inbox.isEmpty else { return goOn() }
    isCommitting.store(false, ordering: .sequentiallyConsistent)
    // Whoever came just before that has not gone to the lane.
    if !inbox.isEmpty, !isCommitting.exchange(true, ordering: .sequentiallyConsistent) { goOn() }
  }

  private func goOn() { Task { commitWaiting() } }

  private func copyLog() {
    guard failure == nil else { return }
    LanePool.blocking { rows?.connection.copyLongLog() }
  }

  /// Runs a batch in one transaction. When that fails for reasons that may be one update's alone (a
  /// damaged row, no room for a large body), each gets a transaction of its own; after an error of the
  /// disk none does: a second fsync may call a success what the first one lost.
  /// - Returns: those that have to wait for the next commit, since this one took long enough.
  private func commit(_ batch: [any PendingUpdate]) -> ArraySlice<any PendingUpdate> {
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

  /// Runs a batch in one transaction, which is undone when that fails.
  /// - Returns: how many it took, at least one; the others have to wait.
  func transactOrUndo(_ batch: [any PendingUpdate]) throws -> Int {
    guard let rows else { throw ServiceError.closed }
    do {
      return try transact(batch, rows)
    } catch {
      undo(rows, after: error)
      throw error
    }
  }

  /// Gives an update the error that keeps it from being written.
  func finish(_ update: any PendingUpdate, _ error: any Error) {
    let error = ServiceError.translated(error)
    counters.countFailure(error)
    update.finish(.failure(error))
  }

  /// No savepoints: a rule that throws has written nothing yet, and a write that fails ends the batch.
  private func transact(
    _ batch: [any PendingUpdate], _ rows: StoreRows
  ) throws -> Int {
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
        try Work.paying(update.work) {
          try run(update, &writer, rows)
        })
      latest = max(latest, update.now)
    }
    let next = writer.header
    if writer.hasWritten {
      if next != header { try next.write(to: connection) }
      try LanePool.blocking { try connection.commit() }
      counters.countCommit(of: outcomes.count { (try? $0.get()) != nil })
    } else {
      try connection.rollback()
    }
    if next != header { counters.figures.note(next) }
    header = next
    for (update, outcome) in zip(batch, outcomes) { update.finish(outcome) }
    return outcomes.count
  }

  /// Runs one rule and writes what it records.
  /// - Throws: what ends the whole transaction; what the rule throws is its outcome.
  private func run(
    _ update: any PendingUpdate, _ writer: inout StoreWriter<StoreRows>, _ rows: StoreRows
  ) throws -> Result<Void, any Error> {
    let loaded = LoadedDocuments(update.ids, in: rows)
    let view = SQLiteView(
      rows: rows, header: writer.header, now: update.now, loaded: loaded)
    var changes = StoreChanges(of: view)
    do {
      try update.run(&changes)
      try requireTransaction(on: rows.connection)
      return .success(try writer.write(changes, of: loaded, at: update.now))
    } catch {
      guard !writer.isWriting else { throw error }
      try requireTransaction(on: rows.connection)
      return .failure(ServiceError.translated(error))
    }
  }

  /// SQLite ends a transaction by itself after some errors of the disk; a rule that swallowed such an
  /// error must not have its writes committed one by one.
  private func requireTransaction(on connection: Connection) throws {
    guard !connection.inTransaction else { return }
    throw ServiceError(.storage, "The storage could not be read or written", detail: "rolled back")
  }

  /// Undoes what was written, and decides whether anything may follow.
  func undo(_ rows: StoreRows, after error: any Error) {
    if let error = ServiceError.translated(error) as? ServiceError, error.code == .storage {
      failure = error
    }
    rows.forgetTransaction()
    do { try rows.connection.rollback() } catch { failure = ServiceError(engine: error) }
  }
}

/// Runs blocking calls that belong to no store on a lane, off Swift's own threads.
actor LaneWork {
  private let lane: Lane

  nonisolated var unownedExecutor: UnownedSerialExecutor { lane.asUnownedSerialExecutor() }

  /// Work for a lane.
  init(_ lane: Lane) { self.lane = lane }

  /// Runs `work` on the lane's thread.
  func run<Value: Sendable, Failure: Error>(
    _ work: @Sendable () throws(Failure) -> Value
  ) throws(Failure) -> Value {
    try work()
  }
}
