import CSQLite

/// The scoped forms: each binds its values to parameters 1, 2, …, runs, and resets, also when
/// something throws. Inside `row` the same statement may not be used again (`misuse`).
///
/// Inlinable so that the caller's closure, not a generic one, is what runs for each row.
extension Statement {
  /// Runs to the end and discards any rows.
  package func run(_ bindings: Binding...) throws(SQLiteError) {
    try start(bindings)
    defer { reset() }
    while try step() {}
  }

  /// Calls `row` for every row, in order.
  @inlinable
  package func query(
    _ bindings: Binding..., row: (Row) throws(SQLiteError) -> Void
  ) throws(SQLiteError) {
    try start(bindings)
    defer { reset() }
    while try step() { try row(self.row) }
  }

  /// What `row` makes of the first row; nil if there is none. Further rows are not computed.
  @inlinable
  package func first<R>(
    _ bindings: Binding..., row: (Row) throws(SQLiteError) -> R
  ) throws(SQLiteError) -> R? {
    try start(bindings)
    defer { reset() }
    guard try step() else { return nil }
    return try row(self.row)
  }

  /// What `row` makes of every row, in order.
  @inlinable
  package func all<R>(
    _ bindings: Binding..., row: (Row) throws(SQLiteError) -> R
  ) throws(SQLiteError) -> [R] {
    try start(bindings)
    defer { reset() }
    var rows: [R] = []
    while try step() { rows.append(try row(self.row)) }
    return rows
  }

  /// Binds `bindings`, or leaves the statement reset and throws.
  @usableFromInline
  func start(_ bindings: [Binding]) throws(SQLiteError) {
    try requireIdle()
    do {
      var index: Int32 = 0
      for binding in bindings {
        index &+= 1
        try bind(binding, at: index)
      }
    } catch {
      reset()
      throw error
    }
  }

  /// Throws `misuse` while the statement is between its first row and its reset: running it anew
  /// would pull the rows from under whoever reads them.
  func requireIdle() throws(SQLiteError) {
    guard sqlite3_stmt_busy(handle) == 0 else {
      throw SQLiteError(.misuse, message: "the statement is running already")
    }
  }
}
