import CSQLite

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
