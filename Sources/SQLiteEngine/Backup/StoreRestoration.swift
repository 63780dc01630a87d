import Documents
import SQLite
import Stores

/// Puts stores of a backup into a new data directory, with a new registry. Confined to one thread.
final class StoreRestoration {
  /// Entries of the registry that share a transaction.
  private static let entriesPerCommit = 1_000

  private let draft: String
  private let blank: BlankDatabase
  private let registry: Connection
  private var directories: Set<String> = []
  private var count = 0

  /// Begins a registry.
  /// - Parameter draft: the directory to be filled, with a directory for stores in it.
  init(_ draft: String) throws(BackupError) {
    self.draft = draft
    let file = DatabaseFile(directory: draft, name: DataDirectory.registryName)
    (blank, registry) = try backing {
      let image = try BlankDatabase(.registry).image { _ in }
      try file.create(image)
      return (try BlankDatabase(.store), try Self.unsynchronized(file.path))
    }
    try backing {
      try registry.begin()
    }
  }

  /// Copies a store, checks it and gives it an epoch.
  /// - Returns: why the copy can't be used; it is registered then, without a file.
  /// - Throws: when the new directory can't be written.
  func restore(
    _ name: StoreName, epoch: String, from source: DatabaseFile, _ sum: BackupManifest.Sum
  ) throws(BackupError) -> String? {
    let file = DataDirectory.file(for: name.key, below: draft + "/" + DataDirectory.storesName)
    try backing { try makeDirectory(file.directory) }
    let isThere: Bool
    do {
      isThere = try Disk.copy(source.path, to: file.path)
    } catch {
      guard error.path == source.path else { throw BackupError(error) }
      try discard(name, file)
      return error.debugDescription
    }
    let found = try backing { try BackupManifest.sum(of: file.path) }
    guard isThere, found == sum else {
      try discard(name, file)
      return isThere ? "the file fails its checksum" : "the file is missing"
    }
    let fresh = Self.freshEpoch()
    do {
      try beginAnew(file, key: name.key, epoch: epoch, fresh: fresh)
    } catch {
      let error = ServiceError(engine: error)
      guard [.damaged, .integrity].contains(error.code) else { throw BackupError(error) }
      try discard(name, file)
      return error.words
    }
    try register(name, epoch: fresh)
    return nil
  }

  /// Looks through a store that was restored.
  /// - Returns: how much damage there is.
  func scrub(_ name: StoreName, _ reporter: ScrubReporter) -> Int {
    let file = DataDirectory.file(for: name.key, below: draft + "/" + DataDirectory.storesName)
    return StoreScrub.run(
      file, of: .init(key: name.key), as: blank, name: BackupManifest.place(of: name), reporter
    ).findings
  }

  /// Registers a store of which there is nothing.
  func registerMissing(_ name: StoreName) throws(BackupError) {
    try register(name, epoch: Self.freshEpoch())
  }

  /// Puts the registry on the disk; the stores are not.
  func finish() throws(BackupError) {
    try backing {
      try registry.commit()
      try Self.close(registry)
    }
    try backing {
      try Disk.synchronize(draft + "/" + DataDirectory.registryName)
      try Disk.synchronizeDirectory(draft + "/" + DataDirectory.storesName)
      try Disk.synchronizeDirectory(draft)
    }
  }

  private func beginAnew(
    _ file: DatabaseFile, key: String, epoch: String, fresh: String
  ) throws {
    let connection = try Self.unsynchronized(file.path)
    try blank.schema.migrate(connection)
    var header = try StoreHeader(readingFrom: connection)
    guard header.key.equalsBytes(of: key), header.epoch.equalsBytes(of: epoch) else {
      throw ServiceError.damaged("the file is another store's")
    }
    header.epoch = fresh
    let next = header
    try connection.begin()
    try next.write(to: connection)
    try connection.commit()
    try Self.close(connection)
  }

  private func discard(_ name: StoreName, _ file: DatabaseFile) throws(BackupError) {
    try backing { try file.erase() }
    try registerMissing(name)
  }

  private func register(_ name: StoreName, epoch: String) throws(BackupError) {
    let entry = Registry.Entry(epoch: epoch)
    count += 1
    let isFull = count.isMultiple(of: Self.entriesPerCommit)
    try backing {
      try registry.statement(
        "INSERT INTO stores(key, epoch, is_erasing, checksum) VALUES (?1, ?2, 0, ?3)"
      ).run(.text(name.key), .text(epoch), .integer(Registry.checksum(name.key, entry)))
      guard isFull else { return }
      try registry.commit()
      try registry.begin()
    }
  }

  private func makeDirectory(_ path: String) throws(SystemError) {
    for directory in [path.parent, path] where directories.insert(directory).inserted {
      try Disk.makeDirectory(directory)
    }
  }

  private static func freshEpoch() -> String {
    var generator = SystemRandomNumberGenerator()
    return Hex.string(generator.next(), generator.next())
  }

  /// Copies the log into the file, which closing would do without a word where it fails: a commit that is not
  /// synchronised has not met the disk yet.
  private static func close(_ connection: Connection) throws {
    try connection.checkpoint(.truncate)
    try connection.close()
  }

  /// Opens a file that is worthless until it is done, and is put on the disk then.
  private static func unsynchronized(_ path: String) throws -> Connection {
    let connection = try Connection(path: path, mode: .readWrite, exclusive: true)
    try connection.execute("PRAGMA synchronous = OFF")
    try connection.execute("PRAGMA mmap_size = 0")
    return connection
  }
}
