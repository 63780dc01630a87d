import Documents
import SQLite
package import Scheduling
package import Stores

/// Replacing the files of stores that SQLite can't read or finds damaged.
extension FileEngine {
  /// What takes the place of a damaged file.
  package enum Replacement: Sendable {
    /// All rows of the damaged file, if SQLite can read each of them. The store keeps its epoch.
    case ownRows
    /// The store's copy in the backup at this path. The store gets a new epoch.
    case backup(String)
    /// No documents. The store gets a new epoch.
    case nothing
  }

  /// Replaces a store's damaged file. The damaged file and its log stay beside the new one
  /// (``DatabaseFile/damagedPath``). No caller may have the store open.
  ///
  /// The new file is written under another name. It gets the store's name when all of it is on the disk.
  /// - Parameter threads: the threads for the work, which takes seconds for a large file.
  /// - Throws: `absent` when the store does not exist; `damaged` when the replacement can't be used; ``BackupError``,
  ///   `storage`, `storageFull`, `moved`. The damaged file is then in its place.
  package func replaceDamaged(
    _ name: StoreName, by replacement: Replacement, on threads: ThreadPool
  ) async throws {
    try await translating {
      let entry = try await registry.entry(name.key)
      let draft = ReplacementDraft(
        name: name, file: directory.file(for: name.key), epoch: entry?.epoch, blank: blank)
      guard try entry.map({ !$0.isErasing }) ?? draft.file.exists() else {
        throw ServiceError.absent
      }
      let directory = directory
      try await access.change(name.key) {
        let epoch = try await threads.run { () throws(any Error) in
          try directory.makeDirectory(of: draft.file)
          return try draft.adopt(replacement)
        }
        // If the process stops before this line, the epochs of the file and of the registry differ: the store still
        // counts as damaged, and the call can be repeated.
        try await registry.set(.init(epoch: epoch), for: name.key)
      }
    }
  }
}

/// The new file of a store whose file is damaged.
private struct ReplacementDraft: Sendable {
  let name: StoreName
  /// The damaged file.
  let file: DatabaseFile
  /// The store's epoch in the registry; nil for a store that is not registered.
  let epoch: String?
  let blank: BlankDatabase

  /// Writes the new file and gives it the store's name.
  /// - Returns: its epoch.
  func adopt(_ replacement: FileEngine.Replacement) throws -> String {
    try file.removeDraft()
    do {
      let epoch = try write(replacement)
      // SQLite does not sync the copies that it writes.
      try Disk.synchronize(file.draftPath)
      try file.keepDamaged()
      try file.adoptDraft()
      return epoch
    } catch {
      try? file.removeDraft()
      throw error
    }
  }

  private func write(_ replacement: FileEngine.Replacement) throws -> String {
    switch replacement {
    case .ownRows: return try writeOwnRows()
    case .backup(let backup):
      let copy = try BackupManifest.copy(of: name, in: backup)
      return try StoreRestoration.copy(copy, of: name, from: backup, to: file.draft, as: blank)
    case .nothing:
      let header = StoreHeader(key: name.key, epoch: StoreHeader.freshEpoch())
      try Disk.write(try blank.image { try header.write(to: $0) }, to: file.draftPath)
      return header.epoch
    }
  }

  /// Copies the rows through SQL. Local documents are not counted: a client without its checkpoint compares all documents
  /// once more.
  /// - Throws: `damaged` when a row can't be read, when the header counts other rows than were copied, or when the file
  ///   is another store's.
  private func writeOwnRows() throws -> String {
    let damaged = try Connection.inspecting(file, as: blank.schema)
    try damaged.run("VACUUM INTO ?1", .text(file.draftPath))
    try damaged.close()
    let copy = try Connection.opening(file.draft, as: blank) { connection in
      try StoreHeader(readingFrom: connection)
    }
    var counted = copy.header
    try StoreRows(copy.connection, as: blank).recount(&counted)
    guard counted == copy.header, counted.key.equalsBytes(of: name.key),
      epoch?.equalsBytes(of: counted.epoch) ?? true
    else { throw ServiceError.damaged("its rows are not those that its header counts") }
    try copy.connection.enableWriteAheadLog()
    try copy.connection.close()
    return counted.epoch
  }
}
