import Lanes
import SQLite
import Stores

/// Giving disk space back.
extension SQLiteStorage {
  /// Free pages below which a file is left alone: 64 are a quarter of a MiB.
  private static let leastFreePages: Int64 = 64
  /// A file is left alone, too, while fewer than one page in so many is free.
  private static let leastFreeShare: Int64 = 10

  /// Writes the file anew without its free pages where these are many, at least 64 and a tenth of all;
  /// otherwise copies the log into the file and empties it.
  ///
  /// The new file is written beside the old one, checked as at any opening, put on the disk and then given the
  /// old one's name, so that a crash leaves one of the two, whole. SQLite's own way, `VACUUM` in place, holds
  /// the whole database in memory and writes it to the log as well. It takes as much room again while it
  /// lasts, and other calls on this lane wait. <https://sqlite.org/lang_vacuum.html#vacuuminto>
  func compact() async throws {
    if let failure { throw failure }
    guard let rows else { throw ServiceError.closed }
    guard !isReadOnly else { throw ServiceError.readOnly }
    let isLoose: Bool
    do {
      isLoose = try hasManyFreePages(rows.connection)
      try LanePool.blocking {
        if isLoose { try writeDraft(rows.connection) }
        // Whatever follows, the file alone is the database from here on.
        try rows.connection.checkpoint(.truncate)
      }
    } catch {
      let error = ServiceError(engine: error)
      if error.code == .storage { failure = error }
      try? file.removeDraft()
      throw error
    }
    if isLoose { try exchange(rows) }
  }

  private func hasManyFreePages(_ connection: Connection) throws -> Bool {
    let (free, all) = (try connection.freePageCount(), try connection.pageCount())
    return free >= Self.leastFreePages && free * Self.leastFreeShare >= all
  }

  private func writeDraft(_ connection: Connection) throws {
    try file.removeDraft()
    try connection.statement("VACUUM INTO ?1").run(.text(file.draftPath))
    let draft = try Connection.opening(file.draft, as: blank) { connection in
      try StoreHeader(readingFrom: connection)
    }
    guard draft.header == header else {
      throw ServiceError.damaged("the file's copy counts otherwise")
    }
    try draft.connection.enableWriteAheadLog()
    try draft.connection.close()
    // SQLite does not wait for the disk while it writes a copy.
    try Disk.synchronize(file.draftPath)
  }

  /// Closes the file, gives the draft its name and opens it. Where something fails, nothing works until the
  /// store is opened anew: whichever file is there is whole, but not known to be there for good.
  private func exchange(_ old: StoreRows) throws {
    copy = nil
    rows = nil
    do {
      try old.connection.close()
      try file.adoptDraft()
      _ = try open(epoch: header.epoch)
    } catch {
      failure = ServiceError(
        .storage, "The storage could not be read or written",
        detail: ServiceError(engine: error).detail)
    }
    if let failure { throw failure }
  }
}
