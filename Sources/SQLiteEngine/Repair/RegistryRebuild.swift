import SQLite
import Stores

/// Rebuilds a data directory's registry from its readable entries and from the stores' files, whose headers name their
/// stores.
///
/// A store whose erasure had begun stays marked as being removed. Its entry in the registry says so or, when the entry
/// can't be read, the log of erasures.
package struct RegistryRebuild {
  /// The result of rebuilding a registry.
  package struct Outcome: Sendable {
    /// The number of entries in the new registry.
    package var entries = 0
    /// The stores' files that can't be assigned to a store.
    package var unknown: [String] = []

    /// The result as a text for the operator.
    package var message: String {
      "it was damaged; it was rebuilt from its readable entries and the stores' files: \(entries) stores"
    }
  }

  private let directory: DataDirectory
  private let blank: BlankDatabase
  private let storeBlank: BlankDatabase

  /// Rebuilds the registry if it is damaged or missing.
  /// - Parameter path: a data directory that no process uses.
  /// - Returns: nil when the registry is sound.
  /// - Throws: ``DataDirectoryError``; `storage`, `storageFull`. The old registry is then still in place.
  package static func run(_ path: String) throws -> Outcome? {
    try FileEngine.requireDirectory(path)
    let directory = try DataDirectory(path)
    defer { directory.unlock() }
    try DataDirectory.requireKnown(directory.path, version: Schema.store.version)
    do {
      let rebuild = RegistryRebuild(
        directory: directory, blank: try BlankDatabase(.registry),
        storeBlank: try BlankDatabase(.store))
      guard try !rebuild.isSound() else { return nil }
      return try rebuild.run()
    } catch { throw ServiceError.translated(error) }
  }

  /// Whether SQLite can read the file and finds no damage in it, and every entry matches its checksum. A new data
  /// directory without stores needs no registry.
  private func isSound() throws -> Bool {
    guard try directory.registry.exists() else {
      return try Disk.entry(at: directory.stores) == nil
    }
    do {
      let reader = try RegistryReader(directory.registry)
      var isSound = try reader.findings().isEmpty
      try reader.visit { _, entry in if entry == nil { isSound = false } }
      return isSound
    } catch {
      guard ServiceError(engine: error).code == .damaged else { throw error }
      return false
    }
  }

  private func run() throws -> Outcome {
    var outcome = Outcome()
    var entries = try readableEntries()
    var erased: Set<String> = []
    _ = try ErasureLog.visit(directory.erasures) { name in erased.insert(name.key) }
    try DataDirectory.visitFiles(below: directory.stores) { file in
      guard let header = header(of: file), DataDirectory.fileName(for: header.key) == file.name
      else {
        let isKnown = entries.keys.contains { DataDirectory.fileName(for: $0) == file.name }
        if !isKnown { outcome.unknown.append(file.relativePath) }
        return
      }
      let isErasing = entries[header.key]?.isErasing ?? erased.contains(header.key)
      entries[header.key] = Registry.Entry(epoch: header.epoch, isErasing: isErasing)
    }
    let image = try blank.image { connection in
      for (key, entry) in entries { try Registry.write(entry, for: key, to: connection) }
    }
    let file = directory.registry
    try file.keepDamaged()
    try file.create(image)
    outcome.entries = entries.count
    return outcome
  }

  /// The entries that SQLite can still read in the damaged registry, repaired if necessary.
  private func readableEntries() throws -> [String: Registry.Entry] {
    var entries: [String: Registry.Entry] = [:]
    do {
      let reader = try Connection.inspecting(directory.registry, as: .registry)
      try reader.statement("SELECT key, epoch, is_erasing, checksum FROM stores").query { row in
        let found = row.registered
        guard let row = found.isSound ? found : found.repaired(),
          let (key, entry) = Registry.entry(in: row)
        else { return }
        entries[key] = entry
      }
    } catch {
      // What was read before the damaged page counts.
      guard ServiceError(engine: error).code == .damaged else { throw error }
    }
    return entries
  }

  /// The header of a store's file, which may be damaged; nil when the header is lost.
  private func header(of file: DatabaseFile) -> StoreHeader? {
    guard let connection = try? Connection.inspecting(file, as: storeBlank.schema) else {
      return nil
    }
    defer { try? connection.close() }
    return try? StoreHeader(readingFrom: connection, repairing: true)
  }
}
