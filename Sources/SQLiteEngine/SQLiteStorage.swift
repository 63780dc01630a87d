import Documents
import Scheduling
import Stores
import Synchronization

/// One open store of the engine: its file, whose calls run on threads of a pool one at a time, and the updates that wait
/// for a commit.
final class SQLiteStorage: StoreStorage {
  /// The file and its connection.
  let file: Confined<StoreFile>
  let counters: StorageCounters
  private let waitingUpdates = WaitingUpdates()
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

  func read<Value: Sendable>(_ query: @escaping StoreQuery<Value>) async throws -> Value {
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
  func readInline<Value: Sendable>(_ query: @escaping StoreQuery<Value>) async throws -> Value {
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
    loading ids: Set<DocumentID>, at now: Timestamp, _ rule: @escaping UpdateRule<Value>
  ) async throws -> Value {
    let update = RuleUpdate(loading: ids, now: now, rule: rule)
    return try await waitingUpdates.result(of: update) { startCommit() }
  }

  /// Closes the file; see ``StoreFile/close()``.
  func close() async { await file.run { file in file.close() } }

  /// Gives free space back; see ``StoreFile/compact()``.
  func compact() async throws { try await file.run { file in try file.compact() } }

  // MARK: Shared commits: the first update to come commits all updates that wait

  /// Commits on a thread of the pool, behind the calls that wait by now.
  private func startCommit() {
    file.enqueue(for: waitingUpdates.request) { file in self.commitWaiting(file) }
  }

  private func commitWaiting(_ file: StoreFile) {
    let batch = waitingUpdates.take()
    if !batch.isEmpty {
      waitingUpdates.putBack(file.commit(batch))
      // The log is copied in a call of its own, so that the outcomes of this commit don't wait for it.
      if file.isLogLong { self.file.enqueue { file in file.copyLog() } }
      if file.isFreshlyWritten { self.file.enqueue { file in file.settle() } }
    }
    waitingUpdates.endCommit { startCommit() }
  }
}
