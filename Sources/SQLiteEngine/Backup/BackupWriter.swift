private import Crypto
package import Documents
import Glibc
package import Scheduling
package import Stores

/// Writes a backup into a draft beside its final path. When the backup is complete and on the disk, the draft is
/// renamed.
///
/// Its calls block, so it is used as a `Confined<BackupWriter>`. The last is `finish()` without an error, or ``abandon()``.
package struct BackupWriter {
  /// The bytes of the manifest that are held in memory before they are written.
  private static let manifestBytes = 1 << 16

  /// The final path.
  private let destination: String
  /// The draft's path.
  private let draft: String
  /// The lock on the draft; nil before ``begin(made:by:)`` and after the end.
  private var lock: BackupDraft?
  private var manifest: [UInt8] = []
  private var hash = SHA256()
  private var count = 0
  private var bytes: Int64 = 0
  private var directories: Set<String> = []
  private var files = 0

  /// Creates a writer of a backup that has not begun.
  /// - Parameter path: the final path, absolute. Nothing or an empty directory may exist there.
  package init(to path: String) {
    destination = path
    draft = BackupDraft.path(of: path)
  }

  /// Creates the draft's directory, which only its owner can read. Removes drafts in the same directory that killed
  /// processes left.
  /// - Throws: `occupied` when something exists at the final path; `unreachable`.
  package mutating func begin(made: Timestamp, by version: String) throws(BackupError) {
    let names: [String] = try backing {
      guard let entry = try Disk.entry(at: destination) else { return [] }
      return entry.isDirectory ? try Disk.names(in: destination) ?? [] : [destination]
    }
    guard names.isEmpty else {
      throw BackupError(.occupied, "There is something at \(destination) already")
    }
    BackupDraft.removeAbandoned(in: destination.parent)
    lock = try backing { try BackupDraft(at: draft) }
    directories = [draft, draft + "/" + DataDirectory.storesName]
    try append(
      JSONWriter.line { writer in
        writer.member("backup", BackupManifest.format)
        writer.member("schema", Int(Schema.store.version))
        writer.member("made", made.rfc3339)
        writer.member("by", version)
      })
  }

  /// The path in the draft to which a store is to be copied.
  package mutating func draftPath(of name: StoreName) throws(BackupError) -> String {
    let file = BackupManifest.file(of: name, in: draft)
    if directories.insert(file.directory).inserted {
      try backing { try Disk.makeDirectory(file.directory) }
    }
    return file.path
  }

  /// Adds a store's copy to the backup. ``finish()`` synchronises all copies to the disk together.
  package mutating func add(_ name: StoreName, epoch: String) throws(BackupError) {
    let file = BackupManifest.file(of: name, in: draft)
    try add(.store(name, epoch: epoch, try countFile(file.path)))
  }

  /// Checks that the backup's disk accepts writes: what failed while a store was copied was then the store's file.
  /// - Throws: `unreachable`.
  package func requireWritable(for name: StoreName) throws(BackupError) {
    let path = BackupManifest.file(of: name, in: draft).path
    try backing {
      try Disk.remove(path)
      try Disk.write([UInt8](repeating: 0, count: 1 << 16), to: path)
      try Disk.remove(path)
    }
  }

  /// Records that a store could not be copied because it is damaged.
  package mutating func add(missing name: StoreName, reason: String) throws(BackupError) {
    try backing { try Disk.remove(BackupManifest.file(of: name, in: draft).path) }
    // The reason is for display. It is shortened to fit into a line of the manifest.
    try add(.missing(name, reason: String(reason.prefix(512))))
  }

  /// Removes the copy of a store that no longer exists.
  package func drop(_ name: StoreName) throws(BackupError) {
    try backing { try Disk.remove(BackupManifest.file(of: name, in: draft).path) }
  }

  /// Adds a file of the data directory to the backup. A file that does not exist is left out.
  package mutating func add(
    _ extra: BackupManifest.Extra, from directory: String
  ) throws(BackupError) {
    let path = draft + "/" + extra.rawValue
    let isThere = try backing {
      try Disk.copy(directory + "/" + extra.rawValue, to: path)
    }
    guard isThere else { return }
    try backing { try Disk.synchronize(path) }
    try add(.file(extra, try countFile(path)))
  }

  /// Completes the manifest.
  /// - Returns: the directory of the stores, which is not synchronised to the disk yet.
  fileprivate mutating func completeManifest() throws(BackupError) -> String {
    try append(
      JSONWriter.line { writer in
        writer.member("end", count)
        writer.member("sha256", Hex.string(Array(hash.finalize())))
      })
    try flush()
    return draft + "/" + DataDirectory.storesName
  }

  /// Synchronises the rest to the disk and renames the draft to the final path.
  /// - Returns: the number of files and their bytes.
  fileprivate mutating func publish() throws(BackupError) -> (files: Int, bytes: Int64) {
    try backing {
      let path = draft + "/" + BackupManifest.name
      try Disk.synchronize(path + ".new")
      try Disk.rename(path + ".new", to: path)
      try Disk.synchronizeDirectory(draft + "/" + DataDirectory.storesName)
      try Disk.synchronizeDirectory(draft)
      // The rename replaces an empty directory and fails on one that is not empty.
      try Disk.rename(draft, to: destination)
      try Disk.synchronizeDirectory(destination.parent)
    }
    lock?.release()
    lock = nil
    return (files, bytes)
  }

  /// Removes what was written.
  package mutating func abandon() {
    lock?.remove()
    lock = nil
  }

  private mutating func countFile(_ path: String) throws(BackupError) -> BackupManifest.Sum {
    let sum = try backing { try BackupManifest.sum(of: path) }
    guard let sum else { throw BackupError(.unreachable, "\(path) is gone") }
    files += 1
    bytes += sum.bytes
    return sum
  }

  private mutating func add(_ entry: BackupManifest.Entry) throws(BackupError) {
    count += 1
    try append(entry.line)
  }

  private mutating func append(_ line: [UInt8]) throws(BackupError) {
    hash.update(data: line)
    manifest += line
    if manifest.count >= Self.manifestBytes { try flush() }
  }

  private mutating func flush() throws(BackupError) {
    try backing {
      try Disk.append(manifest, to: draft + "/" + BackupManifest.name + ".new")
    }
    manifest = []
  }
}

extension Confined<BackupWriter> {
  /// Completes the manifest, synchronises all files and directories to the disk and renames the draft to the final
  /// path.
  /// - Returns: the number of files and their bytes.
  package func finish() async throws(BackupError) -> (files: Int, bytes: Int64) {
    let stores = try await run { writer throws(BackupError) in try writer.completeManifest() }
    try await TreeSynchronization.run(below: stores)
    return try await run { writer throws(BackupError) in try writer.publish() }
  }
}

/// The calls that a backup needs from an engine in use.
extension FileEngine {
  /// The absolute path of the data directory.
  package var path: String { directory.path }

  /// The name of a store's file in findings.
  package func relativePath(of name: StoreName) -> String {
    directory.file(for: name.key).relativePath
  }

  /// The path of a store's file in a data directory.
  package static func file(of name: StoreName, in path: String) -> String {
    DataDirectory.file(for: name.key, below: path + "/" + DataDirectory.storesName).path
  }

  /// The number of stores.
  package func storeCount() async throws -> Int {
    try await translating { try await registry.count() }
  }

  /// The damage that SQLite finds in the registry, and ``namelessFindings()``.
  package func registryFindings() async throws -> [ScrubFinding] {
    let found = try await translating { try await registry.findings() }
    return try await found.map {
      ScrubFinding(file: DataDirectory.registryName, reason: "integrity check: " + $0)
    } + namelessFindings()
  }

  /// Says that the registry has entries whose stores' names are damaged: no list and no copy of all stores has these.
  package func namelessFindings() async throws -> [ScrubFinding] {
    let count = try await translating { try await registry.namelessCount() }
    guard count > 0 else { return [] }
    return [
      ScrubFinding(
        file: DataDirectory.registryName,
        reason: "\(count) damaged entries, whose stores are left out; stop the server and run: "
          + "hotel-bookmarks repair --data \(directory.path)")
    ]
  }

  /// Copies an open store at one instant into a new file while others use the store.
  /// - Parameter storage: a store that this engine opened. It must stay open until the call returns.
  /// - Returns: the store's epoch.
  /// - Throws: `unavailable` when the copy must begin again; otherwise the error of either file. The caller then
  ///   removes the incomplete copy.
  package func copy(_ storage: any StoreStorage, to path: String) async throws -> String {
    try await translating {
      guard let storage = storage as? SQLiteStorage else { throw ServiceError.closed }
      return try await storage.copy(to: path).epoch
    }
  }

  /// Checks a store's copy in a backup.
  /// - Returns: the counts of what was checked.
  package func scrub(
    copyAt path: String, of name: StoreName, epoch: String, on threads: ThreadPool,
    _ reporter: ScrubReporter
  ) async -> ScrubCounts {
    let directory = path.parent
    let file = DatabaseFile(
      directory: directory,
      name: String(decoding: path.utf8.dropFirst(directory.utf8.count + 1), as: UTF8.self))
    let (blank, relativePath) = (blank, BackupManifest.relativePath(of: name))
    return await threads.run {
      StoreScrub.run(
        file, of: .init(key: name.key, epoch: epoch), as: blank, name: relativePath, reporter)
    }
  }

  /// Checks an open store by copying it and checking the copy.
  /// - Parameter name: the store's name.
  /// - Returns: the counts of what was checked.
  /// - Throws: the errors of ``copy(_:to:)``.
  package func scrub(
    _ storage: any StoreStorage, of name: StoreName, on threads: ThreadPool,
    _ reporter: ScrubReporter
  ) async throws -> ScrubCounts {
    let draft = DatabaseFile(directory: directory.path, name: "scrub.sqlite")
    let remove: @Sendable () throws -> Void = {
      try Disk.remove(draft.path)
    }
    try await threads.run(remove)
    return try await closing({ try? await threads.run(remove) }) {
      do {
        let epoch = try await copy(storage, to: draft.path)
        let (blank, relativePath) = (blank, directory.file(for: name.key).relativePath)
        return await threads.run {
          StoreScrub.run(
            draft, of: .init(key: name.key, epoch: epoch), as: blank, name: relativePath, reporter)
        }
      } catch { throw ServiceError.translated(error) }
    }
  }
}
