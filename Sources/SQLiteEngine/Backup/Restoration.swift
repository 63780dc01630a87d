import Documents
import SQLite
package import Scheduling
package import Stores

/// Creates a data directory from a backup.
///
/// Everything is written into `restoring` in the new directory and moved up at the end. While `restoring` exists, no
/// service starts. Every store gets a new epoch, so that clients that have read the earlier store start over and don't
/// mistake one change for another.
///
package struct Restoration: Sendable {
  private let backup: String
  private let directory: DataDirectory
  /// All of the work blocks, so it runs here.
  private let threads: ThreadPool
  private let reporter: ScrubReporter

  /// The result of a restoration.
  package struct Summary: Sendable {
    /// When the backup was begun, RFC 3339.
    package let made: String
    /// The number of restored stores.
    package var stores = 0
    /// The number of stores that could not be restored. They report that they are damaged.
    package var missing = 0
    /// The bytes of all restored files.
    package var bytes: Int64 = 0
    /// The number of findings: damaged files and damage in restored stores.
    package var findings = 0
  }

  /// What is in a directory into which a backup is restored.
  package enum State: Sendable {
    /// Nothing: no restoration has begun there.
    case none
    /// A restoration that has begun and not ended. It can't be continued.
    case unfinished
    /// A data directory.
    case finished
  }

  /// Looks at a directory, which may be absent.
  /// - Throws: ``BackupError``.
  package static func state(of path: String) throws(BackupError) -> State {
    try backing {
      if try Disk.entry(at: path + "/" + DataDirectory.restoringName) != nil { return .unfinished }
      return try Disk.entry(at: path + "/" + DataDirectory.formatName) == nil ? .none : .finished
    }
  }

  /// Creates a restoration and locks the new directory.
  /// - Parameter backup: the backup's path.
  /// - Parameter path: the new data directory, absent or empty. The directory `lost+found` of the file system and the
  ///   lock of an earlier restoration that failed are allowed there.
  /// - Parameter reporter: receives findings about the backup, and the progress.
  /// - Throws: ``BackupError`` for a backup that can't be used, and `occupied` for a directory that is not empty;
  ///   ``DataDirectoryError``.
  /// - Parameter threads: where the restoration runs; the caller stops them afterwards.
  package static func begin(
    from backup: String, into path: String, on threads: ThreadPool, _ reporter: ScrubReporter
  ) async throws -> Restoration {
    try await threads.run { () throws(any Error) in
      let backup = try Self.real(backup)
      try BackupManifest.read(in: backup)
      let names = try backing { try Disk.names(in: path) ?? [] }
      guard names.allSatisfy({ ["lost+found", "lock"].contains($0) }) else {
        throw BackupError(.occupied, "\(path) is not empty; restore into a new directory")
      }
      let directory = try DataDirectory(path)
      return Restoration(backup, directory, threads, reporter)
    }
  }

  /// - Throws: ``BackupError`` for a backup that can't be read.
  private static func real(_ backup: String) throws -> String {
    do { return try DataDirectory.real(backup) } catch {
      throw BackupError(.unreachable, "The backup \(backup) can't be read; is it there?")
    }
  }

  private init(
    _ backup: String, _ directory: DataDirectory, _ threads: ThreadPool,
    _ reporter: ScrubReporter
  ) {
    self.backup = backup
    self.directory = directory
    self.threads = threads
    self.reporter = reporter
  }

  /// The directory that contains everything until the restoration is finished.
  package var draft: String { directory.path + "/" + DataDirectory.restoringName }

  /// Copies everything in the backup and checks each file against the manifest. A store whose copy is damaged is
  /// registered without a file. It then reports that it is damaged instead of being empty.
  package func copy() async throws(BackupError) -> Summary {
    try await threads.run { () throws(BackupError) in try copyAll() }
  }

  private func copyAll() throws(BackupError) -> Summary {
    try backing {
      try Disk.makeDirectory(draft)
      try Disk.synchronizeDirectory(directory.path)
      try Disk.makeDirectory(draft + "/" + DataDirectory.storesName)
      try DataDirectory.writeFormat(Schema.store.version, in: draft)
    }
    let stores = try StoreRestoration(draft)
    let (header, total) = try BackupManifest.read(in: backup)
    var summary = Summary(made: header.made)
    var done = 0
    try BackupManifest.read(in: backup) { entry throws(BackupError) in
      try restore(entry, to: stores, &summary)
      done += 1
      reporter.progress(done, total)
    }
    try stores.finish()
    return summary
  }

  private func restore(
    _ entry: BackupManifest.Entry, to stores: StoreRestoration, _ summary: inout Summary
  ) throws(BackupError) {
    switch entry {
    case .store(let name, let epoch, let sum):
      if let reason = try stores.restore(name, epoch: epoch, from: backup, sum) {
        find(BackupManifest.relativePath(of: name), reason, &summary)
        summary.missing += 1
      } else {
        summary.findings += stores.scrub(name, reporter)
        summary.stores += 1
        summary.bytes += sum.bytes
      }
    case .file(let extra, let sum):
      let path = draft + "/" + extra.rawValue
      let found = try backing {
        _ = try Disk.copy(backup + "/" + extra.rawValue, to: path)
        return try BackupManifest.sum(of: path)
      }
      if found == sum {
        try backing { try Disk.synchronize(path) }
        summary.bytes += sum.bytes
      } else {
        try backing { try Disk.remove(path) }
        find(extra.rawValue, "the file is not what was backed up; it was left out", &summary)
      }
    case .missing(let name, let reason):
      try stores.registerMissing(name)
      find(
        BackupManifest.relativePath(of: name), "was damaged when the backup was made: " + reason,
        &summary)
      summary.missing += 1
    }
  }

  /// Synchronises every store to the disk.
  package func synchronize() async throws(BackupError) {
    try await TreeSynchronization.run(below: draft + "/" + DataDirectory.storesName)
  }

  /// Adds the entries of newer logs of erasures to the backup's own log.
  /// - Parameter logs: paths of logs, or of data directories or backups that contain one.
  /// - Parameter names: stores in other logs.
  /// - Returns: the keys of all erased stores in any of the logs.
  package func takeErasures(
    from logs: [String], and names: [StoreName] = []
  ) async throws(BackupError) -> Set<String> {
    try await threads.run { () throws(BackupError) in try takeAll(from: logs, and: names) }
  }

  private func takeAll(
    from logs: [String], and names: [StoreName]
  ) throws(BackupError) -> Set<String> {
    let path = draft + "/" + BackupManifest.Extra.erasures.rawValue
    var known: Set<String> = []
    _ = try backing {
      try ErasureLog.visit(path) { known.insert($0.key) }
    }
    var added = names.map(\.key).filter { known.insert($0).inserted }
    for log in logs {
      let isThere = try backing {
        let isDirectory = try Disk.entry(at: log)?.isDirectory ?? false
        let file = isDirectory ? log + "/" + BackupManifest.Extra.erasures.rawValue : log
        let hasLog = try ErasureLog.visit(file) {
          if known.insert($0.key).inserted { added.append($0.key) }
        }
        // Of a place without erasures there is no log. A mistyped directory would bring erased accounts back.
        return hasLog || isDirectory && Self.isPlace(log)
      }
      guard isThere else {
        throw BackupError(.unreachable, "There is no log of erasures at \(log)")
      }
    }
    guard !added.isEmpty else { return known }
    try backing { try ErasureLog.append(added.compactMap { StoreName(key: $0) }, to: path) }
    return known
  }

  /// Whether a directory is a data directory or a backup.
  private static func isPlace(_ path: String) -> Bool {
    if (try? BackupManifest.isThere(in: path)) == true { return true }
    return (try? DataDirectory.requireThere(path)) != nil
  }

  /// Moves everything to its final path and releases the directory's lock.
  package func finish() async throws(BackupError) {
    try await threads.run { () throws(BackupError) in
      try backing {
        for name in try Disk.names(in: draft) ?? [] {
          if name == "lock" {
            try Disk.remove(draft + "/" + name)
          } else {
            try Disk.rename(draft + "/" + name, to: directory.path + "/" + name)
          }
        }
        try Disk.synchronizeDirectory(draft)
        try Disk.synchronizeDirectory(directory.path)
        try Disk.removeTree(draft)
        try Disk.synchronizeDirectory(directory.path)
      }
      directory.unlock()
    }
  }

  /// Removes what was written.
  package func abandon() async {
    await threads.run {
      try? Disk.removeTree(draft)
      directory.unlock()
    }
  }

  private func find(_ file: String, _ reason: String, _ summary: inout Summary) {
    summary.findings += 1
    reporter.finding(ScrubFinding(file: file, reason: reason))
  }
}

/// Restores a backup's stores into a new data directory, with a new registry. Confined to one thread.
final class StoreRestoration {
  /// The number of the registry's entries in one transaction.
  private static let entriesPerCommit = 1_000

  private let draft: String
  private let blank: BlankDatabase
  private let registry: Connection
  private var directories: Set<String> = []
  private var count = 0

  /// Creates the registry.
  /// - Parameter draft: the directory to fill. It contains a directory for stores.
  init(_ draft: String) throws(BackupError) {
    self.draft = draft
    let file = DatabaseFile(directory: draft, name: DataDirectory.registryName)
    (blank, registry) = try backing {
      let image = try BlankDatabase(.registry).image { _ in }
      try file.create(image)
      return (try BlankDatabase(.store), try Self.unsynchronized(file.path))
    }
    try backing { try registry.begin() }
  }

  /// Copies a store, checks it and gives it a new epoch.
  /// - Returns: the reason why the copy can't be used; nil if it can. A store whose copy can't be used is registered
  ///   without a file.
  /// - Throws: an error when the new directory can't be written.
  func restore(
    _ name: StoreName, epoch: String, from backup: String, _ sum: BackupManifest.Sum
  ) throws(BackupError) -> String? {
    let file = DataDirectory.file(for: name.key, below: draft + "/" + DataDirectory.storesName)
    try backing { try makeDirectory(file.directory) }
    let fresh: String
    do {
      fresh = try Self.copy((epoch, sum), of: name, from: backup, to: file, as: blank)
    } catch {
      let error = ServiceError(engine: error)
      guard [.damaged, .integrity].contains(error.code) else { throw BackupError(error) }
      try discard(name, file)
      return error.message
    }
    try register(name, epoch: fresh)
    return nil
  }

  /// Copies a store out of a backup, checks the copy and gives it a new epoch. The copy is not synchronised to the disk.
  /// - Parameter copy: what the backup's manifest says of the store.
  /// - Returns: the new epoch.
  /// - Throws: `damaged`, `integrity` when the backup's file can't be used; otherwise an error of the new file.
  static func copy(
    _ copy: (epoch: String, sum: BackupManifest.Sum), of name: StoreName, from backup: String,
    to file: DatabaseFile, as blank: BlankDatabase
  ) throws -> String {
    let source = BackupManifest.file(of: name, in: backup).path
    let isThere: Bool
    do { isThere = try Disk.copy(source, to: file.path) } catch {
      guard error.path == source else { throw error }
      throw ServiceError.damaged(error.debugDescription)
    }
    guard isThere, try BackupManifest.sum(of: file.path) == copy.sum else {
      throw ServiceError.damaged(isThere ? "the file fails its checksum" : "the file is missing")
    }
    let connection = try unsynchronized(file.path)
    try blank.schema.migrate(connection)
    var header = try StoreHeader(readingFrom: connection)
    guard header.key.equalsBytes(of: name.key), header.epoch.equalsBytes(of: copy.epoch) else {
      throw ServiceError.damaged("the file is another store's")
    }
    header.epoch = StoreHeader.freshEpoch()
    try connection.begin()
    try header.write(to: connection)
    try connection.commit()
    try close(connection)
    return header.epoch
  }

  /// Checks a restored store.
  /// - Returns: the number of findings.
  func scrub(_ name: StoreName, _ reporter: ScrubReporter) -> Int {
    let file = DataDirectory.file(for: name.key, below: draft + "/" + DataDirectory.storesName)
    return StoreScrub.run(
      file, of: .init(key: name.key), as: blank, name: BackupManifest.relativePath(of: name),
      reporter
    ).findings
  }

  /// Registers a store that has no file.
  func registerMissing(_ name: StoreName) throws(BackupError) {
    try register(name, epoch: StoreHeader.freshEpoch())
  }

  /// Synchronises the registry to the disk, but not the stores' files.
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

  private func discard(_ name: StoreName, _ file: DatabaseFile) throws(BackupError) {
    try backing { try file.erase() }
    try registerMissing(name)
  }

  private func register(_ name: StoreName, epoch: String) throws(BackupError) {
    let entry = Registry.Entry(epoch: epoch)
    count += 1
    let isFull = count.isMultiple(of: Self.entriesPerCommit)
    try backing {
      try registry.run(
        "INSERT INTO stores(key, epoch, is_erasing, checksum) VALUES (?1, ?2, 0, ?3)",
        .text(name.key), .text(epoch), .integer(Registry.checksum(name.key, entry).value))
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

  /// Copies the log into the file before closing it. Closing copies the log, too, but ignores an error, and a commit
  /// without synchronisation has not reported an error of the disk yet.
  private static func close(_ connection: Connection) throws {
    try connection.checkpoint(.truncate)
    try connection.close()
  }

  /// Opens a file without synchronisation. The file is useless until it is complete; it is then synchronised to the
  /// disk.
  private static func unsynchronized(_ path: String) throws -> Connection {
    let connection = try Connection(path: path, mode: .readWrite, exclusive: true)
    try connection.execute("PRAGMA synchronous = OFF")
    try connection.execute("PRAGMA mmap_size = 0")
    return connection
  }
}
