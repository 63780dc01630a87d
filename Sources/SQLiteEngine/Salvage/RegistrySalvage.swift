import Documents
import SQLite
import StoreRecords
import Stores

/// Rebuilds a data directory's registry from its readable entries and from the stores' files, whose headers name their
/// stores.
///
/// A store whose erasure had begun stays marked as being removed. Its entry in the registry says so or, when the entry
/// can't be read, the log of erasures.
package struct RegistrySalvage {
  /// The result of rebuilding a registry.
  package struct Outcome: Sendable {
    /// The number of entries in the new registry.
    package var entries = 0
    /// The stores' files that can't be assigned to a store.
    package var unknown: [String] = []

    /// The result as a text for the operator.
    package var message: String {
      "it was damaged and was made anew of what is left of it and of the stores' files: \(entries) stores"
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
      let salvage = RegistrySalvage(
        directory: directory, blank: try BlankDatabase(.registry),
        storeBlank: try BlankDatabase(.store))
      guard try !salvage.isSound() else { return nil }
      return try salvage.run()
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
    if try file.exists() { try file.keepDamaged() }
    try file.create(image)
    outcome.entries = entries.count
    return outcome
  }

  /// The entries that can be read or repaired in the damaged registry.
  private func readableEntries() throws -> [String: Registry.Entry] {
    var entries: [String: Registry.Entry] = [:]
    guard try directory.registry.exists() else { return entries }
    try LoggedPages.copy(into: directory.registry) { rows in
      rows.allSatisfy { row in
        switch row {
        case .entry, .root: true
        case .document, .body, .piece, .local, .header: false
        }
      }
    }
    var pages = SalvagedPages(try PagedFile(directory.registry.path))
    try pages.visit { row in
      guard case .entry(let found)? = SalvagedRow(row),
        let row = found.isSound ? found : found.repaired(),
        let key = String(validating: row.bytes(0), as: UTF8.self), StoreName(key: key) != nil,
        let epoch = String(validating: row.bytes(1), as: UTF8.self)
      else { return }
      entries[key] = Registry.Entry(epoch: epoch, isErasing: row.integer(2) != 0)
    }
    return entries
  }

  /// The header of a store's file, which may be damaged; nil when the header is lost.
  private func header(of file: DatabaseFile) -> StoreHeader? {
    if let connection = try? Connection.inspecting(file, as: storeBlank.schema) {
      defer { try? connection.close() }
      if let header = try? StoreHeader(readingOrRepairingFrom: connection) { return header }
    }
    guard let pages = try? PagedFile(file.path) else { return nil }
    var store = SalvagedStore(SalvagedPages(pages), now: Timestamp(milliseconds: 0))
    return (try? store.read()).flatMap { store.header }
  }
}
