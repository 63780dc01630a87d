import Glibc
package import Lanes

/// The catalogue's file of a data directory: exchanged with other servers in pieces, and replaced by the former one. Calls
/// block, so they run on a lane.
package actor StoredCatalogue {
  private let files: CatalogueFiles
  private let lane: Lane

  package nonisolated var unownedExecutor: UnownedSerialExecutor {
    lane.asUnownedSerialExecutor()
  }

  /// Makes a value for a data directory, which must exist.
  /// - Parameter lane: the caller stops it afterwards.
  package init(in directory: String, on lane: Lane) {
    files = CatalogueFiles(directory: directory)
    self.lane = lane
  }

  /// Which content of the shared catalogue the directory has; nil if it has none.
  package var version: Int64? {
    let file = open(files.sharedVersion, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: 20)
    let count = read(file, &bytes, bytes.count)
    guard count > 0 else { return nil }
    return Int64(String(decoding: bytes[..<count], as: UTF8.self))
  }

  /// Notes which content the directory has. If this fails, the same content is copied again later.
  package func note(version: Int64) {
    let flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW
    let file = open(files.sharedVersion, flags, 0o600)
    guard file >= 0 else { return }
    defer { close(file) }
    let bytes = Array(String(version).utf8)
    _ = write(file, bytes, bytes.count)
  }

  /// Whether the catalogue is one that an operator imported.
  package var isImported: Bool { files.kindInHeader() == .imported }

  /// The catalogue's origin.
  /// - Throws: `damaged`, `unavailable`.
  package func origin() throws(CatalogueError) -> CatalogueOrigin {
    try OpenCatalogue.origin(ofFile: files.database)
  }

  /// Whether there is a catalogue that the last import replaced.
  package var hasFormer: Bool { files.hasFormer }

  /// A part of the catalogue's file; empty at its end.
  /// - Parameter isFormer: whether the file is that of the catalogue that the last import replaced.
  /// - Throws: `unavailable`.
  package func bytes(
    from offset: Int, count: Int, isFormer: Bool = false
  ) throws(CatalogueError) -> [UInt8] {
    let file = open(isFormer ? files.former : files.database, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw CatalogueFiles.failure("open") }
    defer { close(file) }
    var bytes = [UInt8](repeating: 0, count: count)
    let found = pread(file, &bytes, count, off_t(offset))
    guard found >= 0 else { throw CatalogueFiles.failure("pread") }
    bytes.removeLast(count - found)
    return bytes
  }

  /// Replaces the catalogue by the one that the last import replaced, in one step. Searches use it within a second.
  /// - Returns: the origin of the catalogue that is back.
  /// - Throws: `noFormer`; `busy` during an import; `damaged` and `unavailable` for a former catalogue that this version
  ///   can't use, `storageFull`. The catalogue is unchanged then.
  package func undo() throws(CatalogueError) -> CatalogueOrigin {
    let lock = try ImportLock(files)
    defer { withExtendedLifetime(lock) {} }
    guard files.hasFormer else { throw Self.noFormer }
    let origin = try OpenCatalogue.origin(ofFile: files.former)
    try files.restoreFormer()
    return origin
  }

  /// The error when there is nothing to bring back.
  package static let noFormer = CatalogueError(
    .noFormer, "There is no former catalogue: nothing was imported since the last undo.")

  /// Replaces the catalogue by a file that another server made. Searches use it within a second.
  /// - Parameter pieces: how many pieces the file has.
  /// - Parameter piece: returns a piece, by its number from 0.
  /// - Throws: what `piece` throws; `busy` during an import; `damaged` and `unavailable` for a file that this version
  ///   can't use, `storageFull`. The old catalogue remains then.
  package func replace(
    pieces: Int64, _ piece: @Sendable (Int64) async throws -> [UInt8]
  ) async throws {
    let lock = try ImportLock(files)
    defer { withExtendedLifetime(lock) {} }
    files.removeDraft()
    do {
      let file = open(files.draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
      guard file >= 0 else { throw CatalogueFiles.failure("open") }
      defer { close(file) }
      for index in 0..<pieces {
        let piece = try await piece(index)
        var written = 0
        while written < piece.count {
          let count = piece[written...].withUnsafeBytes {
            Glibc.write(file, $0.baseAddress, $0.count)
          }
          if count < 0, errno == EINTR { continue }
          guard count > 0 else { throw CatalogueFiles.failure("write") }
          written += count
        }
      }
      try OpenCatalogue.requireUsable(files.draft)
      try files.publishDraft()
    } catch {
      files.removeDraft()
      throw error
    }
  }
}
