import Documents
import Lanes
import NIOConcurrencyHelpers
import SQLite
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
    _ update: any PendingUpdate, _ writer: inout StoreWriter, _ rows: StoreRows
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

/// An update that waits for its commit, whatever its rule answers.
protocol PendingUpdate: AnyObject, Sendable {
  /// The documents that are read before its rule runs.
  var ids: Set<DocumentID> { get }
  /// The moment that documents are stamped with.
  var now: Timestamp { get }
  /// The request that it belongs to, which pays for it.
  var work: Work? { get }
  /// Whether it has its outcome.
  var isDone: Bool { get }
  /// Runs the rule and keeps its answer; may run again.
  /// - Throws: what the rule throws; `storage` where it breaks the port's rules.
  func run(_ changes: inout StoreChanges) throws
  /// Gives it its outcome, after the commit.
  func finish(_ outcome: Result<Void, any Error>)
}

/// An update with its rule.
final class RuleUpdate<Value: Sendable>: PendingUpdate {
  let ids: Set<DocumentID>
  let now: Timestamp
  let work = Work.current
  private let rule: @Sendable (inout StoreChanges) throws -> Value
  private let state = NIOLockedValueBox(State())

  private struct State {
    /// What the rule answered when it last ran.
    var value: Value?
    var outcome: Result<Value, any Error>?
    /// Who waits for the outcome.
    var caller: CheckedContinuation<Void, Never>?
  }

  /// An update that has not run.
  init(
    loading ids: Set<DocumentID>, now: Timestamp,
    rule: @escaping @Sendable (inout StoreChanges) throws -> Value
  ) {
    self.ids = ids
    self.now = now
    self.rule = rule
  }

  var isDone: Bool { state.withLockedValue { $0.outcome != nil } }

  func run(_ changes: inout StoreChanges) throws {
    let value = try rule(&changes)
    guard !changes.changesTwice else {
      throw ServiceError(.storage, "An update changes a document twice")
    }
    state.withLockedValue { $0.value = value }
  }

  func finish(_ outcome: Result<Void, any Error>) {
    let caller = state.withLockedValue { state in
      switch (outcome, state.value) {
      case (.success, let value?): state.outcome = .success(value)
      case (.success, nil): state.outcome = .failure(ServiceError.closed)
      case (.failure(let error), _): state.outcome = .failure(error)
      }
      defer { state.caller = nil }
      return state.caller
    }
    caller?.resume()
  }

  /// Waits for the outcome, which comes whatever happens.
  func finished() async {
    guard !isDone else { return }
    await withCheckedContinuation { continuation in
      let isDone = state.withLockedValue { state in
        if state.outcome == nil { state.caller = continuation }
        return state.outcome != nil
      }
      if isDone { continuation.resume() }
    }
  }

  /// What became of it.
  func outcome() throws -> Value {
    guard let outcome = state.withLockedValue({ $0.outcome }) else { throw ServiceError.closed }
    return try outcome.get()
  }
}

/// Writes that wait to share a commit, in the order they came.
final class Inbox<Write: Sendable>: Sendable {
  private let waiting = NIOLockedValueBox<[Write]>([])
  private let limit: Int

  /// An empty inbox that takes so many writes at once.
  init(limit: Int) {
    self.limit = limit
  }

  /// Puts a write in the line.
  /// - Returns: false when the line is full.
  func append(_ write: Write) -> Bool {
    waiting.withLockedValue { waiting in
      guard waiting.count < limit else { return false }
      waiting.append(write)
      return true
    }
  }

  /// Puts writes back that were taken and are not done, before all others.
  func putBack(_ writes: ArraySlice<Write>) {
    guard !writes.isEmpty else { return }
    waiting.withLockedValue { $0 = writes + $0 }
  }

  /// Whether nothing waits.
  var isEmpty: Bool { waiting.withLockedValue { $0.isEmpty } }

  /// Takes the first writes out of the line.
  func take(atMost count: Int) -> [Write] {
    waiting.withLockedValue { waiting in
      guard waiting.count > count else {
        defer { waiting = [] }
        return waiting
      }
      let taken = Array(waiting.prefix(count))
      waiting.removeFirst(taken.count)
      return taken
    }
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
