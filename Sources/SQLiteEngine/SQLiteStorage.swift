import Documents
import Lanes
import SQLite
import StoreRecords
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
  var failure: ServiceError?
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
    _ query: @escaping @Sendable (any StoreView) throws -> Value
  ) async throws -> Value {
    do {
      if let failure { throw failure }
      guard let rows else { throw ServiceError.closed }
      // Nobody waits for the answer any more.
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
    try? LanePool.blocking { try rows.connection.close() }
  }
}

/// Short reads on the caller's own thread: two hops between threads cost several times what such a read does.
extension SQLiteStorage {
  /// Reads here and now, unless the store is read or at work already or a page would have to come from the disk;
  /// then as any other read.
  ///
  /// Reads that come in numbers are the lane's: a row of them on one thread, with SQLite's code in that
  /// processor's cache, took a sixth less time than each on the thread of its request.
  nonisolated func readInline<Value: Sendable>(
    _ query: @escaping @Sendable (any StoreView) throws -> Value
  ) async throws -> Value {
    let others = inlineReads.add(1, ordering: .relaxed).oldValue
    defer { inlineReads.subtract(1, ordering: .relaxed) }
    if others == 0, let outcome = readHere(query) { return try outcome.get() }
    return try await read(query)
  }

  /// - Returns: nil where the read is to be done on the lane. So is one that found something wrong below: what
  ///   follows from that is decided there.
  private nonisolated func readHere<Value: Sendable>(
    _ query: @Sendable (any StoreView) throws -> Value
  ) -> Result<Value, any Error>? {
    let outcome: Result<Value, any Error>?? = place.stepIn {
      assumeIsolated { storage in
        guard storage.failure == nil, let rows = storage.rows else { return nil }
        let view = SQLiteView(rows: rows, header: storage.header, now: storage.latest)
        return CachedPages.only {
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

/// Making, opening and removing the file.
extension SQLiteStorage {
  /// Opens the file.
  /// - Parameter epoch: what the registry says of it; nil for a file that is not registered.
  /// - Returns: the file's own epoch.
  /// - Throws: `damaged` for a file that is missing, empty, another store's or not sound; `unavailable`,
  ///   `storage`, `storageFull`, `readOnly`.
  func open(epoch: String?) throws -> String {
    let key = key
    // What a crash left of a file that was being written anew is of no use, and nothing depends on it.
    try? file.removeDraft()
    adopt(
      try Connection.opening(file, as: blank) { connection in
        let header = try StoreHeader(readingOrMendingFrom: connection)
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
    rows = StoreRows(opened.connection)
    header = opened.header
    isReadOnly = opened.isReadOnly
    hasOldLog = opened.hasOldLog
    counters.countOpening()
    counters.figures.note(header)
  }

  /// Whether there is a file.
  func fileExists() throws -> Bool { try file.exists() }

  /// Makes the file, durably, and opens it. It is not looked through, as a file that was found is: these are
  /// the bytes that were written just now, and there is no log.
  /// - Throws: `storageFull` also while there is room for nothing but deletions.
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
  }

  /// Has the file say that it is another store's, and closes it: all of it is in the one file then.
  /// - Throws: as ``open(epoch:)``, `readOnly` and `storageFull`; where the log could not be copied, ``move(to:in:)``
  ///   does not move the file.
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

  /// Moves the file, which is closed, to another store's place, where there is none; durable when this returns.
  func move(to place: DatabaseFile, in directory: DataDirectory) throws {
    let file = file
    try LanePool.blocking {
      try directory.makeDirectory(of: place)
      try file.move(to: place)
    }
  }

  /// Removes the file and those beside it; may be repeated.
  func erase() throws {
    try LanePool.blocking { try file.erase() }
  }
}

/// Giving disk space back.
extension SQLiteStorage {
  /// Free pages below which a file is left alone: 64 are a quarter of a MiB.
  private static let leastFreePages: Int64 = 64
  /// A file is left alone, too, while fewer than one page in so many is free.
  private static let leastFreeShare: Int64 = 10

  /// Writes the file anew without its free pages where these are many, at least 64 and a tenth of all;
  /// otherwise copies the log into the file and empties it.
  ///
  /// The new file is written beside the old one, checked as at any opening, put on the disk and then given the
  /// old one's name, so that a crash leaves one of the two, whole. SQLite's own way, `VACUUM` in place, holds
  /// the whole database in memory and writes it to the log as well. It takes as much room again while it
  /// lasts, and other calls on this lane wait. <https://sqlite.org/lang_vacuum.html#vacuuminto>
  func compact() async throws {
    if let failure { throw failure }
    guard let rows else { throw ServiceError.closed }
    guard !isReadOnly else { throw ServiceError.readOnly }
    let isLoose: Bool
    do {
      isLoose = try hasManyFreePages(rows.connection)
      try LanePool.blocking {
        if isLoose { try writeDraft(rows.connection) }
        // Whatever follows, the file alone is the database from here on.
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
    // SQLite does not wait for the disk while it writes a copy.
    try Disk.synchronize(file.draftPath)
  }

  /// Closes the file, gives the draft its name and opens it. Where something fails, nothing works until the
  /// store is opened anew: whichever file is there is whole, but not known to be there for good.
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
