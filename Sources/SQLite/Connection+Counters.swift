import CSQLite

extension Connection {
  /// The row id of the latest successful insertion on this connection; 0 before the first.
  /// <https://sqlite.org/c3ref/last_insert_rowid.html>
  package var lastInsertRowID: Int64 {
    guard let handle else { return 0 }
    return sqlite3_last_insert_rowid(handle)
  }

  /// How many rows the latest `INSERT`, `UPDATE` or `DELETE` touched, triggers not counted.
  /// <https://sqlite.org/c3ref/changes.html>
  package var changes: Int64 {
    guard let handle else { return 0 }
    return sqlite3_changes64(handle)
  }

  /// How many pages this connection has written, to the log or the file, since it was opened; begins anew after
  /// 2³¹. <https://sqlite.org/c3ref/c_dbstatus_options.html>
  package func writtenPages() throws(SQLiteError) -> Int64 {
    var count: Int32 = 0
    var highest: Int32 = 0
    try check(
      sqlite3_db_status(try open, SQLITE_DBSTATUS_CACHE_WRITE, &count, &highest, 0))
    return Int64(count)
  }

  /// How long a call waits for another connection's lock before it throws `busy`, in
  /// milliseconds; 0 never waits. <https://sqlite.org/c3ref/busy_timeout.html>
  package func setBusyTimeout(milliseconds: Int32) throws(SQLiteError) {
    try check(sqlite3_busy_timeout(try open, milliseconds))
  }
}
