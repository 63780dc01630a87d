import SQLite
import StoreRecords
import Stores

extension Connection {
  /// How many pages a file may have to be checked from end to end at each opening: 1,024 pages are 4 MiB
  /// and take some 7 ms. An index in which a bit has turned hides rows without breaking any row's checksum.
  static let checkedPages: Int64 = 1_024
  /// Frames in the log after which it is copied into the file: 1,000 are 4 MiB, few enough to
  /// recover in milliseconds and enough to share a checkpoint's two fsyncs among many commits.
  static let checkpointFrames: Int32 = 1_000

  /// A file that was opened.
  struct Opened<Header> {
    /// The one connection to it.
    let connection: Connection
    /// What `inspect` found.
    let header: Header
    /// Whether nothing can be written before the file is opened anew: its disk takes no writes.
    var isReadOnly = false
    /// Whether the log must be copied before anything else is written: there was no room for it yet.
    var hasOldLog = false
  }

  /// Opens a database file of ours for good: the one connection it has.
  ///
  /// The file is looked at first through a connection that can't write, because SQLite takes any log with
  /// sound checksums for the file's own and copies it at the next occasion: only once `inspect` has found
  /// the right header behind it is the file opened for writing. A log that a crash left is then copied at
  /// once, so that no commit ever stands behind frames that a failed fsync may have lost. What the check
  /// needs of memory goes with its connection.
  ///
  /// Where the disk is full or read-only, what is stored can be read all the same. Where only indexes are wrong, which
  /// follow from the rows, they are made anew.
  /// - Parameter inspect: reads the header and throws when it is not the one expected; runs twice.
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
    return try openingSound(
      file, hasLog: hasLog, findings: findings, as: blank, inspect: inspect)
  }

  /// Opens a database file of ours for good that is known to be one, with the right log or none.
  /// - Parameter findings: what the check found that has to be mended before anything is read.
  /// - Parameter inspect: reads the header.
  /// - Throws: as ``opening(_:as:inspect:)`` does.
  static func openingSound<Header>(
    _ file: DatabaseFile, hasLog: Bool = false, findings: [String] = [], as blank: BlankDatabase,
    inspect: (Connection) throws -> Header
  ) throws -> Opened<Header> {
    // Alone from the first read on, so that the log's index is memory and takes no room on the disk.
    let connection = try Connection(path: file.path, mode: .readWrite, exclusive: true)
    try connection.tune()
    let hasOldLog = hasLog ? try !connection.copiesLog() : false
    try blank.schema.migrate(connection)
    if !findings.isEmpty { try connection.mendIndexes(after: findings) }
    let header = try inspect(connection)
    // Some thirty KiB a store that only its opening needed.
    try connection.forgetStatements()
    return Opened(connection: connection, header: header, hasOldLog: hasOldLog)
  }

  /// Copies the log into the file and empties it.
  /// - Returns: false where the disk has no room for that.
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

  /// Whether so much has been committed since the log was last copied that it should be again.
  var isLogLong: Bool { loggedFrames >= Self.checkpointFrames }

  /// Copies a long log into the file; the next write then begins it anew. To be called between commits. What
  /// fails is tried again after the next one; nothing depends on it.
  func copyLongLog() {
    guard isLogLong else { return }
    _ = try? checkpoint(.passive)
  }

  /// Checks the kind of file, the definitions, which are constant for a version, and small files
  /// through and through.
  /// - Returns: what is wrong with a small file.
  private func check(as blank: BlankDatabase) throws -> [String] {
    try blank.schema.requireKnown(self)
    if try userVersion() == blank.schema.version {
      let found = try Schema.definitions(in: self)
      guard found.elementsEqual(blank.definitions, by: { $0.utf8.elementsEqual($1.utf8) }) else {
        throw ServiceError.damaged("the tables' definitions are not this version's")
      }
    }
    guard try pageCount() <= Self.checkedPages else { return [] }
    return try integrityCheck(.full)
  }

  /// The settings that last as long as the connection, each for its reason.
  private func tune() throws {
    // A commit is on the disk when it is answered. https://sqlite.org/pragma.html#pragma_synchronous
    try execute("PRAGMA synchronous = FULL")
    // Pages come from the system's cache anyway, and are kept here once per open store that touches them. Those of
    // a commit count, too: where they fill it, the way to each further document is read anew.
    try setCacheSize(kibibytes: 256)
    // A large commit may outgrow that while it lasts, instead of writing pages to the log twice.
    try execute("PRAGMA cache_spill = OFF")
    // No mapping: a file cut short underneath would end the process with SIGBUS instead of an error.
    try execute("PRAGMA mmap_size = 0")
    // Sorting a page of ids is memory's work; a temporary file would need a descriptor.
    try execute("PRAGMA temp_store = MEMORY")
    // A damaged cell is found when its page is read, not when it is followed somewhere else.
    try execute("PRAGMA cell_size_check = ON")
    // A schema that someone tampered with calls no function with side effects.
    try execute("PRAGMA trusted_schema = OFF")
    // Removed values are zeroed where that costs no further page; whole stores are unlinked.
    try execute("PRAGMA secure_delete = FAST")
    // One large commit does not leave a large log behind: it is cut back to what is usual.
    try setJournalSizeLimit(bytes: Int64(Self.checkpointFrames) * 4_096)
    // Not within a commit, whose answer would wait for it: see `copyLongLog()`.
    try setAutomaticCheckpoint(frames: 0)
    try countLoggedFrames()
    // Takes the file's lock now, so that a second user is met here and not at the first write.
    try begin()
    try rollback()
  }
}
