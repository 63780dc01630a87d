private import Crypto
import Documents
import Glibc
import Lanes
import SQLite
import StoreRecords
import Stores

/// Looks through whole directories without a trace: data directories that no server uses, and backups.
///
/// Calls block for as long as it takes: for a ``Lane``.
package struct DirectoryScrub: Sendable {
  let blank: BlankDatabase

  /// A scrub for any number of directories.
  /// - Throws: `registry` when SQLite can't be used at all.
  package init() throws(DataDirectoryError) {
    do {
      blank = try BlankDatabase(.store)
    } catch {
      let error = ServiceError(engine: error)
      throw DataDirectoryError(
        .registry, "SQLite can't be used: \(error.reason)", detail: error.detail)
    }
  }

  /// Looks through one directory.
  /// - Throws: `unreachable`, `notADirectory`, `noData` for what is no data directory and no backup, `newerFormat`, `unfinishedRestore`; `inUse` for one that a
  ///   server uses, which must be asked to do it.
  package func run(
    _ path: String, _ reporter: ScrubReporter
  ) throws(DataDirectoryError) -> ScrubCounts {
    let path = try DataDirectory.real(path)
    if try BackupManifest.isThere(in: path) { return try backup(path, reporter) }
    try DataDirectory.requireThere(path)
    try DataDirectory.requireKnown(path, version: blank.schema.version)
    let lock = try DirectoryReadLock(path)
    defer { lock.unlock() }
    return directory(path, reporter)
  }

  private func directory(_ path: String, _ reporter: ScrubReporter) -> ScrubCounts {
    var counts = ScrubCounts()
    var known: Set<UInt64> = []
    func find(_ file: String, _ reason: String) {
      counts.findings += 1
      reporter.finding(ScrubFinding(file: file, reason: reason))
    }
    let registry = DatabaseFile(directory: path, name: DataDirectory.registryName)
    let stores = path + "/" + DataDirectory.storesName
    do {
      let (isThere, hasStores) = (
        try Disk.entry(at: registry.path) != nil, try Disk.entry(at: stores) != nil
      )
      if isThere {
        let reader = try RegistryReader(registry)
        for finding in try reader.findings() {
          find(registry.name, "integrity check: " + finding)
        }
        let total = try reader.count()
        var done = 0
        try reader.visit { key, entry in
          done += 1
          let file = DataDirectory.file(for: key, below: stores)
          known.insert(Self.digits(of: file.name))
          // What is not whole is erased at the next start, whatever it holds.
          let isStaged = StoreName(key: key)?.namespace == StoreName.stagedNamespace
          if let entry, !entry.isErasing, !isStaged {
            counts += StoreScrub.run(
              file, of: .init(key: key, epoch: entry.epoch), as: blank, name: file.place, reporter)
          } else if entry == nil {
            find(registry.name, "an entry fails its checksum")
          }
          reporter.progress(done, total)
        }
      } else if hasStores {
        find(registry.name, "the registry is missing")
      }
    } catch { find(registry.name, ServiceError(engine: error).words) }
    counts += strays(below: stores, known, reporter)
    return counts
  }

  /// Files that the registry does not know: what a crash left between making a store and registering it,
  /// which the service takes over, so that it must be sound.
  private func strays(
    below stores: String, _ known: Set<UInt64>, _ reporter: ScrubReporter
  ) -> ScrubCounts {
    var counts = ScrubCounts()
    do {
      try DataDirectory.visitFiles(below: stores) { file in
        guard !known.contains(Self.digits(of: file.name)) else { return }
        counts += StoreScrub.run(file, of: .init(), as: blank, name: file.place, reporter)
      }
    } catch {
      counts.findings += 1
      let reason = ServiceError(engine: error).words
      reporter.finding(ScrubFinding(file: DataDirectory.storesName, reason: reason))
    }
    return counts
  }

  /// The first 64 bits of a file's name, which no two of a million share.
  private static func digits(of name: String) -> UInt64 {
    UInt64(String(decoding: name.utf8.prefix(16), as: UTF8.self), radix: 16) ?? 0
  }
}

extension DatabaseFile {
  /// The file's place below its directory of stores' parent: `stores/ab/cd/<name>`.
  var place: String {
    let digits = String(decoding: name.utf8.prefix(4), as: UTF8.self)
    return "\(DataDirectory.storesName)/\(digits.prefix(2))/\(digits.suffix(2))/\(name)"
  }
}

extension DirectoryScrub {
  /// Looks through a backup: the manifest, every file's size and checksum, and every store as in a data
  /// directory.
  func backup(
    _ path: String, _ reporter: ScrubReporter
  ) throws(DataDirectoryError) -> ScrubCounts {
    var counts = ScrubCounts()
    func find(_ file: String, _ reason: String) {
      counts.findings += 1
      reporter.finding(ScrubFinding(file: file, reason: reason))
    }
    do throws(BackupError) {
      let total = try BackupManifest.read(in: path).count
      var done = 0
      try BackupManifest.read(in: path) { entry in
        done += 1
        switch entry {
        case .store(let name, let epoch, let sum):
          let (file, place) = (
            BackupManifest.file(of: name, in: path), BackupManifest.place(of: name)
          )
          if let reason = Self.difference(file.path, sum) { find(place, reason) }
          counts += StoreScrub.run(
            file, of: .init(key: name.key, epoch: epoch), as: blank, name: place, reporter)
        case .file(let extra, let sum):
          if let reason = Self.difference(path + "/" + extra.rawValue, sum) {
            find(extra.rawValue, reason)
          }
        case .missing(let name, let reason):
          find(BackupManifest.place(of: name), "was damaged when the backup was made: " + reason)
        }
        reporter.progress(done, total)
      }
    } catch {
      guard error.code != .newerFormat else {
        throw DataDirectoryError(.newerFormat, error.reason)
      }
      find(BackupManifest.name, error.reason)
    }
    return counts
  }

  /// How a file is not what the manifest says; nil if it is.
  private static func difference(_ path: String, _ sum: BackupManifest.Sum) -> String? {
    do {
      guard let found = try BackupManifest.sum(of: path) else { return "the file is missing" }
      guard found.bytes == sum.bytes else {
        return "the file has \(found.bytes) bytes, the manifest says \(sum.bytes)"
      }
      return found.digest == sum.digest ? nil : "the file fails its checksum"
    } catch { return error.debugDescription }
  }
}

extension BackupManifest {
  /// A file's size and checksum; nil when there is no file.
  static func sum(of path: String) throws(SystemError) -> Sum? {
    var hash = SHA256()
    var bytes: Int64 = 0
    let isThere = try Disk.read(path, piece: 1 << 18) { piece in
      hash.update(data: piece)
      bytes += Int64(piece.count)
      return true
    }
    guard isThere else { return nil }
    return Sum(bytes: bytes, digest: Hex.string(Array(hash.finalize())))
  }
}

/// Keeps servers from a directory while it is read. Several may read at once; a directory that never had a
/// lock has no server.
struct DirectoryReadLock {
  private let descriptor: Int32?

  /// Takes the lock; nothing is made for it.
  /// - Throws: `inUse` while a server uses the directory; `unreachable`.
  init(_ directory: String) throws(DataDirectoryError) {
    let file = directory + "/lock"
    let opened = open(file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    guard opened >= 0 else {
      let error = SystemError("open", file)
      guard error.isAbsent else { throw DataDirectory.unreachable(error) }
      descriptor = nil
      return
    }
    guard flock(opened, LOCK_SH | LOCK_NB) == 0 else {
      let error = SystemError("flock", file)
      close(opened)
      throw DataDirectoryError(
        .inUse, "Another process uses the data directory \(directory)",
        detail: error.debugDescription)
    }
    descriptor = opened
  }

  /// Lets servers have the directory.
  func unlock() {
    if let descriptor { close(descriptor) }
  }
}

extension DataDirectory {
  /// The registry's name.
  static let registryName = "registry.sqlite"
  /// The name of the directory of stores.
  static let storesName = "stores"

  /// Visits the files of all stores that a directory of stores holds, registered or not.
  static func visitFiles(
    below stores: String, _ visit: (DatabaseFile) throws -> Void
  ) throws {
    for outer in try Disk.names(in: stores) ?? [] {
      for inner in try Disk.names(in: stores + "/" + outer) ?? [] {
        let directory = "\(stores)/\(outer)/\(inner)"
        for name in try Disk.names(in: directory) ?? []
        where name.utf8.count == 71 && name.hasSuffix(".sqlite") {
          try visit(DatabaseFile(directory: directory, name: name))
        }
      }
    }
  }

  /// A directory's path without symbolic links.
  /// - Throws: `unreachable`, `notADirectory`.
  static func real(_ path: String) throws(DataDirectoryError) -> String {
    guard let resolved = realpath(path, nil) else {
      throw unreachable(SystemError("realpath", path))
    }
    defer { free(resolved) }
    let real = String(cString: resolved)
    let entry: Disk.Entry?
    do { entry = try Disk.entry(at: real) } catch { throw unreachable(error) }
    guard entry?.isDirectory == true else {
      throw DataDirectoryError(.notADirectory, "\(real) is not a directory")
    }
    return real
  }
}

/// Reads a registry's file without a trace: which stores a directory that nobody uses is said to hold.
struct RegistryReader {
  private let connection: Connection

  /// Opens the file.
  /// - Throws: `damaged`, `unavailable`.
  init(_ file: DatabaseFile) throws {
    connection = try Connection.inspecting(file, as: .registry)
  }

  /// What SQLite finds wrong with it; empty if nothing.
  func findings() throws -> [String] {
    try connection.integrityCheck(.full)
  }

  /// How many entries there are.
  func count() throws -> Int {
    let count = try connection.statement("SELECT count(*) FROM stores").first { row in
      row.int64(0)
    }
    return Int(clamping: count ?? 0)
  }

  /// Visits every entry, by key; one that fails its checksum, or is no store's, is nil.
  func visit(_ body: (_ key: String, Registry.Entry?) -> Void) throws {
    let statement = try connection.statement(
      "SELECT key, epoch, is_erasing, checksum FROM stores ORDER BY key")
    defer { statement.reset() }
    while try statement.step() {
      let row = statement.row
      let (key, epoch) = (try row.string(0), try row.string(1))
      let entry = Registry.Entry(epoch: epoch, isErasing: row.int64(2) != 0)
      let isSound =
        Registry.checksum(key, entry).matches(row.int64(3)) && StoreName(key: key) != nil
      body(key, isSound ? entry : nil)
    }
  }
}
