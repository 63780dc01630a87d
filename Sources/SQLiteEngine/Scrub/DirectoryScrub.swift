import Documents
import Glibc
import Lanes
import SQLite
import Stores

/// Looks through whole directories without a trace: data directories that no server uses, and backups.
///
/// Calls block for as long as it takes: for a ``Lane``.
package struct DirectoryScrub: Sendable {
  let blank: BlankDatabase

  /// A scrub for any number of directories.
  /// - Throws: `registry` when SQLite can't be used at all.
  package init() throws(DataDirectoryError) {
    do throws(StoreError) {
      blank = try storing { () throws(SQLiteError) in try BlankDatabase(.store) }
    } catch {
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
    do throws(StoreError) {
      let (isThere, hasStores) = try calling { () throws(SystemError) in
        (try Disk.entry(at: registry.path) != nil, try Disk.entry(at: stores) != nil)
      }
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
          if let entry, !entry.isErasing {
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
    } catch { find(registry.name, error.words) }
    counts += strays(below: stores, known, reporter)
    return counts
  }

  /// Files that the registry does not know: what a crash left between making a store and registering it,
  /// which the service takes over, so that it must be sound.
  private func strays(
    below stores: String, _ known: Set<UInt64>, _ reporter: ScrubReporter
  ) -> ScrubCounts {
    var counts = ScrubCounts()
    do throws(SystemError) {
      for outer in try Disk.names(in: stores) ?? [] {
        for inner in try Disk.names(in: stores + "/" + outer) ?? [] {
          let directory = "\(stores)/\(outer)/\(inner)"
          for name in try Disk.names(in: directory) ?? []
          where name.utf8.count == 71 && name.hasSuffix(".sqlite") {
            guard !known.contains(Self.digits(of: name)) else { continue }
            let file = DatabaseFile(directory: directory, name: name)
            counts += StoreScrub.run(file, of: .init(), as: blank, name: file.place, reporter)
          }
        }
      }
    } catch {
      counts.findings += 1
      reporter.finding(ScrubFinding(file: DataDirectory.storesName, reason: error.debugDescription))
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
