import Documents
import Scheduling
import StoreRecords
import Stores
import Synchronization

/// One open store of the engine: its file, whose calls run on threads of a pool one at a time, and the updates that wait
/// for a commit.
final class SQLiteStorage: StoreStorage {
  /// The most updates that share one commit: enough to make the cost of an fsync small for each, and few enough that
  /// reads of the same store don't wait long.
  static let updatesPerCommit = 128

  /// The file and its connection.
  let file: Confined<StoreFile>
  let counters: StorageCounters
  /// The updates that wait for a commit.
  private let waitingWrites = WaitingWrites<any PendingUpdate>(limit: StoreLimits.pendingUpdates)
  /// Whether a commit is running or about to start.
  private let isCommitting = Atomic(false)
  /// Whether the engine has created the file just now.
  private let wasCreated = Atomic(false)
  /// The number of reads on the threads of their callers.
  private let inlineReads = Atomic(0)

  var isNew: Bool { wasCreated.load(ordering: .relaxed) }

  /// Creates a storage whose file is not open yet.
  init(
    key: String, file: DatabaseFile, blank: BlankDatabase, counters: StorageCounters,
    reserve: DiskReserve, access: WriteAccess, threads: ThreadPool
  ) {
    self.counters = counters
    self.file = Confined(to: threads) { clock in
      StoreFile(
        key: key, file: file, blank: blank, counters: counters, reserve: reserve, access: access,
        clock: clock)
    }
  }

  /// Notes that the engine has created the file for the present caller.
  func noteCreation() { wasCreated.store(true, ordering: .relaxed) }

  func read<Value: Sendable>(
    _ query: @escaping @Sendable (any StoreView) throws -> Value
  ) async throws -> Value {
    do {
      let work = Work.current
      return try await file.run { file in
        // The caller no longer waits for the answer.
        if work?.hasEnded ?? false { throw ServiceError.ended }
        return try file.read(for: work, query)
      }
    } catch {
      let error = ServiceError.translated(error)
      counters.countFailure(error)
      throw error
    }
  }

  /// Reads on the caller's thread. If the store is busy, or a page must be read from the disk, reads as ``read(_:)``
  /// does. Two switches between threads cost several times as much as such a read.
  ///
  /// When several reads run at the same time, they run on the pool: one after another on one thread, with SQLite's code
  /// in that processor's cache, each takes less time than on its request's thread.
  func readInline<Value: Sendable>(
    _ query: @escaping @Sendable (any StoreView) throws -> Value
  ) async throws -> Value {
    let others = inlineReads.add(1, ordering: .relaxed).oldValue
    defer { inlineReads.subtract(1, ordering: .relaxed) }
    if others == 0,
      let outcome = file.runIfIdle({ file in file.readCached(for: Work.current, query) }) ?? nil
    {
      return try outcome.get()
    }
    return try await read(query)
  }

  func update<Value: Sendable>(
    loading ids: Set<DocumentID>, at now: Timestamp,
    _ rule: @escaping @Sendable (inout StoreChanges) throws -> Value
  ) async throws -> Value {
    let update = RuleUpdate(loading: ids, now: now, rule: rule)
    guard waitingWrites.append(update) else {
      throw ServiceError(.overloaded, "Too many changes of this database wait; try again soon")
    }
    // The first caller starts a commit. Callers that come before it ends share the next commit.
    if !isCommitting.exchange(true, ordering: .sequentiallyConsistent) { startCommit() }
    await Work.waiting { await update.waitForOutcome() }
    return try update.outcome()
  }

  /// Closes the file; see ``StoreFile/close()``.
  func close() async { await file.run { file in file.close() } }

  /// Gives free space back; see ``StoreFile/compact()``.
  func compact() async throws { try await file.run { file in try file.compact() } }
}

/// Shared commits: the first update to come commits all updates that wait.
extension SQLiteStorage {
  /// Commits on a thread of the pool, behind the calls that wait by now. It waits on the account of the first update
  /// that is not overdrawn, so that nobody of a shared list makes the others wait.
  private func startCommit() {
    let works = waitingWrites.all.compactMap(\.work)
    let work = works.first { !$0.account.isOverdrawn } ?? works.first
    file.enqueue(for: work) { file in self.commitWaiting(file) }
  }

  private func commitWaiting(_ file: StoreFile) {
    let batch = waitingWrites.take(atMost: Self.updatesPerCommit)
    if !batch.isEmpty {
      waitingWrites.putBack(file.commit(batch))
      // The log is copied in a call of its own, so that the outcomes of this commit don't wait for it.
      if file.isLogLong { self.file.enqueue { file in file.copyLog() } }
      if file.isFreshlyWritten { self.file.enqueue { file in file.settle() } }
    }
    guard waitingWrites.isEmpty else { return startCommit() }
    isCommitting.store(false, ordering: .sequentiallyConsistent)
    // An update that arrived just before this line did not start a commit itself.
    if !waitingWrites.isEmpty, !isCommitting.exchange(true, ordering: .sequentiallyConsistent) {
      startCommit()
    }
  }
}
