package import Scheduling
package import Stores

/// The storage engine that keeps each store in one SQLite file of a data directory.
///
/// At every moment a store is absent or complete. To create one, the engine writes the whole file under another name,
/// syncs it to the disk, renames it and then registers it. To erase one, it first marks the store in the registry. When
/// a crash interrupts either, the engine finishes it the next time that the store is opened.
package final class FileEngine: StorageEngine {
  /// The data directory, which is locked against other processes.
  let directory: DataDirectory
  /// The registry of the stores that exist.
  let registry: Registry
  /// The thread for blocking calls that belong to no store.
  let registryThreads: ThreadPool
  /// The threads that work on the stores.
  let pool: ThreadPool
  /// The accounts' store has its own thread, so that work on other stores never delays it.
  private let accounts = ThreadPool(name: "accounts")
  /// The blank database from which the files of new stores are made.
  let blank: BlankDatabase
  private let newStores: NewStores
  let counters = StorageCounters()
  /// The disk space that is reserved for deletions on a full disk.
  let reserve: DiskReserve
  /// The disk space that is kept for stores that are there already.
  let space: NewcomerSpace
  /// Whether the stores may be changed.
  package let access = WriteAccess()

  /// Five: two each for the file and its log, and one more while the file is inspected or rewritten.
  package let descriptorsPerStore = 5

  /// Opens and locks a data directory. If only the last element of its path is missing, creates it.
  /// - Parameter pool: the threads that work on the stores; closing the engine stops them.
  /// - Parameter keptBytes: the disk space that is kept for stores that are there already.
  /// - Throws: ``DataDirectoryError``; the process should then end.
  package static func open(
    directory path: String, pool: ThreadPool, keptBytes: Int64
  ) async throws(DataDirectoryError) -> FileEngine {
    try await FileEngine(path, pool, keptBytes: keptBytes)
  }

  /// Checks that a path has a data directory, for callers that must not create one.
  /// - Throws: ``DataDirectoryError``.
  package static func requireDirectory(_ path: String) throws(DataDirectoryError) {
    try DataDirectory.requireThere(path)
  }

  /// Creates a directory, in which a later start makes the stores, for files beside them. Takes an existing data
  /// directory, an empty one, and one that only has such files.
  /// - Throws: ``DataDirectoryError``: `noData` for a directory with anything else.
  package static func prepareDirectory(_ path: String) throws(DataDirectoryError) {
    try DataDirectory.prepareForFiles(path)
  }

  /// Opens a data directory with its own threads for the stores.
  /// - Parameter threads: the number of threads.
  /// - Parameter isForMove: whether the directory may have a ``MoveMark``.
  /// - Throws: ``DataDirectoryError``; the process should then end.
  package static func open(
    directory path: String, threads: Int = ThreadPool.storeThreads, isForMove: Bool = false
  ) async throws(DataDirectoryError) -> FileEngine {
    try await FileEngine(
      path, .forStores(processors: threads, threads: threads), isForMove: isForMove)
  }

  private init(
    _ path: String, _ pool: ThreadPool, keptBytes: Int64 = 0, isForMove: Bool = false
  ) async throws(DataDirectoryError) {
    let threads = ThreadPool(name: "registry")
    registryThreads = threads
    self.pool = pool
    (directory, reserve, space) = try await threads.run { () throws(DataDirectoryError) in
      let directory = try DataDirectory(path)
      if !isForMove { try Self.requireNoMoveMark(directory.path) }
      try directory.requireUsable(byVersion: Schema.store.version)
      return (
        directory, DiskReserve(path: directory.reserve),
        NewcomerSpace(directory.path, bytes: keptBytes)
      )
    }
    do {
      let blank = try BlankDatabase(.store)
      newStores = try NewStores(blank, on: threads)
      self.blank = blank
      registry = Registry(
        file: directory.registry,
        blank: try BlankDatabase(.registry),
        reserve: reserve, on: threads)
      try await registry.start(in: directory)
    } catch {
      directory.unlock()
      let (error, path) = (ServiceError(engine: error), directory.path)
      throw DataDirectoryError(
        .registry,
        error.code == .damaged
          ? "The registry in \(path) is damaged; make it anew with: hotel-bookmarks repair --data \(path)"
          : "The registry in \(path) can't be opened: \(error.message)",
        detail: error.detail)
    }
  }

  /// The engine's counts since it was opened.
  package var statistics: StorageStatistics { counters.statistics }
  /// Whether guests and users who come now get a store.
  package var hasSpaceForNewcomers: Bool { space.isAmple }
  /// The free bytes of the disk, as the last ``checkWritable()`` found them.
  package var freeBytes: Int64 { space.free }
  /// The number of revisions that were set aside, plus the number of values that are still damaged.
  package var knownDamage: Int {
    let statistics = counters.statistics
    return statistics.setAside + statistics.left
  }
  /// Counts a store that a check could not read as damaged, until another check of it ends.
  package func noteUnreadable(_ name: StoreName) {
    counters.countUnreadable(relativePath(of: name))
  }
  /// Returns the damage found since the last call, for the log: 100 findings at most.
  package func takeDamageFound() -> [ScrubFinding] { counters.takeNewFindings() }

  /// A file without an entry remains when a crash interrupts the creation of a store. This method registers such a file
  /// and keeps its data.
  package func open(_ name: StoreName, creating: Bool) async throws -> (any StoreStorage)? {
    do { return try await openOrCreate(name, creating: creating) } catch {
      let error = ServiceError.translated(error)
      counters.countFailure(error)
      throw error
    }
  }

  private func openOrCreate(_ name: StoreName, creating: Bool) async throws -> (any StoreStorage)? {
    let storage = storage(name)
    if let entry = try await registry.entry(name.key) {
      guard entry.isErasing else {
        _ = try await storage.file.run { file in try file.open(epoch: entry.epoch) }
        return storage
      }
      try await finishErasing(name, storage)
    }
    // A file without an entry: the process ended after it created the file and before it registered it.
    if try await storage.file.run({ file in try file.fileExists() }) {
      try await register(
        name, epoch: try await storage.file.run { file in try file.open(epoch: nil) },
        storage)
      if creating { storage.noteCreation() }
      return storage
    }
    guard creating else { return nil }
    guard space.isAmple || !name.isNewcomers else { throw ServiceError.noSpaceForNewcomers }
    return try await access.change(name.key) { try await create(name, storage) }
  }

  private func create(_ name: StoreName, _ storage: SQLiteStorage) async throws -> SQLiteStorage {
    let epoch = StoreHeader.freshEpoch()
    let image = try await newStores.image(StoreHeader(key: name.key, epoch: epoch))
    if name.namespace == StoreName.stagedNamespace {
      // No caller asks again for a staged store after a crash. So its entry exists before its file, and says that the
      // store is to be erased.
      try await registry.set(.init(epoch: epoch, isErasing: true), for: name.key)
    }
    let directory = directory
    try await storage.file.run { file in try file.create(image, in: directory) }
    try await register(name, epoch: epoch, storage)
    storage.noteCreation()
    return storage
  }

  /// Records only stores of guests, users and lists; see ``ErasureLog``.
  package func noteErasure(of name: StoreName) async throws {
    try await translating {
      guard name.isPersonal else { return }
      let entry = try await registry.entry(name.key)
      guard entry?.isErasing != true else { return }
      if entry == nil, !name.isUser, try await !fileExists(name) { return }
      try await access.change(name.key) { try await logErasure(of: name) }
    }
  }

  package func erase(_ name: StoreName) async throws -> Bool {
    try await translating {
      let storage = storage(name)
      let entry = try await registry.entry(name.key)
      let fileExists = try await fileExists(name)
      guard entry != nil || fileExists else { return false }
      return try await access.change(name.key) {
        if entry?.isErasing != true {
          // From here on the store does not exist for callers, whatever happens next.
          try await registry.set(.init(epoch: entry?.epoch ?? "", isErasing: true), for: name.key)
        }
        try await finishErasing(name, storage)
        return entry?.isErasing != true
      }
    }
  }

  /// Writes the target's key into the source file's header, erases the target's old store and moves the file.
  ///
  /// Once it has moved, the file belongs to the target even without an entry, because opening a store registers a file
  /// that has no entry.
  package func replace(_ name: StoreName, by other: StoreName) async throws {
    try await access.change(name.key) { try await exchange(name, by: other) }
  }

  private func exchange(_ name: StoreName, by other: StoreName) async throws {
    try await translating {
      let (source, target) = (storage(other), storage(name))
      guard let entry = try await registry.entry(other.key), !entry.isErasing else {
        throw ServiceError.absent
      }
      try await requireEmpty(name)
      try await source.file.run { file in try file.rename(to: name.key, epoch: entry.epoch) }
      _ = try await erase(name)
      let (destination, directory) = (directory.file(for: name.key), directory)
      try await source.file.run { file in try file.move(to: destination, in: directory) }
      do { try await registry.set(.init(epoch: entry.epoch), for: name.key) } catch {
        // The caller is told that the call failed, so the store must not appear later.
        try? await target.file.run { file in try file.erase() }
        throw error
      }
      try await registry.set(nil, for: other.key)
    }
  }

  private func requireEmpty(_ name: StoreName) async throws {
    guard let storage = try await open(name, creating: false) else { return }
    let info = try await closing(storage.close) { try await storage.read { try $0.info() } }
    try info.requireEmpty()
  }

  package func names(
    in namespace: String, after key: String?, limit: Int, includingErased: Bool
  ) async throws -> [StoreName] {
    try await translating {
      try await registry.names(
        in: namespace, after: key, limit: limit,
        isWhole: !includingErased && namespace != StoreName.stagedNamespace)
    }
  }

  /// Writes a few pages to the disk and removes them again.
  /// - Throws: `storageFull`, also while only changes that free space are written; `unavailable` when the data
  ///   directory was moved away, although the open files could still be written.
  package func checkWritable() throws {
    space.look()
    try translating {
      let path = directory.probe
      guard directory.isInPlace else {
        throw ServiceError(
          .unavailable, "The data directory is no longer where it was opened",
          detail: directory.path)
      }
      try Disk.write([UInt8](repeating: 0, count: 16 * 4_096), to: path)
      try Disk.remove(path)
      guard reserve.isWhole() else { throw ServiceError.full }
    }
  }

  /// Also stops the threads and unlocks the directory for other processes.
  package func close() async {
    await registry.close()
    await pool.stop()
    await accounts.stop()
    await registryThreads.stop()
    directory.unlock()
  }

  private func storage(_ name: StoreName) -> SQLiteStorage {
    let file = directory.file(for: name.key)
    return SQLiteStorage(
      key: name.key, file: file, blank: blank, counters: counters, reserve: reserve, access: access,
      threads: name == .system ? accounts : pool)
  }

  private func fileExists(_ name: StoreName) async throws -> Bool {
    try await storage(name).file.run { file in try file.fileExists() }
  }

  private func register(_ name: StoreName, epoch: String, _ storage: SQLiteStorage) async throws {
    do { try await registry.set(.init(epoch: epoch), for: name.key) } catch {
      await storage.close()
      throw error
    }
  }

  /// Works with files on the registry's thread.
  /// - Throws: the errors of stores.
  func onDisk<Value: Sendable>(
    _ work: @escaping @Sendable () throws -> Value
  ) async throws -> Value {
    try await translating { try await registryThreads.run { () throws(any Error) in try work() } }
  }

  private func finishErasing(_ name: StoreName, _ storage: SQLiteStorage) async throws {
    try await storage.file.run { file in try file.erase() }
    counters.figures.forget(name.key)
    counters.forgetDamage(in: relativePath(of: name))
    try await registry.set(nil, for: name.key)
  }
}
