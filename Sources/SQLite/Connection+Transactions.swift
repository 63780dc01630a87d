import CSQLite

/// Transactions and savepoints. <https://sqlite.org/lang_transaction.html>
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

  /// Marks a point inside the transaction that later writes can be undone to. Marks nest.
  ///
  /// Outside a transaction it begins one that does not take the write lock yet.
  package func savepoint() throws(SQLiteError) {
    try statement("SAVEPOINT point").run()
  }

  /// Forgets the latest savepoint and keeps what was written since.
  /// - Throws: `other` if there is no savepoint.
  package func release() throws(SQLiteError) {
    try statement("RELEASE point").run()
  }

  /// Undoes what was written since the latest savepoint, then forgets it; the writes before it
  /// stay in the transaction.
  /// - Throws: `other` if there is no savepoint, as after SQLite undid the whole transaction.
  package func rollbackToSavepoint() throws(SQLiteError) {
    try statement("ROLLBACK TO point").run()
    try release()
  }
}
