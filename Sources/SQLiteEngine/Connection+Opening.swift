import SQLite
import Stores

extension Connection {
  /// The most pages of a file that is checked completely at each opening: 1,024 pages are 4 MiB and take about 7 ms. A
  /// damaged bit in an index can hide rows without breaking the checksum of any row.
  static let checkedPages: Int64 = 1_024
  /// The number of frames in the log after which the log is copied into the file. 1,000 frames are 4 MiB: few enough to
  /// recover in milliseconds, and enough to share a checkpoint's two fsyncs among many commits.
  static let checkpointFrames: Int32 = 1_000

  /// An open file.
  struct Opened<Header> {
    /// The only connection to the file.
    let connection: Connection
    /// The value that `inspect` returned.
    let header: Header
    /// Whether the disk accepts no writes, so that the file must be opened again before anything is written.
    var isReadOnly = false
    /// Whether an old log must be copied into the file before anything else is written, because the disk had no space
    /// for that yet.
    var hasOldLog = false
  }

  /// Opens one of the service's database files with the only connection that it has.
  ///
  /// A connection that can't write inspects the file first, because SQLite takes every log with correct checksums for
  /// the file's own log and copies it at the next opportunity. Only when `inspect` has found the right header in file
  /// and log is the file opened for writing. A log that a crash left is then copied at once, so that no commit ever
  /// follows frames that a failed fsync may have lost. The memory that the check needed is freed with its connection.
  ///
  /// When the disk is full or read-only, the data can still be read. When only indexes are damaged, they are rebuilt
  /// from the rows.
  /// - Parameter inspect: reads the header and throws when it is not the expected one; runs twice.
  /// - Throws: `damaged`, `unavailable`, `storage`, `storageFull`, `readOnly`.
  static func opening<Header>(
    _ file: DatabaseFile, as blank: BlankDatabase,
    inspect: (Connection) throws -> Header
  ) throws -> Opened<Header> {
    let hasLog = try file.requireSound()
    let reader = try Connection.inspecting(path: file.path, hasLog: hasLog)
    let findings = try reader.check(as: blank)
    let found = try inspect(reader)
    if Disk.isReadOnly(file.directory) {
      guard findings.isEmpty else {
        throw ServiceError.damaged(findings.prefix(3).joined(separator: "; "))
      }
      return Opened(connection: reader, header: found, isReadOnly: true)
    }
    try reader.close()
    return try openingSound(file, hasLog: hasLog, findings: findings, as: blank, inspect: inspect)
  }

  /// Opens one of the service's database files after it was checked. Its log is its own, or it has none.
  /// - Parameter findings: the damage that the check found and that is repaired before anything is read.
  /// - Parameter inspect: reads the header.
  /// - Throws: as ``opening(_:as:inspect:)`` does.
  static func openingSound<Header>(
    _ file: DatabaseFile, hasLog: Bool = false, findings: [String] = [], as blank: BlankDatabase,
    inspect: (Connection) throws -> Header
  ) throws -> Opened<Header> {
    // The connection is exclusive from the first read on, so that the log's index is in memory and needs no disk space.
    let connection = try Connection(path: file.path, mode: .readWrite, exclusive: true)
    try connection.tune()
    let hasOldLog = hasLog ? try !connection.copiesLog() : false
    try blank.schema.migrate(connection)
    if !findings.isEmpty { try connection.repairIndexes(after: findings, as: blank) }
    let header = try inspect(connection)
    // The prepared statements of the opening take about 30 KiB a store and are not needed again.
    try connection.forgetStatements()
    return Opened(connection: connection, header: header, hasOldLog: hasOldLog)
  }

  /// Copies the log into the file and empties it.
  /// - Returns: false when the disk has no space for that.
  func copiesLog() throws -> Bool {
    do {
      try checkpoint(.truncate)
      return true
    } catch {
      let error = ServiceError(engine: error)
      guard error.code == .storageFull else { throw error }
      return false
    }
  }

  /// Whether the log is long enough to be copied into the file.
  var isLogLong: Bool { loggedFrames >= Self.checkpointFrames }

  /// Copies a long log into the file; the next write then starts the log again. Call this between commits. After a
  /// failure, it is tried again after the next commit; nothing depends on its success.
  func copyLongLog() {
    guard isLogLong else { return }
    _ = try? checkpoint(.passive)
  }

  /// Checks the kind of the file, its definitions, and all pages of a small file.
  /// - Returns: the damage in a small file.
  private func check(as blank: BlankDatabase) throws -> [String] {
    try blank.schema.requireKnown(self)
    if try userVersion() == blank.schema.version { try blank.definitions.requireMatch(in: self) }
    guard try pageCount() <= Self.checkedPages else { return [] }
    return try integrityCheck()
  }

  /// Sets the options that last as long as the connection.
  private func tune() throws {
    // A commit is on the disk when it is answered. https://sqlite.org/pragma.html#pragma_synchronous
    try execute("PRAGMA synchronous = FULL")
    // The page cache of the system holds the pages anyway; this cache holds them once more for each open store. It also
    // holds the pages of a running commit: if they fill it, the pages of the index must be read again for each further
    // document.
    try setCacheSize(kibibytes: 256)
    // A large commit may exceed the cache while it lasts; otherwise SQLite would write some pages to the log twice.
    try execute("PRAGMA cache_spill = OFF")
    // No memory mapping: if a mapped file is truncated, the process ends with SIGBUS instead of an error.
    try execute("PRAGMA mmap_size = 0")
    // Sorting happens in memory; a temporary file would need a descriptor.
    try execute("PRAGMA temp_store = MEMORY")
    // SQLite finds a damaged cell when it reads the page, before it follows the cell.
    try execute("PRAGMA cell_size_check = ON")
    // A manipulated schema can't call functions with side effects.
    try execute("PRAGMA trusted_schema = OFF")
    // The files of whole stores are removed.
    try setSecureDelete(.whereFree)
    // SQLite truncates the log after a large commit to its usual length.
    try setJournalSizeLimit(bytes: Int64(Self.checkpointFrames) * 4_096)
    // Automatic checkpoints would delay the answer to a commit. See `copyLongLog()` instead.
    try setAutomaticCheckpoint(frames: 0)
    try countLoggedFrames()
    // Takes the file's lock now, so that a second process that uses the file causes an error here and not at the first
    // write.
    try begin()
    try rollback()
  }
}
