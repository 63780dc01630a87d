import CSQLite
import Synchronization

/// Transactions. <https://sqlite.org/lang_transaction.html>
///
/// There must be no `await` between the begin and the end of a transaction: another call would run inside it.
extension Connection {
  /// Whether a transaction is open. False after SQLite itself rolled one back, for example because the disk is full or
  /// fails. <https://sqlite.org/c3ref/get_autocommit.html>
  package var inTransaction: Bool {
    guard let handle else { return false }
    return sqlite3_get_autocommit(handle) == 0
  }

  /// Begins a transaction and takes the write lock at once, so that a later write can't fail because of the lock.
  /// - Throws: `busy` when another connection holds the lock, `other` inside a transaction.
  package func begin() throws(SQLiteError) { try statement("BEGIN IMMEDIATE").run() }

  /// Commits. With `synchronous=FULL` the changes are on the disk when this returns.
  ///
  /// After an error the transaction may still be open: call ``rollback()``.
  package func commit() throws(SQLiteError) { try statement("COMMIT").run() }

  /// Rolls back the open transaction. Does nothing when there is none, because a failed write may have ended it.
  package func rollback() throws(SQLiteError) {
    guard inTransaction else { return }
    try statement("ROLLBACK").run()
  }

  /// How much a checkpoint does. <https://sqlite.org/c3ref/wal_checkpoint_v2.html>
  package enum CheckpointMode: Sendable {
    /// Copies as much as possible without waiting for other connections.
    case passive
    /// Waits for writers, copies everything, and truncates the log file to zero bytes.
    case truncate

    /// The constant of `sqlite3_wal_checkpoint_v2`.
    var constant: Int32 {
      switch self {
      case .passive: SQLITE_CHECKPOINT_PASSIVE
      case .truncate: SQLITE_CHECKPOINT_TRUNCATE
      }
    }
  }

  /// The result of a checkpoint, in frames (pages) of the log; both numbers are -1 without a log.
  package struct Checkpoint: Sendable, Equatable {
    /// How many frames the log holds.
    package let logFrames: Int32
    /// How many of them are in the database file now.
    package let copiedFrames: Int32
  }

  /// Copies the write-ahead log into the database file.
  ///
  /// Only one connection per file may do this: SQLite 3.7.0 to 3.51.2 can lose data when two connections reset the log
  /// at the same time. <https://sqlite.org/wal.html#walresetbug>
  /// - Throws: `busy` when a reader or writer of another connection prevents it, `locked` inside a transaction.
  @discardableResult
  package func checkpoint(_ mode: CheckpointMode) throws(SQLiteError) -> Checkpoint {
    var log: Int32 = -1
    var copied: Int32 = -1
    try check(sqlite3_wal_checkpoint_v2(try open, nil, mode.constant, &log, &copied))
    return Checkpoint(logFrames: log, copiedFrames: copied)
  }

  /// Starts to update ``loggedFrames`` after each commit. Switches automatic checkpoints off.
  /// <https://sqlite.org/c3ref/wal_hook.html>
  package func countLoggedFrames() throws(SQLiteError) {
    sqlite3_wal_hook(
      try open,
      { count, _, _, frames in
        count?.assumingMemoryBound(to: Int32.self).pointee = frames
        return SQLITE_OK
      }, frames)
  }

  /// How many frames the log had after the latest commit; 0 before the first one, and when ``countLoggedFrames()`` was
  /// not called.
  package var loggedFrames: Int32 { frames.pointee }

  /// Sets the number of frames in the log after which a commit makes a passive checkpoint; 0 for never.
  /// <https://sqlite.org/c3ref/wal_autocheckpoint.html>
  package func setAutomaticCheckpoint(frames: Int32) throws(SQLiteError) {
    try check(sqlite3_wal_autocheckpoint(try open, frames))
  }
}

/// A flag that any thread can raise to stop the statements that run in ``Connection/bounded(until:or:_:)``.
package final class InterruptionFlag: Sendable {
  private let flag = Atomic<Bool>(false)

  /// Makes a flag that is not raised.
  package init() {}

  /// Raises the flag. It can't be lowered again.
  package func raise() { flag.store(true, ordering: .relaxed) }

  /// Whether the flag is raised.
  package var isRaised: Bool { flag.load(ordering: .relaxed) }
}

extension Connection {
  /// How many steps of SQLite's virtual machine run between two checks of the clock. They take about a tenth of a
  /// millisecond, or several times as long when each row of a full-text search is expensive.
  /// <https://sqlite.org/c3ref/progress_handler.html>
  private static let steps: Int32 = 200

  /// The limit of running statements, which SQLite's progress handler checks.
  private final class Bound: Sendable {
    let end: ContinuousClock.Instant
    let flag: InterruptionFlag

    init(_ end: ContinuousClock.Instant, _ flag: InterruptionFlag) {
      self.end = end
      self.flag = flag
    }

    var isReached: Bool { flag.isRaised || ContinuousClock.now >= end }
  }

  /// Runs `body`. Its statements on this connection are interrupted at `end` or when the flag is raised, whichever is
  /// first. Don't nest calls.
  /// - Throws: the errors of `body`; `interrupted` for an interrupted statement, and when the limit is reached before
  ///   `body` runs.
  package func bounded<Result>(
    until end: ContinuousClock.Instant, or flag: InterruptionFlag,
    _ body: () throws -> Result
  ) throws -> Result {
    let database = try open
    let bound = Bound(end, flag)
    guard !bound.isReached else {
      throw SQLiteError(.interrupted, message: "ended before it began")
    }
    sqlite3_progress_handler(
      database, Self.steps,
      { context in
        guard let context else { return 0 }
        return Unmanaged<Bound>.fromOpaque(context).takeUnretainedValue().isReached ? 1 : 0
      }, Unmanaged.passUnretained(bound).toOpaque())
    defer {
      sqlite3_progress_handler(database, 0, nil, nil)
      withExtendedLifetime(bound) {}
    }
    return try body()
  }
}
