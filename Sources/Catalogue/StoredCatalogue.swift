import Glibc
package import Scheduling

/// The catalogue's file of a data directory: exchanged with other servers in pieces, and replaced by the former one.
package struct StoredCatalogue: Sendable {
  private let files: CatalogueFiles
  /// All of the work blocks, so it runs here.
  private let threads: ThreadPool

  /// Makes a value for a data directory, which must exist.
  /// - Parameter threads: the caller stops them afterwards.
  package init(in directory: String, on threads: ThreadPool) {
    files = CatalogueFiles(directory: directory)
    self.threads = threads
  }

  /// Which content of the shared catalogue the directory has; nil if it has none.
  package func version() async -> Int64? {
    await threads.run {
      let file = open(files.sharedVersion, O_RDONLY | O_CLOEXEC)
      guard file >= 0 else { return nil }
      defer { close(file) }
      var bytes = [UInt8](repeating: 0, count: 20)
      let count = read(file, &bytes, bytes.count)
      guard count > 0 else { return nil }
      return Int64(String(decoding: bytes[..<count], as: UTF8.self))
    }
  }

  /// Notes which content the directory has. If this fails, the same content is copied again later.
  package func note(version: Int64) async {
    await threads.run {
      let flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW
      let file = open(files.sharedVersion, flags, 0o600)
      guard file >= 0 else { return }
      defer { close(file) }
      let bytes = Array(String(version).utf8)
      _ = write(file, bytes, bytes.count)
    }
  }

  /// Whether the catalogue is one that an operator imported.
  package func isImported() async -> Bool {
    await threads.run { files.kindInHeader() == .imported }
  }

  /// The catalogue's origin.
  /// - Throws: `damaged`, `unavailable`.
  package func origin() async throws(CatalogueError) -> CatalogueOrigin {
    try await threads.run { () throws(CatalogueError) in
      try OpenCatalogue.origin(ofFile: files.database)
    }
  }

  /// Whether there is a catalogue that the last import replaced.
  package func hasFormer() async -> Bool { await threads.run { files.hasFormer } }

  /// A part of the catalogue's file; empty at its end.
  /// - Parameter isFormer: whether the file is that of the catalogue that the last import replaced.
  /// - Throws: `unavailable`.
  package func bytes(
    from offset: Int, count: Int, isFormer: Bool = false
  ) async throws(CatalogueError) -> [UInt8] {
    try await threads.run { () throws(CatalogueError) in
      let file = open(isFormer ? files.former : files.database, O_RDONLY | O_CLOEXEC)
      guard file >= 0 else { throw CatalogueFiles.failure("open") }
      defer { close(file) }
      var bytes = [UInt8](repeating: 0, count: count)
      let found = pread(file, &bytes, count, off_t(offset))
      guard found >= 0 else { throw CatalogueFiles.failure("pread") }
      bytes.removeLast(count - found)
      return bytes
    }
  }

  /// Replaces the catalogue by the one that the last import replaced, in one step. Searches use it within a second.
  /// - Returns: the origin of the catalogue that is back.
  /// - Throws: `noFormer`; `busy` during an import; `damaged` and `unavailable` for a former catalogue that this version
  ///   can't use, `storageFull`. The catalogue is unchanged then.
  package func undo() async throws(CatalogueError) -> CatalogueOrigin {
    try await threads.run { () throws(CatalogueError) in
      let lock = try ImportLock(files)
      defer { withExtendedLifetime(lock) {} }
      guard files.hasFormer else { throw Self.noFormer }
      let origin = try OpenCatalogue.origin(ofFile: files.former)
      try files.restoreFormer()
      return origin
    }
  }

  /// The error when there is nothing to bring back.
  package static let noFormer = CatalogueError(
    .noFormer, "There is no former catalogue: the last import replaced none, or it was undone.")

  /// Replaces the catalogue by a file that another server made. Searches use it within a second.
  /// - Parameter pieces: how many pieces the file has.
  /// - Parameter piece: returns a piece, by its number from 0.
  /// - Throws: what `piece` throws; `busy` during an import; `damaged` and `unavailable` for a file that this version
  ///   can't use, `storageFull`. The old catalogue remains then.
  package func replace(
    pieces: Int64, _ piece: @Sendable (Int64) async throws -> [UInt8]
  ) async throws {
    let copy = try await threads.run { () throws(CatalogueError) in
      Confined(try CatalogueCopy(files), to: threads)
    }
    do {
      for index in 0..<pieces {
        let piece = try await piece(index)
        try await copy.run { try $0.append(piece) }
      }
      try await copy.run { try $0.publish() }
    } catch {
      await copy.run { $0.abandon() }
      throw error
    }
  }
}

/// The copy of another server's catalogue while it arrives. Its calls block. The last is ``publish()`` without an error,
/// or ``abandon()``.
private struct CatalogueCopy {
  private let files: CatalogueFiles
  /// Nil at the end.
  private var lock: ImportLock?
  private let file: Int32

  /// Takes the import lock and begins a draft.
  init(_ files: CatalogueFiles) throws(CatalogueError) {
    self.files = files
    lock = try ImportLock(files)
    files.removeDraft()
    file = open(files.draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard file >= 0 else { throw CatalogueFiles.failure("open") }
  }

  func append(_ piece: [UInt8]) throws(CatalogueError) { try CatalogueFiles.write(piece, to: file) }

  mutating func publish() throws(CatalogueError) {
    try OpenCatalogue.requireUsable(files.draft)
    try files.publishDraft()
    end()
  }

  mutating func abandon() {
    files.removeDraft()
    end()
  }

  private mutating func end() {
    close(file)
    lock = nil
  }
}
