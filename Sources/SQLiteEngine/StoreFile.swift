import Documents
import SQLite
import Scheduling
import Stores

/// The file of one open store and its only connection. Every call may block, so ``SQLiteStorage`` runs them on threads
/// of a pool, one at a time.
final class StoreFile {
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
  /// Says when a call waits for the disk, and who pays for a part of it.
  let clock: CallClock

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

  /// A file that is not open yet.
  init(
    key: String, file: DatabaseFile, blank: BlankDatabase, counters: StorageCounters,
    reserve: DiskReserve, access: WriteAccess, clock: CallClock
  ) {
    self.key = key
    self.file = file
    self.blank = blank
    self.counters = counters
    self.reserve = reserve
    self.access = access
    self.clock = clock
    header = StoreHeader(key: key, epoch: "")
  }

  /// Reads one state of the store.
  /// - Throws: as ``StoreStorage/read(_:)``, untranslated.
  func read<Value>(for work: Work?, _ query: (any StoreView) throws -> Value) throws -> Value {
    if let failure { throw failure }
    guard let rows else { throw ServiceError.closed }
    return try query(SQLiteView(rows: rows, header: header, now: latest, slice: Slice(of: work)))
  }

  /// Reads without waiting for the disk.
  /// - Returns: nil when the read must be repeated on a thread that may wait. After an error of the storage, too: such
  ///   a thread handles the error.
  func readCached<Value>(
    for work: Work?, _ query: (any StoreView) throws -> Value
  ) -> Result<Value, any Error>? {
    guard failure == nil, let rows else { return nil }
    let outcome = rows.connection.withoutDiskReads { Result { try read(for: work, query) } }
    if case .failure(let error) = outcome {
      let error = ServiceError.translated(error)
      guard !(ServiceError(error)?.code.isOfStorage ?? false) else { return nil }
    }
    return outcome
  }

  /// Closes the file. SQLite copies the log into the file and removes it when the last connection closes, so a closed
  /// store is one file. If that fails, the log remains and is copied when the store is next opened.
  func close() {
    guard let rows else { return }
    copy = nil
    self.rows = nil
    try? clock.blocking { try rows.connection.close() }
  }

  // MARK: Creating, opening and removing the file

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
        let header = try StoreHeader(readingFrom: connection, repairing: true)
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
    counters.count { $0.openings += 1 }
    counters.figures.note(header)
  }

  /// Whether the file exists.
  func fileExists() throws -> Bool { try file.exists() }

  /// Creates the file durably and opens it. The file is not checked as an existing one is, because its bytes were
  /// written just now and it has no log.
  /// - Throws: `storageFull`, also while only changes that free space are written.
  func create(_ image: [UInt8], in directory: DataDirectory) throws {
    guard reserve.isWhole() else { throw ServiceError.full }
    try clock.blocking {
      try directory.makeDirectory(of: file)
      try file.create(image)
    }
    counters.count { $0.creations += 1 }
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
    try clock.blocking {
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
    try clock.blocking {
      try directory.makeDirectory(of: destination)
      try file.move(to: destination)
    }
  }

  /// Removes the file and the files that belong to it. The call can be repeated.
  func erase() throws { try clock.blocking { try file.erase() } }

  // MARK: Giving free disk space back to the system

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
  /// and other calls of the store wait. <https://sqlite.org/lang_vacuum.html#vacuuminto>
  func compact() throws {
    if let failure { throw failure }
    guard let rows else { throw ServiceError.closed }
    guard !isReadOnly else { throw ServiceError.readOnly }
    let isLoose: Bool
    do {
      isLoose = try hasManyFreePages(rows.connection)
      try clock.blocking {
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
    try connection.run("VACUUM INTO ?1", .text(file.draftPath))
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

  /// Closes the file, renames the draft over it and opens it. When a step fails, the file at the path is complete, but it
  /// may not be durable.
  private func exchange(_ old: StoreRows) throws {
    rows = nil
    try reopen {
      try old.connection.close()
      try file.adoptDraft()
    }
  }

  /// Opens the file again after a step. If one of the two fails, every call throws until the store is opened again.
  func reopen(after step: () throws -> Void) throws {
    copy = nil
    do {
      try step()
      _ = try open(epoch: header.epoch)
    } catch { failure = .storage(ServiceError(engine: error).detail) }
    if let failure { throw failure }
  }
}
