private import Crypto
import Documents
import Glibc
import SQLite
import Stores

/// Checks whole directories without changing anything in them: data directories that no server uses, and backups.
///
/// Its calls block until the check is complete; run them on a `ThreadPool`.
package struct DirectoryScrub: Sendable {
  let blank: BlankDatabase

  /// Creates a scrub, which can check any number of directories.
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

  /// Checks one directory.
  /// - Throws: `unreachable`, `notADirectory`; `noData` for a directory that is neither a data directory nor a backup;
  ///   `otherFormat`, `unfinishedRestore`; `inUse` for a directory that a server uses. That server can check it
  ///   instead.
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
        for finding in try reader.findings() { find(registry.name, "integrity check: " + finding) }
        let total = try reader.count()
        var done = 0
        try reader.visit { key, entry in
          done += 1
          guard let key else {
            find(registry.name, "an entry's key is no text")
            return
          }
          let file = DataDirectory.file(for: key, below: stores)
          known.insert(Self.digits(of: file.name))
          // Stores that are being removed, and staged stores, are erased at the next start, whatever they contain.
          let isStaged = StoreName(key: key)?.namespace == StoreName.stagedNamespace
          if let entry, !entry.isErasing, !isStaged {
            counts += StoreScrub.run(
              file, of: .init(key: key, epoch: entry.epoch), as: blank, name: file.relativePath,
              reporter)
          } else if entry == nil {
            find(registry.name, "an entry fails its checksum")
          }
          reporter.progress(done, total)
        }
      } else if hasStores {
        find(registry.name, "the registry is missing")
      }
    } catch { find(registry.name, ServiceError(engine: error).message) }
    counts += strays(below: stores, known, reporter)
    return counts
  }

  /// Checks files that the registry does not name. A crash between the creation of a store and its registration leaves
  /// such a file. The service adopts the file, so it must be sound.
  private func strays(
    below stores: String, _ known: Set<UInt64>, _ reporter: ScrubReporter
  ) -> ScrubCounts {
    var counts = ScrubCounts()
    do {
      try DataDirectory.visitFiles(below: stores) { file in
        guard !known.contains(Self.digits(of: file.name)) else { return }
        counts += StoreScrub.run(file, of: .init(), as: blank, name: file.relativePath, reporter)
      }
    } catch {
      counts.findings += 1
      let reason = ServiceError(engine: error).message
      reporter.finding(ScrubFinding(file: DataDirectory.storesName, reason: reason))
    }
    return counts
  }

  /// The first 64 bits of a file's name. Among a million files, they are unique.
  private static func digits(of name: String) -> UInt64 {
    UInt64(String(decoding: name.utf8.prefix(16), as: UTF8.self), radix: 16) ?? 0
  }
}

extension DatabaseFile {
  /// The file's path relative to the data directory: `stores/ab/cd/<name>`.
  var relativePath: String {
    let digits = String(decoding: name.utf8.prefix(4), as: UTF8.self)
    return "\(DataDirectory.storesName)/\(digits.prefix(2))/\(digits.suffix(2))/\(name)"
  }
}

extension DirectoryScrub {
  /// Checks a backup: the manifest, every file's size and checksum, and every store as in a data directory.
  func backup(_ path: String, _ reporter: ScrubReporter) throws(DataDirectoryError) -> ScrubCounts {
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
          let (file, relativePath) = (
            BackupManifest.file(of: name, in: path), BackupManifest.relativePath(of: name)
          )
          if let reason = Self.difference(file.path, sum) { find(relativePath, reason) }
          counts += StoreScrub.run(
            file, of: .init(key: name.key, epoch: epoch), as: blank, name: relativePath, reporter)
        case .file(let extra, let sum):
          if let reason = Self.difference(path + "/" + extra.rawValue, sum) {
            find(extra.rawValue, reason)
          }
        case .missing(let name, let reason):
          find(
            BackupManifest.relativePath(of: name), "was damaged when the backup was made: " + reason
          )
        }
        reporter.progress(done, total)
      }
    } catch {
      guard error.code != .otherFormat else { throw DataDirectoryError(.otherFormat, error.reason) }
      find(BackupManifest.name, error.reason)
    }
    return counts
  }

  /// How a file differs from the manifest; nil if it does not.
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
  /// A file's size and checksum; nil when the file does not exist.
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

/// A lock that prevents servers from using a directory while it is read. Several readers can hold it at once. No
/// server uses a directory without a lock file.
struct DirectoryReadLock {
  private let descriptor: Int32?

  /// Takes the lock. It creates no file.
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

  /// Releases the lock.
  func unlock() {
    if let descriptor { close(descriptor) }
  }
}

extension DataDirectory {
  /// The file name of the registry.
  static let registryName = "registry.sqlite"
  /// The name of the directory of stores.
  static let storesName = "stores"

  /// Visits the files of all stores in a directory of stores, registered or not.
  static func visitFiles(below stores: String, _ visit: (DatabaseFile) throws -> Void) throws {
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
  static func real(_ path: String) throws(DataDirectoryError) -> String { try entry(of: path).real }

  static func entry(
    of path: String
  ) throws(DataDirectoryError) -> (real: String, directory: Disk.Entry) {
    guard let real = path.realPath else { throw unreachable(SystemError("realpath", path)) }
    let entry: Disk.Entry?
    do { entry = try Disk.entry(at: real) } catch { throw unreachable(error) }
    guard let entry, entry.isDirectory else {
      throw DataDirectoryError(.notADirectory, "\(real) is not a directory")
    }
    return (real, entry)
  }
}

/// Reads the registry of a data directory that no server uses, without changing anything.
struct RegistryReader {
  private let connection: Connection

  /// Opens the file.
  /// - Throws: `damaged`, `unavailable`.
  init(_ file: DatabaseFile) throws { connection = try Connection.inspecting(file, as: .registry) }

  /// The damage that SQLite finds in the file; empty if there is none.
  func findings() throws -> [String] { try connection.integrityCheck() }

  /// The number of entries.
  func count() throws -> Int {
    let count = try connection.integer("SELECT count(*) FROM stores")
    return Int(clamping: count ?? 0)
  }

  /// Visits every entry, by key. The entry is nil if it fails its checksum or if the key is no store's; the key is nil,
  /// too, if it is no text.
  func visit(_ body: (_ key: String?, Registry.Entry?) -> Void) throws {
    try connection.statement(
      "SELECT key, epoch, is_erasing, checksum FROM stores ORDER BY key"
    ).query { row in
      guard let key = try? row.string(0) else { return body(nil, nil) }
      let values = row.registered
      body(key, values.isSound ? Registry.entry(in: values)?.entry : nil)
    }
  }
}
