import Catalogue
import Logging
import PostgresEngine
import Scheduling
import ServiceLifecycle

/// Gives all servers of a database the same catalogue. Whoever imports one writes its file to the database; the others
/// look for another file each second, and copy it into their data directories.
struct SharedCatalogue: Sendable {
  /// The name of the file in the database.
  private static let name = "catalogue"
  /// The name of the file that the last import replaced. It has no pieces if there is none.
  private static let formerName = "catalogue-former"

  let database: PostgresDatabase
  let data: String

  /// Writes the directory's catalogue to the database.
  func publish() async throws {
    try await withCopy { copy in
      let file = try await write(Self.name, from: copy)
      await copy.note(version: file.version)
    }
  }

  /// Writes the directory's catalogue to the database after an import, and the one that it has replaced.
  func publishImport() async throws {
    try await withCopy { copy in
      if await copy.hasFormer() {
        _ = try await write(Self.formerName, from: copy, isFormer: true)
      } else {
        try await removeFormer()
      }
    }
    try await publish()
  }

  /// Makes the catalogue that the last import replaced the database's catalogue again. All servers copy it.
  /// The directory must be another one than that of a server: its catalogue is replaced.
  /// - Returns: the origin of the catalogue that is back.
  /// - Throws: `noFormer`; `damaged` and `unavailable` for a file that this version can't use.
  func undo() async throws -> CatalogueOrigin {
    guard let file = try await database.sharedFile(Self.formerName), file.pieces > 0 else {
      throw StoredCatalogue.noFormer
    }
    let origin = try await withCopy { copy in
      try await copy.replace(pieces: file.pieces) { index in
        try await database.piece(index, of: file, Self.formerName)
      }
      return try await copy.origin()
    }
    try await publish()
    try await removeFormer()
    return origin
  }

  private func removeFormer() async throws {
    _ = try await database.replaceSharedFile(Self.formerName) { nil }
  }

  private func write(
    _ name: String, from copy: StoredCatalogue, isFormer: Bool = false
  ) async throws -> PostgresDatabase.SharedFile {
    var offset = 0
    return try await database.replaceSharedFile(name) {
      let piece = try await copy.bytes(
        from: offset, count: PostgresDatabase.sharedPieceBytes, isFormer: isFormer)
      offset += piece.count
      return piece.isEmpty ? nil : piece
    }
  }

  /// Copies the database's catalogue into the directory if it has another one.
  /// - Parameter known: the version that the directory is known to have; nil to look at the directory.
  /// - Returns: the version that the directory has now, and whether the catalogue was replaced.
  @discardableResult
  func catchUp(from known: Int64? = nil) async throws -> (version: Int64?, isNew: Bool) {
    guard let file = try await database.sharedFile(Self.name) else { return (nil, false) }
    guard file.version != known else { return (known, false) }
    return try await withCopy { copy in
      guard await copy.version() != file.version else { return (file.version, false) }
      try await copy.replace(pieces: file.pieces) { index in
        try await database.piece(index, of: file, Self.name)
      }
      await copy.note(version: file.version)
      return (file.version, true)
    }
  }

  /// Writes the directory's catalogue to the database if an operator has imported it.
  /// - Returns: whether it was written.
  func publishImported() async throws -> Bool {
    guard try await withCopy({ copy in await copy.isImported() }) else { return false }
    try await publish()
    return true
  }

  private func withCopy<Value>(
    _ work: (StoredCatalogue) async throws -> Value
  ) async throws -> Value {
    try await ThreadPool.with(name: "catalogue-copy") { threads in
      try await work(StoredCatalogue(in: data, on: threads))
    }
  }
}

/// Looks for another server's catalogue.
struct SharedCatalogueService: Service {
  /// How often it looks: each second.
  private static let interval = Duration.seconds(1)

  let catalogue: SharedCatalogue
  let logger: Logger

  func run() async throws {
    await cancelWhenGracefulShutdown {
      var (isFailing, known): (Bool, Int64?) = (false, nil)
      while (try? await Task.sleep(for: Self.interval)) != nil {
        do {
          let found = try await catalogue.catchUp(from: known)
          known = found.version
          if found.isNew { logger.info("the catalogue was replaced") }
          isFailing = false
        } catch {
          // A failure that lasts is logged once.
          if !isFailing, !Task.isCancelled {
            logger.warning("the shared catalogue can't be copied", error)
          }
          isFailing = true
        }
      }
    }
  }
}
