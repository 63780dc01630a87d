import CSQLite
import Synchronization

/// Transactions. <https://sqlite.org/lang_transaction.html>
///
/// No `await` may stand between a beginning and its end: another job of the actor would run inside
/// the open transaction.
extension Connection {
  /// Whether a transaction is open. False after SQLite rolled one back by itself, as it may when
  /// the disk is full or fails. <https://sqlite.org/c3ref/get_autocommit.html>
  package var inTransaction: Bool {
    guard let handle else { return false }
    return sqlite3_get_autocommit(handle) == 0
  }

  /// Begins a transaction and takes the write lock at once, so that it cannot fail for it later.
  /// - Throws: `busy` if another connection holds the lock, `other` inside a transaction.
  package func begin() throws(SQLiteError) {
    try statement("BEGIN IMMEDIATE").run()
  }

  /// Commits. With `synchronous=FULL` what was written is on the disk when this returns.
  ///
  /// If it throws, the transaction may be open still: call ``rollback()``.
  package func commit() throws(SQLiteError) {
    try statement("COMMIT").run()
  }

  /// Undoes the open transaction; does nothing if there is none, because a failed write may have
  /// ended it already.
  package func rollback() throws(SQLiteError) {
    guard inTransaction else { return }
    try statement("ROLLBACK").run()
  }
}

extension Connection {
  /// How much a checkpoint does. <https://sqlite.org/c3ref/wal_checkpoint_v2.html>
  package enum CheckpointMode: Sendable {
    /// Copies what it can without waiting for anyone.
    case passive
    /// Waits for writers, then copies all.
    case full
    /// As `full`, and the next writer starts the log anew.
    case restart
    /// As `restart`, and the log's file is cut to nothing.
    case truncate

    /// The constant of `sqlite3_wal_checkpoint_v2`.
    var constant: Int32 {
      switch self {
      case .passive: SQLITE_CHECKPOINT_PASSIVE
      case .full: SQLITE_CHECKPOINT_FULL
      case .restart: SQLITE_CHECKPOINT_RESTART
      case .truncate: SQLITE_CHECKPOINT_TRUNCATE
      }
    }
  }

  /// What a checkpoint found and did, in frames (pages) of the log; both -1 without a log.
  package struct Checkpoint: Sendable, Equatable {
    /// How many frames the log holds.
    package let logFrames: Int32
    /// How many of them are in the database file now.
    package let copiedFrames: Int32
  }

  /// Copies the write-ahead log into the database file.
  ///
  /// One connection per file may do this: SQLite 3.7.0 to 3.51.2 can lose data when two reset the
  /// log at once. <https://sqlite.org/wal.html#walresetbug>
  /// - Throws: `busy` if another connection's reader or writer stands in the way, `locked` inside
  ///   a transaction.
  @discardableResult
  package func checkpoint(_ mode: CheckpointMode) throws(SQLiteError) -> Checkpoint {
    var log: Int32 = -1
    var copied: Int32 = -1
    try check(sqlite3_wal_checkpoint_v2(try open, nil, mode.constant, &log, &copied))
    return Checkpoint(logFrames: log, copiedFrames: copied)
  }

  /// Keeps ``loggedFrames``. Ends automatic checkpoints. <https://sqlite.org/c3ref/wal_hook.html>
  package func countLoggedFrames() throws(SQLiteError) {
    csqlite_count_frames(try open, frames)
  }

  /// How many frames the log held after the latest commit; 0 before the first one, and where
  /// ``countLoggedFrames()`` was not called.
  package var loggedFrames: Int32 { frames.pointee }

  /// Sets after how many frames in the log a commit copies it by itself (passively); 0 never.
  /// <https://sqlite.org/c3ref/wal_autocheckpoint.html>
  package func setAutomaticCheckpoint(frames: Int32) throws(SQLiteError) {
    try check(sqlite3_wal_autocheckpoint(try open, frames))
  }
}

/// Says, from any thread, that what runs on a ``Connection`` is not wanted any more.
package final class InterruptionFlag: Sendable {
  private let flag = Atomic<Bool>(false)

  /// A flag that is not raised.
  package init() {}

  /// Raises the flag for good.
  package func raise() { flag.store(true, ordering: .relaxed) }

  /// Whether the flag is raised.
  package var isRaised: Bool { flag.load(ordering: .relaxed) }
}

extension Connection {
  /// Steps of SQLite's machine between two looks at the clock: about a tenth of a millisecond, or some where each row
  /// takes a full-text search far. <https://sqlite.org/c3ref/progress_handler.html>
  private static let steps: Int32 = 200

  /// When statements have to end, for SQLite to ask while they run.
  private final class Bound: Sendable {
    let end: ContinuousClock.Instant
    let flag: InterruptionFlag

    init(_ end: ContinuousClock.Instant, _ flag: InterruptionFlag) {
      self.end = end
      self.flag = flag
    }

    var isReached: Bool { flag.isRaised || ContinuousClock.now >= end }
  }

  /// Runs `body`, whose statements on this connection end at an instant, or when a flag is raised, whichever is
  /// first. Not to be called inside itself.
  /// - Throws: what `body` throws; its statements throw `interrupted`.
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
