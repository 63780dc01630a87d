import Documents
package import Lanes
import SQLite
import StoreRecords
package import Stores

/// The engine that keeps one SQLite file per store in a directory of its own.
///
/// A store is absent or complete at every moment: its file is written whole under another name, put on
/// the disk, renamed and only then registered; one that is being erased is marked first. Whatever a crash
/// interrupts is finished when the store is next asked for.
package final class FileEngine: StorageEngine {
  /// The directory, locked.
  let directory: DataDirectory
  /// Which stores exist.
  let registry: Registry
  /// Where blocking calls run that belong to no store.
  let registryLane: Lane
  /// Where stores are worked on.
  private let pool: LanePool
  /// The thread of the accounts' store, which nobody else's work is in the way of.
  private let accountsLane = Lane(name: "accounts")
  /// What a store's file looks like.
  let blank: BlankDatabase
  private let newStores: NewStores
  let counters = StorageCounters()
  /// Room for deletions on a full disk.
  let reserve: DiskReserve

  /// Two, the file and its log; and one while a file is looked at or written anew.
  package let descriptorsPerStore = 3

  /// Opens a data directory, makes it if only its last element is missing, and locks it.
  /// - Parameter pool: the threads that work at the stores; stopped when the engine is closed.
  /// - Throws: ``DataDirectoryError``; the process should not go on.
  package static func open(
    directory path: String, pool: LanePool
  ) async throws(DataDirectoryError) -> FileEngine {
    try await FileEngine(path, pool)
  }

  /// Checks that there is a data directory at a path, for whoever must not make one.
  /// - Throws: ``DataDirectoryError``.
  package static func requireDirectory(_ path: String) throws(DataDirectoryError) {
    try DataDirectory.requireThere(path)
  }

  /// Opens a data directory with threads of the stores' own.
  /// - Parameter lanes: how many.
  /// - Throws: ``DataDirectoryError``; the process should not go on.
  package static func open(
    directory path: String, lanes: Int = LanePool.defaultThreads
  ) async throws(DataDirectoryError) -> FileEngine {
    try await FileEngine(path, .forStores(processors: lanes, threads: lanes))
  }

  private init(_ path: String, _ pool: LanePool) async throws(DataDirectoryError) {
    registryLane = Lane(name: "registry")
    self.pool = pool
    directory = try await LaneWork(registryLane).run { () throws(DataDirectoryError) in
      let directory = try DataDirectory(path)
      try directory.requireUsable(byVersion: Schema.store.version)
      return directory
    }
    let directory = directory
    reserve = await LaneWork(registryLane).run { DiskReserve(path: directory.reserve) }
    do {
      let blank = try BlankDatabase(.store)
      let lane = registryLane
      newStores = try NewStores(blank, lane: lane)
      self.blank = blank
      registry = Registry(
        file: directory.registry,
        blank: try BlankDatabase(.registry),
        reserve: reserve, lane: registryLane)
      try await registry.start(in: directory)
    } catch {
      let error = ServiceError(engine: error)
      throw DataDirectoryError(
        .registry, "The registry in \(directory.path) can't be opened: \(error.reason)",
        detail: error.detail)
    }
  }

  /// What the engine has done since it was opened.
  package var statistics: StorageStatistics { counters.statistics }
  /// Revisions that were set aside, and what is damaged still.
  package var knownDamage: Int {
    let statistics = counters.statistics
    return statistics.setAside + statistics.left
  }
  /// The damage that was found since the last call, for the log: a hundred lines at most.
  package func takeDamageFound() -> [ScrubFinding] { counters.takeNews() }

  /// A stored file without an entry belongs to a making that was cut short and is taken over with its data.
  package func open(
    _ name: StoreName, creating: Bool
  ) async throws -> (any StoreStorage)? {
    do { return try await opened(name, creating: creating) } catch {
      let error = ServiceError.translated(error)
      counters.countFailure(error)
      throw error
    }
  }

  private func opened(
    _ name: StoreName, creating: Bool
  ) async throws -> (any StoreStorage)? {
    let storage = storage(name)
    if let entry = try await registry.entry(name.key) {
      guard entry.isErasing else {
        _ = try await storage.open(epoch: entry.epoch)
        return storage
      }
      try await finishErasing(name, storage)
    }
    // A file without an entry: the process ended between making and registering it.
    if try await storage.fileExists() {
      try await register(name, epoch: try await storage.open(epoch: nil), storage)
      return storage
    }
    guard creating else { return nil }
    var generator = SystemRandomNumberGenerator()
    let epoch = Hex.string(generator.next(), generator.next())
    let image = try await newStores.image(StoreHeader(key: name.key, epoch: epoch))
    if name.namespace == StoreName.stagedNamespace {
      // Nobody would ask again for a file that a crash leaves without an entry: as one to be removed it has an entry first.
      try await registry.set(.init(epoch: epoch, isErasing: true), for: name.key)
    }
    try await storage.create(image, in: directory)
    try await register(name, epoch: epoch, storage)
    return storage
  }

  /// Only people's own stores are noted; see ``ErasureLog``.
  package func noteErasure(of name: StoreName) async throws {
    try await translating {
      guard name.isPersonal else { return }
      let entry = try await registry.entry(name.key)
      guard entry?.isErasing != true else { return }
      if entry == nil, try await !storage(name).fileExists() { return }
      try await logErasure(of: name)
    }
  }

  package func erase(_ name: StoreName) async throws -> Bool {
    try await translating {
      let storage = storage(name)
      let entry = try await registry.entry(name.key)
      let fileExists = try await storage.fileExists()
      guard entry != nil || fileExists else { return false }
      if entry?.isErasing != true {
        // From here on the store is gone, whatever happens.
        try await registry.set(.init(epoch: entry?.epoch ?? "", isErasing: true), for: name.key)
      }
      try await finishErasing(name, storage)
      return entry?.isErasing != true
    }
  }

  /// The header of the file is given the other's key, what was in the way is erased, and the file moves. From then on
  /// it belongs to the other name, if only because its header says so: a file without an entry is taken over.
  package func replace(_ name: StoreName, by other: StoreName) async throws {
    try await translating {
      let (source, target) = (storage(other), storage(name))
      guard let entry = try await registry.entry(other.key), !entry.isErasing else {
        throw ServiceError.absent
      }
      try await source.rename(to: name.key, epoch: entry.epoch)
      _ = try await erase(name)
      try await source.move(to: target.file, in: directory)
      do { try await registry.set(.init(epoch: entry.epoch), for: name.key) } catch {
        // It is not there for whoever asked, so it must not come up later.
        try? await target.erase()
        throw error
      }
      try await registry.set(nil, for: other.key)
    }
  }

  /// Of staged stores those, too, whose erasure was cut short: nobody else would ask for them again.
  package func names(
    in namespace: String, after key: String?, limit: Int
  ) async throws -> [StoreName] {
    try await translating {
      try await registry.keys(
        in: namespace, after: key, limit: limit, isWhole: namespace != StoreName.stagedNamespace
      )
      .compactMap { StoreName(key: $0) }
    }
  }

  /// Writes a few pages to the disk and removes them again.
  /// - Throws: `storageFull` also while only what makes room is written; `unavailable` for a directory that was moved
  ///   away, in which everything open could still be written.
  package func checkWritable() throws {
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

  /// Besides, ends the lanes and lets other processes have the directory.
  package func close() async {
    await registry.close()
    await pool.stop()
    await accountsLane.stop()
    await registryLane.stop()
    directory.unlock()
  }

  private func storage(_ name: StoreName) -> SQLiteStorage {
    let file = directory.file(for: name.key)
    return SQLiteStorage(
      key: name.key, file: file, blank: blank, counters: counters, reserve: reserve,
      place: name == .system ? InlineExecutor(accountsLane) : InlineExecutor(pool))
  }

  private func register(
    _ name: StoreName, epoch: String, _ storage: SQLiteStorage
  ) async throws {
    do { try await registry.set(.init(epoch: epoch), for: name.key) } catch {
      await storage.close()
      throw error
    }
  }

  private func finishErasing(
    _ name: StoreName, _ storage: SQLiteStorage
  ) async throws {
    try await storage.erase()
    counters.figures.forget(name.key)
    try await registry.set(nil, for: name.key)
  }
}

/// Makes the files of new stores from one blank database that is kept in memory, on a lane: making its tables
/// took as long as all that a new store needs besides.
actor NewStores {
  private let lane: Lane
  private let connection: Connection

  nonisolated var unownedExecutor: UnownedSerialExecutor { lane.asUnownedSerialExecutor() }

  /// Makes the blank database.
  init(_ blank: BlankDatabase, lane: Lane) throws {
    self.lane = lane
    connection = try Connection.inMemory()
    try blank.schema.create(in: connection)
  }

  /// The bytes of a new store's file.
  func image(_ header: StoreHeader) throws -> [UInt8] {
    try connection.begin()
    do {
      try header.write(to: connection)
      let bytes = try BlankDatabase.image(of: connection)
      // So that no store's file has anything of the one before.
      try connection.rollback()
      return bytes
    } catch {
      try connection.rollback()
      throw error
    }
  }
}

/// A new database of ours, complete, as the bytes of its file; and what one looks like.
///
/// A store's file is never built up in place: it is written whole under another name, so that a crash
/// leaves either no store or all of it.
struct BlankDatabase: Sendable {
  /// The tables.
  let schema: Schema
  /// Their definitions as SQLite keeps them; every file of this version has the same.
  let definitions: [String]

  /// Makes the tables once to see what they look like.
  init(_ schema: Schema) throws {
    self.schema = schema
    let connection = try Connection.inMemory()
    try schema.create(in: connection)
    definitions = try Schema.definitions(in: connection)
  }

  /// The bytes of a new file.
  /// - Parameter fill: writes the first rows.
  func image(
    _ fill: (Connection) throws -> Void
  ) throws -> [UInt8] {
    let connection = try Connection.inMemory()
    try schema.create(in: connection)
    try fill(connection)
    let bytes = try Self.image(of: connection)
    try connection.close()
    return bytes
  }

  /// The bytes of a new file that holds what a database in memory does.
  static func image(of connection: Connection) throws -> [UInt8] {
    var bytes = try connection.serialize()
    // A database in memory can't have a log; these two bytes say that the file has one, which spares
    // the transaction of a change afterwards. https://sqlite.org/fileformat.html#file_format_version_numbers
    for place in [18, 19] where bytes.indices.contains(place) { bytes[place] = 2 }
    return bytes
  }
}
