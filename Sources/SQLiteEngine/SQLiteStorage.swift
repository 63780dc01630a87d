import Documents
import Lanes
import SQLite
import Stores
import Synchronization

/// One store: its file, the one connection to it, and the line of writes that wait for a commit.
///
/// On threads of its own kind, because every call of SQLite may block; nothing in here waits inside a transaction.
actor SQLiteStorage: StoreStorage {
  /// How many updates share a commit at most: enough to make one fsync cheap for each, few enough that
  /// reads of the same store don't wait long behind it.
  static let updatesPerCommit = 128

  /// The store's file.
  let file: DatabaseFile
  /// The store's key, which the file's header must have.
  let key: String
  /// What a file of this version looks like.
  let blank: BlankDatabase
  /// The engine's counts.
  let counters: StorageCounters
  /// Room for deletions on a full disk.
  let reserve: DiskReserve
  /// The updates that wait for a commit.
  let inbox = Inbox<any PendingUpdate>(limit: StoreLimits.pendingUpdates)
  /// Whether a commit is under way or about to be.
  let isCommitting = Atomic<Bool>(false)
  /// How many short reads are under way.
  let inlineReads = Atomic(0)
  /// Where it works.
  let place: InlineExecutor

  /// The open file; nil before opening and after closing.
  var rows: StoreRows?
  /// What the file's header says.
  var header: StoreHeader
  /// The latest moment that an update gave: what reads take for now when they look at expiry.
  var latest = Timestamp(milliseconds: .min)
  /// Whether the file is open for reading only, since its disk took no writes.
  var isReadOnly = false
  /// Whether the log of a crash must be copied before anything is written.
  var hasOldLog = false
  /// Why nothing works until the file is opened anew.
  var failure: StoreError?
  /// The copy that a backup is making; given up before the file is closed or written anew.
  var copy: StoreCopy?

  nonisolated var unownedExecutor: UnownedSerialExecutor { place.asUnownedSerialExecutor() }

  /// A storage that is not open.
  init(
    key: String, file: DatabaseFile, blank: BlankDatabase, counters: StorageCounters,
    reserve: DiskReserve, place: InlineExecutor
  ) {
    self.key = key
    self.file = file
    self.blank = blank
    self.counters = counters
    self.reserve = reserve
    self.place = place
    header = StoreHeader(key: key, epoch: "")
  }

  func read<Value: Sendable>(
    _ query: @escaping @Sendable (any StoreView) throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    do throws(StoreError) {
      if let failure { throw failure }
      guard let rows else { throw .closed }
      // Nobody waits for the answer any more.
      if Slice.isEnded { throw .ended }
      return try query(SQLiteView(rows: rows, header: header, now: latest))
    } catch {
      counters.countFailure(error)
      throw error
    }
  }

  nonisolated func update<Value: Sendable>(
    _ ids: Set<DocumentID>, at now: Timestamp,
    _ decide: @escaping @Sendable (any StoreView) throws(StoreError) -> Decision<Value>
  ) async throws(StoreError) -> Committed<Value> {
    let update = RuleUpdate(ids, now: now, rule: decide)
    guard inbox.append(update) else {
      throw StoreError(.overloaded, "Too many changes of this database wait; try again soon")
    }
    // Whoever is the first goes to the lane; whoever comes meanwhile shares the next commit.
    if !isCommitting.exchange(true, ordering: .sequentiallyConsistent) { await commitWaiting() }
    await update.finished()
    return try update.outcome()
  }

  /// Closing the last connection copies the log into the file and removes it, so that a store at rest is
  /// one file. If that fails the log stays and is copied at the next opening.
  func close() async {
    guard let rows else { return }
    copy = nil
    self.rows = nil
    try? LanePool.blocking { () throws(SQLiteError) in try rows.connection.close() }
  }
}

extension StoreError {
  /// The error of calls that come after the storage was closed.
  static let closed = StoreError(.unavailable, "The database is closed")
}
