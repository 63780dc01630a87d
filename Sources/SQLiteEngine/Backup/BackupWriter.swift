private import Crypto
package import Documents
import Glibc
import JSON
package import Lanes
import SQLite
import StoreRecords
package import Stores

/// Writes a backup beside its final name, which it gets when it is whole and on the disk.
///
/// Pinned to a lane, because every call blocks.
package actor BackupWriter {
  /// Bytes of manifest that are held in memory.
  private static let manifestBytes = 1 << 16

  /// Where the backup will be.
  private let place: String
  /// Where it is written.
  private let draft: String
  /// The lock on that; nil before it is begun, and after its end.
  private var lock: BackupDraft?
  private let lane: Lane
  private var manifest: [UInt8] = []
  private var hash = SHA256()
  private var count = 0
  private var bytes: Int64 = 0
  private var directories: Set<String> = []
  private var files = 0

  package nonisolated var unownedExecutor: UnownedSerialExecutor {
    lane.asUnownedSerialExecutor()
  }

  /// A backup that is not begun.
  /// - Parameter path: its name, absolute; there may be an empty directory, nothing else.
  package init(to path: String, on lane: Lane) {
    place = path
    draft = BackupDraft.path(of: path)
    self.lane = lane
  }

  /// Makes the draft's directory, readable by its owner alone. Drafts beside it that a kill left behind go.
  /// - Throws: `occupied` when there is something under the final name, `unreachable`.
  package func begin(made: Timestamp, by version: String) throws(BackupError) {
    let names: [String] = try backing {
      guard let entry = try Disk.entry(at: place) else { return [] }
      return entry.isDirectory ? try Disk.names(in: place) ?? [] : [place]
    }
    guard names.isEmpty else {
      throw BackupError(.occupied, "There is something at \(place) already")
    }
    BackupDraft.removeAbandoned(in: place.parent)
    lock = try backing { try BackupDraft(at: draft) }
    directories = [draft, draft + "/" + DataDirectory.storesName]
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("backup", BackupManifest.format)
    writer.member("schema", Int(Schema.store.version))
    writer.member("made", made.rfc3339)
    writer.member("by", version)
    writer.endObject()
    try append(writer.bytes + [UInt8(ascii: "\n")])
  }

  /// Where a store is to be copied to: under a name of its own in the draft.
  package func place(of name: StoreName) throws(BackupError) -> String {
    let file = BackupManifest.file(of: name, in: draft)
    if directories.insert(file.directory).inserted {
      try backing { try Disk.makeDirectory(file.directory) }
    }
    return file.path
  }

  /// Takes a store's copy into the backup; it is put on the disk at the end, together with the others.
  package func add(_ name: StoreName, epoch: String) throws(BackupError) {
    let file = BackupManifest.file(of: name, in: draft)
    try add(.store(name, epoch: epoch, try counted(file.path)))
  }

  /// Notes that a store could not be copied because it is damaged.
  package func add(missing name: StoreName, reason: String) throws(BackupError) {
    try backing {
      try Disk.remove(BackupManifest.file(of: name, in: draft).path)
    }
    // A reason is for people: what is too long for a line of the manifest is cut.
    try add(.missing(name, reason: String(reason.prefix(512))))
  }

  /// Forgets the place of a store that is gone.
  package func drop(_ name: StoreName) throws(BackupError) {
    try backing {
      try Disk.remove(BackupManifest.file(of: name, in: draft).path)
    }
  }

  /// Takes a file of the data directory into the backup; one that is not there is left out.
  package func add(_ extra: BackupManifest.Extra, from directory: String) throws(BackupError) {
    let path = draft + "/" + extra.rawValue
    let isThere = try backing {
      try Disk.copy(directory + "/" + extra.rawValue, to: path)
    }
    guard isThere else { return }
    try backing { try Disk.synchronize(path) }
    try add(.file(extra, try counted(path)))
  }

  /// Ends the manifest, puts all names on the disk and gives the backup its name.
  /// - Returns: how many files it has, and their bytes.
  package func finish() async throws(BackupError) -> (files: Int, bytes: Int64) {
    var writer = JSONWriter()
    writer.beginObject()
    writer.member("end", count)
    writer.member("sha256", Hex.string(Array(hash.finalize())))
    writer.endObject()
    try append(writer.bytes + [UInt8(ascii: "\n")])
    try flush()
    try await TreeSynchronization.run(below: draft + "/" + DataDirectory.storesName)
    try backing {
      let path = draft + "/" + BackupManifest.name
      try Disk.synchronize(path + ".new")
      try Disk.rename(path + ".new", to: path)
      try Disk.synchronizeDirectory(draft + "/" + DataDirectory.storesName)
      try Disk.synchronizeDirectory(draft)
      // Takes an empty directory's place; one that is not empty stays.
      try Disk.rename(draft, to: place)
      try Disk.synchronizeDirectory(place.parent)
    }
    lock?.release()
    lock = nil
    return (files, bytes)
  }

  /// Removes what was written.
  package func abandon() {
    lock?.remove()
    lock = nil
  }

  private func counted(_ path: String) throws(BackupError) -> BackupManifest.Sum {
    let sum = try backing { try BackupManifest.sum(of: path) }
    guard let sum else { throw BackupError(.unreachable, "\(path) is gone") }
    files += 1
    bytes += sum.bytes
    return sum
  }

  private func add(_ entry: BackupManifest.Entry) throws(BackupError) {
    count += 1
    try append(entry.line)
  }

  private func append(_ line: [UInt8]) throws(BackupError) {
    hash.update(data: line)
    manifest += line
    if manifest.count >= Self.manifestBytes { try flush() }
  }

  private func flush() throws(BackupError) {
    try backing {
      try Disk.append(manifest, to: draft + "/" + BackupManifest.name + ".new")
    }
    manifest = []
  }
}

/// What a backup needs of an engine in use.
extension FileEngine {
  /// The data directory, absolute.
  package var path: String { directory.path }

  /// What findings call a store's file.
  package func place(of name: StoreName) -> String { directory.file(for: name.key).place }

  /// How many stores there are.
  package func storeCount() async throws -> Int {
    try await translating {
      try await registry.count()
    }
  }

  /// What SQLite finds wrong with the registry.
  package func registryFindings() async throws -> [ScrubFinding] {
    try await translating {
      try await registry.findings().map {
        ScrubFinding(file: DataDirectory.registryName, reason: "integrity check: " + $0)
      }
    }
  }

  /// Copies an open store as it is at one instant, while others use it, into a new file.
  /// - Parameter storage: what this engine opened; it must stay open meanwhile.
  /// - Returns: the store's epoch.
  /// - Throws: `unavailable` when the copy must begin again; otherwise the error of either file. Whatever is
  ///   there of the copy then is the caller's to remove.
  package func copy(
    _ storage: any StoreStorage, to path: String
  ) async throws -> String {
    try await translating {
      guard let storage = storage as? SQLiteStorage else { throw ServiceError.closed }
      return try await storage.copy(to: path).epoch
    }
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
  ) async throws -> ScrubCounts {
    let draft = DatabaseFile(directory: directory.path, name: "scrub.sqlite")
    let work = LaneWork(lane)
    let remove: @Sendable () throws -> Void = {
      try Disk.remove(draft.path)
    }
    try await work.run(remove)
    let result: Result<ScrubCounts, any Error>
    do {
      let epoch = try await copy(storage, to: draft.path)
      let (blank, place) = (blank, directory.file(for: name.key).place)
      result = .success(
        await work.run {
          StoreScrub.run(
            draft, of: .init(key: name.key, epoch: epoch), as: blank, name: place, reporter)
        })
    } catch { result = .failure(ServiceError.translated(error)) }
    try? await work.run(remove)
    return try result.get()
  }
}

extension Registry {
  /// What SQLite finds wrong with the file.
  func findings() throws -> [String] {
    let connection = try opened()
    return try connection.integrityCheck(.full)
  }

  /// How many stores exist.
  func count() throws -> Int {
    let connection = try opened()
    let count = try connection.statement("SELECT count(*) FROM stores WHERE is_erasing = 0").first {
      row in row.int64(0)
    }
    return Int(clamping: count ?? 0)
  }
}
