import Documents
import NIOConcurrencyHelpers
import Scheduling
import Stores

/// Shared commits: the first task that gets a connection commits all of the store's updates that wait on this node.
extension PostgresStorage {
  /// How long a transaction accepts further rules. Other nodes that write to the store wait meanwhile.
  static let longestCommit = Duration.milliseconds(10)

  /// Commits the waiting updates. A new task commits those that have arrived meanwhile.
  func commitWaiting() async {
    await commitBatch()
    waitingUpdates.endCommit { Work.background { await self.commitWaiting() } }
  }

  private func commitBatch() async {
    let taken = NIOLockedValueBox<[any PendingUpdate]>([])
    do {
      let rest = try await writePool.repeating(for: Self.flow(of: waitingUpdates.request)) {
        connection in try self.transact(self.batch(in: taken), on: connection)
      }
      waitingUpdates.putBack(rest)
    } catch {
      let batch = batch(in: taken)
      if batch.count > 1, Self.mayBeCausedByOneUpdate(error) {
        for update in batch { await commitAlone(update) }
      } else {
        for update in batch { update.finish(.failure(ServiceError.translated(error))) }
      }
    }
  }

  /// The updates of a commit: those that an attempt before has taken, or those that wait by now. So updates that arrive
  /// during the wait for a connection share the commit.
  private func batch(
    in taken: NIOLockedValueBox<[any PendingUpdate]>
  ) -> [any PendingUpdate] {
    taken.withLockedValue { taken in
      if taken.isEmpty { taken = waitingUpdates.take() }
      return taken
    }
  }

  /// On whose account a request's updates wait for a connection.
  private static func flow(of work: Work?) -> FairSemaphore.Flow {
    work.map { .account($0.account) } ?? .everybody
  }

  /// Whether one update alone may have caused the failure of a batch, for example because a row is damaged. Each update
  /// then gets its own transaction. False for errors that concern all updates, such as a database that does not answer.
  private static func mayBeCausedByOneUpdate(_ error: any Error) -> Bool {
    switch error {
    case let error as PostgresError: error.isOfValues
    case let error as ServiceError:
      ![.outcomeUnknown, .absent, .unavailable, .overloaded, .readOnly].contains(error.code)
    default: true
    }
  }

  private func commitAlone(_ update: any PendingUpdate) async {
    do {
      _ = try await writePool.repeating(for: Self.flow(of: update.work)) { connection in
        try self.transact([update], on: connection)
      }
    } catch { update.finish(.failure(ServiceError.translated(error))) }
  }

  /// Runs updates in one transaction and gives each an outcome.
  /// - Returns: those for which there is no time. They have no outcome.
  /// - Throws: errors that end the transaction. Nothing is written then, and no update has an outcome.
  private func transact(
    _ batch: [any PendingUpdate], on connection: Connection
  ) throws -> ArraySlice<any PendingUpdate> {
    guard !batch.isEmpty else { return [] }
    let ids = batch.reduce(into: Set<DocumentID>()) { $0.formUnion($1.ids) }
    let transaction = try withRows(on: connection) { rows in
      try WriteTransaction(
        on: connection, store: rows.number, epoch: rows.epoch, loading: ids,
        edits: batch.count,
        expecting: expected.withLockedValue { expected in
          // Not repeated if it fails.
          defer { expected = nil }
          return expected
        })
    }
    defer { expected.withLockedValue { $0 = transaction.repeated } }
    var outcomes: [Result<Void, any Error>] = []
    var firstWrite: Int?
    do {
      var writer = StoreWriter(rows: transaction, header: transaction.current.header)
      let begun = ContinuousClock.now
      for update in batch {
        guard outcomes.isEmpty || ContinuousClock.now - begun < Self.longestCommit else { break }
        outcomes.append(try run(update, &writer, transaction))
        if writer.hasWritten, firstWrite == nil { firstWrite = outcomes.count - 1 }
      }
      if writer.hasWritten {
        try transaction.commit(at: now.milliseconds)
        writePool.counters.count { $0.commits += 1 }
        notices.add(.changed, name)
      } else {
        transaction.undo()
      }
    } catch let error as ServiceError where error.code == .outcomeUnknown {
      writePool.counters.count { $0.unknown += 1 }
      notices.add(.changed, name)
      // The first write may not be committed. The updates after it have read its result.
      for index in outcomes.indices.dropFirst(firstWrite ?? 0) { outcomes[index] = .failure(error) }
    } catch {
      transaction.undo()
      throw error
    }
    var done = 0
    for (update, outcome) in zip(batch, outcomes) {
      if case .success = outcome { done += 1 }
      update.finish(outcome)
    }
    writePool.counters.count { $0.updates += done }
    return batch.dropFirst(outcomes.count)
  }

  /// Runs one rule and writes the changes that it records.
  /// - Throws: errors that end the transaction. An error that the rule throws is its outcome.
  private func run(
    _ update: any PendingUpdate, _ writer: inout StoreWriter<WriteTransaction>,
    _ transaction: WriteTransaction
  ) throws -> Result<Void, any Error> {
    if update.work?.hasEnded ?? false { return .failure(ServiceError.ended) }
    note(update.now)
    transaction.current.header = writer.header
    let loaded = LoadedDocuments(update.ids) { id in try transaction.whole(id) }
    let view = PostgresView(
      source: transaction, now: update.now, loaded: loaded, sizes: sizes, work: update.work)
    return try transaction.connection.charging([update.work]) {
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
