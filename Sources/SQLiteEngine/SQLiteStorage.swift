import Documents
import Lanes
import SQLite
import StoreRecords
import Stores
import Synchronization

/// One open store: its file, its only connection, and the queue of updates that wait for a commit.
///
/// The actor runs on a lane, because every call of SQLite may block. No method suspends inside a transaction.
actor SQLiteStorage: StoreStorage {
  /// The most updates that share one commit: enough to make the cost of an fsync small for each, and few enough that
  /// reads of the same store don't wait long.
  static let updatesPerCommit = 128

  /// The store's file.
  let file: DatabaseFile
  /// The store's key, which the file's header must have.
  let key: String
  /// The blank database, with whose table definitions the file is compared.
  let blank: BlankDatabase
  /// The engine's counts.
  let counters: StorageCounters
  /// The disk space that is reserved for deletions on a full disk.
  let reserve: DiskReserve
  /// Whether the engine's stores may be changed.
  let access: WriteAccess
  /// The updates that wait for a commit.
  let inbox = Inbox<any PendingUpdate>(limit: StoreLimits.pendingUpdates)
  /// Whether a commit is running or about to start.
  let isCommitting = Atomic<Bool>(false)
  /// Whether the engine has created the file just now.
  private let wasCreated = Atomic<Bool>(false)
  /// The number of inline reads that are running.
  let inlineReads = Atomic(0)
  /// The executor of this actor, which can also run short reads on the caller's thread.
  let executor: InlineExecutor

  /// The open file; nil before opening and after closing.
  var rows: StoreRows?
  /// What the file's header says.
  var header: StoreHeader
  /// The latest time that an update gave. Reads use it as the current time to decide which local documents have
  /// expired.
  var latest = Timestamp(milliseconds: .min)
  /// Whether the file is open for reading only, because its disk accepted no writes.
  var isReadOnly = false
  /// Whether a log that a crash left must be copied into the file before anything is written.
  var hasOldLog = false
  /// Whether the file has just been created and its first commit is still in the log.
  var isFresh = false
  /// The error that every call throws until the store is opened again; nil while all is well.
  var failure: ServiceError?
  /// The copy that a backup is making. It is abandoned before the file is closed or rewritten.
  var copy: StoreCopy?

  nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
  nonisolated var isNew: Bool { wasCreated.load(ordering: .relaxed) }

  /// Notes that the engine has created the file for the present caller.
  nonisolated func noteCreation() { wasCreated.store(true, ordering: .relaxed) }

  /// Creates a storage whose file is not open yet.
  init(
    key: String, file: DatabaseFile, blank: BlankDatabase, counters: StorageCounters,
    reserve: DiskReserve, access: WriteAccess, executor: InlineExecutor
  ) {
    self.key = key
    self.file = file
    self.blank = blank
    self.counters = counters
    self.reserve = reserve
    self.access = access
    self.executor = executor
    header = StoreHeader(key: key, epoch: "")
  }

  func read<Value: Sendable>(
    _ query: @escaping @Sendable (any StoreView) throws -> Value
  ) async throws -> Value {
    do {
      if let failure { throw failure }
      guard let rows else { throw ServiceError.closed }
      // The caller no longer waits for the answer.
      if Slice.isEnded { throw ServiceError.ended }
      return try query(SQLiteView(rows: rows, header: header, now: latest))
    } catch {
      let error = ServiceError.translated(error)
      counters.countFailure(error)
      throw error
    }
  }

  nonisolated func update<Value: Sendable>(
    loading ids: Set<DocumentID>, at now: Timestamp,
    _ rule: @escaping @Sendable (inout StoreChanges) throws -> Value
  ) async throws -> Value {
    let update = RuleUpdate(loading: ids, now: now, rule: rule)
    guard inbox.append(update) else {
      throw ServiceError(.overloaded, "Too many changes of this database wait; try again soon")
    }
    // The first caller starts a commit on the lane. Callers that come before it ends share the next commit.
    if !isCommitting.exchange(true, ordering: .sequentiallyConsistent) { await commitWaiting() }
    await update.finished()
    return try update.outcome()
  }

  /// Closes the file. SQLite copies the log into the file and removes it when the last connection closes, so a closed
  /// store is one file. If that fails, the log remains and is copied when the store is next opened.
  func close() async {
    guard let rows else { return }
    copy = nil
    self.rows = nil
    try? LanePool.blocking { try rows.connection.close() }
  }
}

/// Short reads on the caller's own thread. Two switches between threads cost several times as much as such a read.
extension SQLiteStorage {
  /// Reads on the caller's thread. If the store is busy, or a page must be read from the disk, reads on the lane as
  /// ``read(_:)`` does.
  ///
  /// When several reads run at the same time, or other requests wait for a processor, they run on the lane: one after
  /// another on one thread, with SQLite's code in that processor's cache, each takes less time than on its request's
  /// thread.
  nonisolated func readInline<Value: Sendable>(
    _ query: @escaping @Sendable (any StoreView) throws -> Value
  ) async throws -> Value {
    let others = inlineReads.add(1, ordering: .relaxed).oldValue
    defer { inlineReads.subtract(1, ordering: .relaxed) }
    if others == 0, LanePool.current?.isCrowded != true,
      let outcome = readOnCallingThread(query)
    {
      return try outcome.get()
    }
    return try await read(query)
  }

  /// Reads on the caller's thread if the store is idle.
  /// - Returns: nil when the read must run on the lane. A read that met a storage error returns nil too: the lane runs
  ///   it again and handles the error.
  private nonisolated func readOnCallingThread<Value: Sendable>(
    _ query: @Sendable (any StoreView) throws -> Value
  ) -> Result<Value, any Error>? {
    let outcome: Result<Value, any Error>?? = executor.runIfIdle {
      assumeIsolated { storage in
        guard storage.failure == nil, let rows = storage.rows else { return nil }
        let view = SQLiteView(rows: rows, header: storage.header, now: storage.latest)
        return CachedPages.withoutDiskReads {
          do {
            return .success(try query(view))
          } catch {
            return .failure(error)
          }
        }
      }
    }
    guard let outcome, let outcome else { return nil }
    if case .failure(let error) = outcome {
      let error = ServiceError.translated(error)
      guard !(ServiceError(error)?.code.isOfStorage ?? false) else { return nil }
    }
    return outcome
  }
}

/// Creating, opening and removing the file.
extension SQLiteStorage {
  /// Opens the file.
  /// - Parameter epoch: the epoch in the registry; nil for a file that is not registered.
  /// - Returns: the file's own epoch.
  /// - Throws: `damaged` for a file that is missing, empty, damaged or another store's; `unavailable`, `storage`,
  ///   `storageFull`, `readOnly`.
  func open(epoch: String?) throws -> String {
    let key = key
    // A draft that a crash left is useless, and nothing depends on its removal.
    try? file.removeDraft()
    adopt(
      try Connection.opening(file, as: blank) { connection in
        let header = try StoreHeader(readingOrRepairingFrom: connection)
        guard header.key.utf8.elementsEqual(key.utf8) else {
          throw ServiceError.damaged("the file is another store's")
        }
        guard epoch?.utf8.elementsEqual(header.epoch.utf8) ?? true else {
          throw ServiceError.damaged("the file is of another life of this store")
        }
        return header
      })
    return header.epoch
  }

  private func adopt(_ opened: Connection.Opened<StoreHeader>) {
    rows = StoreRows(opened.connection, as: blank)
    header = opened.header
    isReadOnly = opened.isReadOnly
    hasOldLog = opened.hasOldLog
    counters.countOpening()
    counters.figures.note(header)
  }

  /// Whether the file exists.
  func fileExists() throws -> Bool { try file.exists() }

  /// Creates the file durably and opens it. The file is not checked as an existing one is, because its bytes were
  /// written just now and it has no log.
  /// - Throws: `storageFull`, also while only changes that free space are written.
  func create(_ image: [UInt8], in directory: DataDirectory) throws {
    guard reserve.isWhole() else { throw ServiceError.full }
    try LanePool.blocking {
      try directory.makeDirectory(of: file)
      try file.create(image)
    }
    counters.countCreation()
    adopt(
      try Connection.openingSound(file, as: blank) { connection in
        try StoreHeader(readingFrom: connection)
      })
    isFresh = true
  }

  /// Writes another store's key into the file's header, copies the log into the file and closes it. Then the file alone
  /// contains the whole store.
  /// - Throws: as ``open(epoch:)``; `readOnly`, `storageFull`. When the log can't be copied, the caller must not call
  ///   ``move(to:in:)``.
  func rename(to key: String, epoch: String) throws {
    _ = try open(epoch: epoch)
    guard let rows else { throw ServiceError.closed }
    self.rows = nil
    guard !isReadOnly else { throw ServiceError.readOnly }
    guard !hasOldLog else { throw ServiceError.full }
    header.key = key
    let header = header
    try LanePool.blocking {
      try rows.connection.begin()
      try header.write(to: rows.connection)
      try rows.connection.commit()
      try rows.connection.checkpoint(.truncate)
      try rows.connection.close()
    }
  }

  /// Moves the closed file to the path of another store that has no file. The move is durable when this method returns.
  func move(to destination: DatabaseFile, in directory: DataDirectory) throws {
    let file = file
    try LanePool.blocking {
      try directory.makeDirectory(of: destination)
      try file.move(to: destination)
    }
  }

  /// Removes the file and the files that belong to it. The call can be repeated.
  func erase() throws {
    try LanePool.blocking { try file.erase() }
  }
}

/// Giving free disk space back to the system.
extension SQLiteStorage {
  /// The fewest free pages for which a file is rewritten: 64 pages are a quarter of a MiB.
  private static let leastFreePages: Int64 = 64
  /// A file is rewritten only when at least one in this many pages is free.
  private static let leastFreeShare: Int64 = 10

  /// Rewrites the file without its free pages when it has many: at least 64 and a tenth of all pages. Otherwise copies
  /// the log into the file and empties it.
  ///
  /// The engine writes the new file beside the old one, checks it as at every opening, syncs it to the disk and renames
  /// it over the old one. So a crash leaves one of the two files, and it is complete. `VACUUM` in place would hold the
  /// whole database in memory and also write it to the log. While the rewrite lasts, it needs as much disk space again,
  /// and other calls on this lane wait. <https://sqlite.org/lang_vacuum.html#vacuuminto>
  func compact() async throws {
    if let failure { throw failure }
    guard let rows else { throw ServiceError.closed }
    guard !isReadOnly else { throw ServiceError.readOnly }
    let isLoose: Bool
    do {
      isLoose = try hasManyFreePages(rows.connection)
      try LanePool.blocking {
        if isLoose { try writeDraft(rows.connection) }
        // From here on the file alone, without the log, is the whole database.
        try rows.connection.checkpoint(.truncate)
      }
    } catch {
      let error = ServiceError(engine: error)
      if error.code == .storage { failure = error }
      try? file.removeDraft()
      throw error
    }
    if isLoose { try exchange(rows) }
  }

  private func hasManyFreePages(_ connection: Connection) throws -> Bool {
    let (free, all) = (try connection.freePageCount(), try connection.pageCount())
    return free >= Self.leastFreePages && free * Self.leastFreeShare >= all
  }

  private func writeDraft(_ connection: Connection) throws {
    try file.removeDraft()
    try connection.statement("VACUUM INTO ?1").run(.text(file.draftPath))
    let draft = try Connection.opening(file.draft, as: blank) { connection in
      try StoreHeader(readingFrom: connection)
    }
    guard draft.header == header else {
      throw ServiceError.damaged("the file's copy counts otherwise")
    }
    try draft.connection.enableWriteAheadLog()
    try draft.connection.close()
    // SQLite does not sync the copy that it writes.
    try Disk.synchronize(file.draftPath)
  }

  /// Closes the file, renames the draft over it and opens it. When a step fails, every call throws until the store is
  /// opened again: the file at the path is complete, but it may not be durable.
  private func exchange(_ old: StoreRows) throws {
    copy = nil
    rows = nil
    do {
      try old.connection.close()
      try file.adoptDraft()
      _ = try open(epoch: header.epoch)
    } catch {
      failure = ServiceError(
        .storage, "The storage could not be read or written",
        detail: ServiceError(engine: error).detail)
    }
    if let failure { throw failure }
  }
}
