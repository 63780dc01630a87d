import Documents
import Lanes
import StoreRecords
import Stores
import Synchronization

/// Shared commits: whoever gets a connection first commits for all of this node that wait.
extension PostgresStorage {
  /// A commit takes no further rule after so long: other nodes wait for the store's row meanwhile.
  static let longestCommit = Duration.milliseconds(10)

  /// Commits what waits, and has another task go on with what has come meanwhile.
  func commitWaiting() async {
    await commitBatch()
    guard inbox.isEmpty else { return goOn() }
    isCommitting.store(false, ordering: .sequentiallyConsistent)
    // Whoever came just before that has not begun.
    if !inbox.isEmpty, !isCommitting.exchange(true, ordering: .sequentiallyConsistent) { goOn() }
  }

  private func goOn() { Task { await self.commitWaiting() } }

  private func commitBatch() async {
    let batch = Batch()
    do {
      try await pool.repeating(isForOthers: true) { connection in
        // What comes while a connection is waited for shares the commit.
        if batch.isEmpty { batch.fill(self.inbox.take(atMost: Self.updatesPerCommit)) }
        if !batch.isEmpty { try self.transact(batch, on: connection) }
      }
    } catch {
      if batch.isEmpty { batch.fill(inbox.take(atMost: Self.updatesPerCommit)) }
      if batch.updates.count > 1, Self.mayBeOnesAlone(error) {
        for update in batch.updates { await commitAlone(update) }
      } else {
        for update in batch.updates { update.finish(.failure(ServiceError.translated(error))) }
      }
      return
    }
    inbox.putBack(batch.rest)
  }

  /// Whether the failure of a batch may be one update's alone, such as a damaged row: each gets a transaction of its
  /// own then. Not where nobody answers.
  private static func mayBeOnesAlone(_ error: any Error) -> Bool {
    switch error {
    case let error as PostgresError: error.isOfValues
    case let error as ServiceError:
      ![.outcomeUnknown, .absent, .unavailable, .overloaded, .readOnly].contains(error.code)
    default: true
    }
  }

  private func commitAlone(_ update: any PendingUpdate) async {
    let batch = Batch()
    batch.fill([update])
    do {
      try await pool.repeating(isForOthers: true) { connection in
        try self.transact(batch, on: connection)
      }
    } catch { update.finish(.failure(ServiceError.translated(error))) }
  }

  /// Runs a batch in one transaction and gives each of its updates an outcome; those that it has no time for are left
  /// in the batch.
  /// - Throws: what ends the transaction as a whole; nothing is written then, and no update has an outcome.
  private func transact(_ batch: Batch, on connection: Connection) throws {
    let ids = batch.updates.reduce(into: Set<DocumentID>()) { $0.formUnion($1.ids) }
    let transaction = try withRows(on: connection) { rows in
      try WriteTransaction(on: connection, store: rows.number, epoch: rows.epoch, loading: ids)
    }
    var outcomes: [Result<Void, any Error>] = []
    var firstWrite: Int?
    do {
      var writer = StoreWriter(rows: transaction, header: transaction.current.header)
      let begun = ContinuousClock.now
      for update in batch.updates {
        guard outcomes.isEmpty || ContinuousClock.now - begun < Self.longestCommit else { break }
        outcomes.append(try run(update, &writer, transaction))
        if writer.hasWritten, firstWrite == nil { firstWrite = outcomes.count - 1 }
      }
      if writer.hasWritten {
        try transaction.commit(at: now.milliseconds)
        pool.counters.commits.add(1, ordering: .relaxed)
        notices.add(.changed, name)
      } else {
        transaction.undo()
      }
    } catch let error as ServiceError where error.code == .outcomeUnknown {
      pool.counters.unknown.add(1, ordering: .relaxed)
      notices.add(.changed, name)
      // Those behind the first write have seen what may not be there.
      for place in outcomes.indices.dropFirst(firstWrite ?? 0) {
        outcomes[place] = .failure(error)
      }
    } catch {
      transaction.undo()
      throw error
    }
    var done = 0
    for (update, outcome) in zip(batch.updates, outcomes) {
      if case .success = outcome { done += 1 }
      update.finish(outcome)
    }
    pool.counters.updates.add(done, ordering: .relaxed)
    batch.drop(outcomes.count)
  }

  /// Runs one rule and takes what it records.
  /// - Throws: what ends the whole transaction; what the rule throws is its outcome.
  private func run(
    _ update: any PendingUpdate, _ writer: inout StoreWriter<WriteTransaction>,
    _ transaction: WriteTransaction
  ) throws -> Result<Void, any Error> {
    if update.work?.hasEnded ?? false { return .failure(ServiceError.ended) }
    note(update.now)
    transaction.current.header = writer.header
    let loaded = LoadedDocuments(update.ids) { id in try transaction.whole(id) }
    let view = PostgresView(source: transaction, now: update.now, loaded: loaded, sizes: sizes)
    return try Work.paying(update.work) {
      var changes = StoreChanges(of: view)
      do {
        try update.run(&changes)
        try transaction.requireWhole()
        try writer.write(changes, of: loaded, at: update.now)
        transaction.current.header = writer.header
        return .success(())
      } catch {
        try transaction.requireWhole()
        guard !writer.isWriting else { throw error }
        return .failure(ServiceError.translated(error))
      }
    }
  }
}

/// Updates that share a commit. Confined to one task at a time: that of ``PostgresStorage/commitWaiting()``, which hands
/// it to a connection's thread and waits.
///
/// Unchecked, because the compiler cannot see that. Proof: it is made in `commitBatch` or `commitAlone`, captured by
/// the one closure that is awaited there, and read after that; no other reference is kept.
private final class Batch: @unchecked Sendable {
  /// The updates, in order.
  private(set) var updates: [any PendingUpdate] = []

  var isEmpty: Bool { updates.isEmpty }
  /// What is left.
  var rest: ArraySlice<any PendingUpdate> { updates[...] }

  func fill(_ updates: [any PendingUpdate]) { self.updates = updates }
  func drop(_ count: Int) { updates.removeFirst(count) }
}
