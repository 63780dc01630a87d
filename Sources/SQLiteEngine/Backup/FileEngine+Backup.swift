package import Lanes
import SQLite
package import Stores

/// What a backup needs of an engine in use.
extension FileEngine {
  /// The data directory, absolute.
  package var path: String { directory.path }

  /// What findings call a store's file.
  package func place(of name: StoreName) -> String { directory.file(for: name.key).place }

  /// How many stores there are.
  package func storeCount() async throws(StoreError) -> Int {
    try await registry.count()
  }

  /// What SQLite finds wrong with the registry.
  package func registryFindings() async throws(StoreError) -> [ScrubFinding] {
    try await registry.findings().map {
      ScrubFinding(file: DataDirectory.registryName, reason: "integrity check: " + $0)
    }
  }

  /// Copies an open store as it is at one instant, while others use it, into a new file.
  /// - Parameter storage: what this engine opened; it must stay open meanwhile.
  /// - Returns: the store's epoch.
  /// - Throws: `unavailable` when the copy must begin again; otherwise the error of either file. Whatever is
  ///   there of the copy then is the caller's to remove.
  package func copy(
    _ storage: any StoreStorage, to path: String
  ) async throws(StoreError) -> String {
    guard let storage = storage as? SQLiteStorage else { throw .closed }
    return try await storage.copy(to: path).epoch
  }

  /// Looks through the copy of a store that a backup has taken.
  /// - Returns: what was looked at.
  package func scrub(
    copyAt path: String, of name: StoreName, epoch: String, on lane: Lane,
    _ reporter: ScrubReporter
  ) async -> ScrubCounts {
    let directory = path.parent
    let file = DatabaseFile(
      directory: directory,
      name: String(decoding: path.utf8.dropFirst(directory.utf8.count + 1), as: UTF8.self))
    let (blank, place) = (blank, BackupManifest.place(of: name))
    return await LaneWork(lane).run {
      StoreScrub.run(
        file, of: .init(key: name.key, epoch: epoch), as: blank, name: place, reporter)
    }
  }

  /// Looks through a copy of an open store.
  /// - Parameter name: whose store it is.
  /// - Returns: what was looked at.
  /// - Throws: as ``copy(_:to:)`` does.
  package func scrub(
    _ storage: any StoreStorage, of name: StoreName, on lane: Lane, _ reporter: ScrubReporter
  ) async throws(StoreError) -> ScrubCounts {
    let draft = DatabaseFile(directory: directory.path, name: "scrub.sqlite")
    let work = LaneWork(lane)
    let remove: @Sendable () throws(StoreError) -> Void = { () throws(StoreError) in
      try calling { () throws(SystemError) in try Disk.remove(draft.path) }
    }
    try await work.run(remove)
    let result: Result<ScrubCounts, StoreError>
    do throws(StoreError) {
      let epoch = try await copy(storage, to: draft.path)
      let (blank, place) = (blank, directory.file(for: name.key).place)
      result = .success(
        await work.run {
          StoreScrub.run(
            draft, of: .init(key: name.key, epoch: epoch), as: blank, name: place, reporter)
        })
    } catch { result = .failure(error) }
    try? await work.run(remove)
    return try result.get()
  }
}

extension Registry {
  /// What SQLite finds wrong with the file.
  func findings() throws(StoreError) -> [String] {
    let connection = try opened()
    return try storing { () throws(SQLiteError) in try connection.integrityCheck(.full) }
  }

  /// How many stores exist.
  func count() throws(StoreError) -> Int {
    let connection = try opened()
    let count = try storing { () throws(SQLiteError) in
      try connection.statement("SELECT count(*) FROM stores WHERE is_erasing = 0").first {
        row throws(SQLiteError) in row.int64(0)
      }
    }
    return Int(clamping: count ?? 0)
  }
}
