import Documents
import SQLite
import Stores

/// Shared commits: whoever gets to the lane first commits for all that wait.
extension SQLiteStorage {
  /// Commits what waits, until this update is done; mostly another's turn has done it already.
  func commitWaiting(until update: any PendingUpdate) {
    while !update.isDone {
      let batch = inbox.take(atMost: Self.updatesPerCommit)
      guard !batch.isEmpty else { return }
      commit(batch)
    }
  }

  /// Runs a batch in one transaction. When that fails for reasons that may be one update's alone (a
  /// damaged row, no room for a large body), each gets a transaction of its own; after an error of the
  /// disk none does: a second fsync may call a success what the first one lost.
  private func commit(_ batch: [any PendingUpdate]) {
    do throws(StoreError) {
      if let failure { throw failure }
      guard let rows else { throw .closed }
      do throws(StoreError) {
        try transact(batch, rows)
      } catch {
        undo(rows, after: error)
        throw error
      }
    } catch {
      if batch.count > 1, failure == nil, rows != nil {
        for update in batch { commit([update]) }
      } else {
        for update in batch { update.finish(.failure(error)) }
      }
    }
  }

  /// No savepoints: a rule that throws has written nothing yet, and a write that fails ends the batch.
  private func transact(
    _ batch: [any PendingUpdate], _ rows: StoreRows
  ) throws(StoreError) {
    let connection = rows.connection
    try storing(connection.begin)
    var writer = StoreWriter(rows: rows, header: header)
    var outcomes: [Result<[Change], StoreError>] = []
    outcomes.reserveCapacity(batch.count)
    for update in batch {
      let view = SQLiteView(rows: rows, header: writer.header, now: update.now)
      do throws(StoreError) {
        let decision = try update.decide(in: view)
        try requireTransaction(on: connection)
        outcomes.append(
          .success(try writer.write(decision.mutations, decision.locals, at: update.now)))
      } catch {
        guard !writer.isWriting else { throw error }
        try requireTransaction(on: connection)
        outcomes.append(.failure(error))
      }
      latest = max(latest, update.now)
    }
    let next = writer.header
    if writer.hasWritten {
      try storing { () throws(SQLiteError) in
        if next != header { try next.write(to: connection) }
        try connection.commit()
      }
      counters.countCommit(of: outcomes.count { (try? $0.get()) != nil })
    } else {
      try storing(connection.rollback)
    }
    header = next
    for (update, outcome) in zip(batch, outcomes) { update.finish(outcome) }
  }

  /// SQLite ends a transaction by itself after some errors of the disk; a rule that swallowed such an
  /// error must not have its writes committed one by one.
  private func requireTransaction(on connection: Connection) throws(StoreError) {
    guard !connection.inTransaction else { return }
    throw StoreError(.storage, "The storage could not be read or written", detail: "rolled back")
  }

  private func undo(_ rows: StoreRows, after error: StoreError) {
    if error.code == .storage { failure = error }
    do { try rows.connection.rollback() } catch { failure = StoreError(error) }
  }
}
