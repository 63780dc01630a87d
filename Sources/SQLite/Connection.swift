import CSQLite

/// One open database: a file, or a database in memory.
///
/// Not `Sendable`, on purpose: a connection is confined to its owner, such as a value in a `Confined`.
/// SQLite's own mutexes are off (`SQLITE_OPEN_NOMUTEX`), which is safe only because of this confinement.
/// <https://sqlite.org/threadsafe.html>
///
/// After ``close()`` every call throws ``SQLiteError/Code/misuse``.
package final class Connection {
  /// SQLite's handle; nil once closed.
  private(set) var handle: OpaquePointer?
  /// The prepared statements, by the address of their SQL literal.
  private var statements: [UInt: Statement] = [:]
  /// The prepared statements whose SQL consists of two literals.
  private var joinedStatements: [JoinedKey: Statement] = [:]

  /// The key of a statement of two literals: their addresses.
  private struct JoinedKey: Hashable {
    let head: UInt
    let tail: UInt
  }
  /// The length of the log after the latest commit, which SQLite reports; see ``loggedFrames``.
  let frames = UnsafeMutablePointer<Int32>.allocate(capacity: 1)
  /// How many unfinished backups copy from or into this database.
  var unfinishedBackups = 0

  /// Opens the file at `path` and reads its header, so that a damaged file fails here and not later.
  ///
  /// No element of `path` may be a symbolic link (`SQLITE_OPEN_NOFOLLOW`); resolve the directory first if it may
  /// contain one. A relative path is always a file: `:memory:` and the empty path have no special meaning.
  ///
  /// - Parameter busyTimeout: how long to wait for another connection's lock, in milliseconds.
  /// - Parameter exclusive: whether this connection locks the file for itself before it reads. The log's index is then
  ///   in memory and needs no file, and consecutive writes are combined; see ``ExclusiveFiles``.
  /// - Throws: `cantOpen` (absent, link, no permission, out of descriptors), `notADatabase`, `corrupt`, `busy`,
  ///   `ioError`. An empty file opens: to SQLite it is an empty database.
  package convenience init(
    path: String, mode: Mode, busyTimeout: Int32 = 0, exclusive: Bool = false
  ) throws(SQLiteError) {
    guard !path.isEmpty, !path.utf8.contains(0) else {
      throw SQLiteError(.cantOpen, message: "the path is empty or holds a NUL")
    }
    let file = path.utf8.first == UInt8(ascii: "/") ? path : "./" + path
    let system = exclusive ? ExclusiveFiles.name : nil
    try self.init(name: file, flags: mode.flags | SQLITE_OPEN_NOFOLLOW, system: system)
    try setBusyTimeout(milliseconds: busyTimeout)
    try execute("PRAGMA schema_version")
    // Only after the first read: before it, SQLite would allocate the whole index of the log from its own memory and
    // write to all of it.
    if exclusive { try execute("PRAGMA locking_mode = EXCLUSIVE") }
  }

  /// Opens a new, empty database in memory, which no other connection sees.
  package static func inMemory() throws(SQLiteError) -> Connection {
    try Connection(name: ":memory:", flags: SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY)
  }

  /// Opens a database by SQLite's `name` for it; reads nothing yet.
  /// - Parameter system: the name of SQLite's layer over the operating system (a VFS); nil for the usual one.
  init(name: String, flags: Int32, system: String? = nil) throws(SQLiteError) {
    frames.initialize(to: 0)
    guard sqlite3_threadsafe() != 0 else {
      throw SQLiteError(.misuse, message: "this SQLite is built for one thread only")
    }
    Self.configure
    var opened: OpaquePointer?
    let result = sqlite3_open_v2(
      name, &opened, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, system)
    guard result == SQLITE_OK, let opened else {
      let error = SQLiteError(resultCode: result, database: opened)
      // Even after a failure SQLite returns a handle that must be closed.
      sqlite3_close_v2(opened)
      throw error
    }
    handle = opened
    // 8 KiB instead of the default 48: statements are kept, so there are few allocations afterwards.
    try check(csqlite_set_lookaside(opened, 256, 32))
    try harden()
  }

  deinit {
    // Nothing refers to the connection any more, so no statement runs and closing succeeds.
    finalizeStatements()
    sqlite3_close_v2(handle)
    frames.deallocate()
  }

  /// Finalises the cached statements and closes the database; closing again does nothing.
  ///
  /// - Throws: `misuse` when a ``Backup`` of or into this connection is unfinished; the connection then stays open.
  ///   After closing, its statements throw `misuse`.
  package func close() throws(SQLiteError) {
    guard let handle else { return }
    // SQLite itself detects only backups that copy from this database, not those that copy into it.
    guard unfinishedBackups == 0 else {
      throw SQLiteError(.misuse, message: "closed while a backup is unfinished")
    }
    finalizeStatements()
    // Not `sqlite3_close_v2`: it would keep the connection half open instead of reporting an unfinalised statement.
    try check(sqlite3_close(handle))
    self.handle = nil
  }

  /// Runs a script of constant SQL, statement by statement, and discards any rows.
  ///
  /// Not atomic: when a statement fails, the effects of the statements before it remain, unless a transaction surrounds
  /// the script.
  package func execute(_ sql: StaticString) throws(SQLiteError) {
    try check(sqlite3_exec(try open, try pointer(sql), nil, nil, nil))
  }

  /// Creates a table or an index.
  /// - Parameter definition: the statement that the schema of a database of this service has; never a client's text.
  package func create(_ definition: String) throws(SQLiteError) {
    try check(sqlite3_exec(try open, definition, nil, nil, nil))
  }

  /// The statement for `sql`: prepared at the first call, the same object at every later call.
  ///
  /// The key is the literal's address, so that the look-up compares no text.
  /// - Throws: `other` for an error in the SQL, `misuse` if `sql` is not exactly one statement.
  package func statement(_ sql: StaticString) throws(SQLiteError) -> Statement {
    let text = try pointer(sql)
    let key = UInt(bitPattern: text)
    if let known = statements[key] { return known }
    let made = try Statement(preparing: text, byteCount: sql.utf8CodeUnitCount, on: try open)
    statements[key] = made
    return made
  }

  /// Runs the statement for `sql` with these values, and discards its rows.
  package func run(_ sql: StaticString, _ bindings: Binding...) throws(SQLiteError) {
    let statement = try statement(sql)
    try statement.start(bindings)
    defer { statement.reset() }
    while try statement.step() {}
  }

  /// The integer in the first column of the statement's first row; nil if there is no row.
  package func integer(_ sql: StaticString, _ bindings: Binding...) throws(SQLiteError) -> Int64? {
    let statement = try statement(sql)
    try statement.start(bindings)
    defer { statement.reset() }
    return try statement.step() ? statement.row.int64(0) : nil
  }

  /// The statement with the SQL `head`, a space and `tail`, for statements that have a long beginning in common.
  /// - Throws: the same errors as ``statement(_:)``.
  package func statement(_ head: StaticString, _ tail: StaticString) throws -> Statement {
    // The key needs both addresses, because the same literal has the same address everywhere.
    let key = JoinedKey(
      head: UInt(bitPattern: try pointer(head)), tail: UInt(bitPattern: try pointer(tail)))
    if let known = joinedStatements[key] { return known }
    let (text, database) = (head.description + " " + tail.description, try open)
    let made = try text.withCString { bytes in
      try Statement(preparing: bytes, byteCount: text.utf8.count, on: database)
    }
    joinedStatements[key] = made
    return made
  }

  /// SQLite's handle of an open connection; throws `misuse` after closing.
  var open: OpaquePointer {
    get throws(SQLiteError) {
      guard let handle else { throw SQLiteError(.misuse, message: "the connection is closed") }
      return handle
    }
  }

  /// Throws the error of `result` unless it is `SQLITE_OK`.
  func check(_ result: Int32) throws(SQLiteError) {
    guard result == SQLITE_OK else { throw SQLiteError(resultCode: result, database: handle) }
  }

  /// Frees the memory of all statements and of cached pages; what is needed again is made again. Statements obtained
  /// before throw `misuse` from now on.
  package func forgetStatements() throws(SQLiteError) {
    finalizeStatements()
    try execute("PRAGMA shrink_memory")
  }

  private func finalizeStatements() {
    for statement in statements.values { statement.finalize() }
    statements.removeAll()
    for statement in joinedStatements.values { statement.finalize() }
    joinedStatements.removeAll()
  }

  private func pointer(_ sql: StaticString) throws(SQLiteError) -> UnsafePointer<CChar> {
    guard sql.hasPointerRepresentation else {
      throw SQLiteError(.misuse, message: "the SQL is a single scalar")
    }
    return UnsafeRawPointer(sql.utf8Start).assumingMemoryBound(to: CChar.self)
  }

  /// Switches off features that only a hostile or careless script needs: writes to the schema table and to shadow
  /// tables, functions with side effects in a schema, and double quotes around text, which would turn a misspelt column
  /// into a constant. <https://sqlite.org/security.html>
  private func harden() throws(SQLiteError) {
    let database = try open
    try check(csqlite_db_config_switch(database, SQLITE_DBCONFIG_DEFENSIVE, 1))
    try check(csqlite_db_config_switch(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0))
    try check(csqlite_db_config_switch(database, SQLITE_DBCONFIG_DQS_DDL, 0))
    try check(csqlite_db_config_switch(database, SQLITE_DBCONFIG_DQS_DML, 0))
  }

  /// Adds the function `relevance(table, phrases, weight…)` to this connection. It returns how well a row of a full-text
  /// index matches, lower for better rows, like `bm25()` of FTS5. Rows with one of the first `phrases` phrases of the
  /// expression come first. The last column does not count for the length of a row.
  ///
  /// Before the first row `bm25()` counts all rows that contain each word, in one call that ``bounded(until:or:_:)``
  /// can't interrupt. `relevance` counts the first 4,096 and estimates the others from their ids, which must count from
  /// 1.
  package func addRelevance() throws(SQLiteError) { try check(csqlite_add_relevance(try open)) }

  /// How a database file is opened. <https://sqlite.org/c3ref/open.html>
  package enum Mode: Sendable {
    /// Reads and writes a file that must exist.
    case readWrite
    /// Reads and writes; makes an empty file when it is absent.
    case readWriteCreate
    /// Reads only; the file must exist.
    case readOnly

    /// The flags of `sqlite3_open_v2` for this mode.
    var flags: Int32 {
      switch self {
      case .readWrite: SQLITE_OPEN_READWRITE
      case .readWriteCreate: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
      case .readOnly: SQLITE_OPEN_READONLY
      }
    }
  }

  /// Looks for damage in the structure of all pages, and in the indexes.
  /// <https://sqlite.org/pragma.html#pragma_integrity_check>
  ///
  /// Damage that prevents SQLite from reading further is the last finding, not an error. The time is proportional to
  /// the size of the file. The check can't detect a changed bit inside a stored value.
  /// - Returns: the findings, about 100 at most; empty when there is no damage.
  package func integrityCheck() throws -> [String] {
    var findings: [String] = []
    do {
      try statement("PRAGMA integrity_check(100)").query { row in
        findings.append(try row.string(0))
      }
    } catch let error as SQLiteError where error.isDamage {
      findings.append(error.message)
    }
    return findings == ["ok"] ? [] : findings
  }

  /// The database as the bytes of a file, including what is still in the log. Written to disk, the bytes are a database
  /// again. <https://sqlite.org/c3ref/serialize.html>
  package func serialize() throws -> [UInt8] {
    var size: sqlite3_int64 = 0
    guard let bytes = sqlite3_serialize(try open, "main", &size, 0) else {
      // SQLite returns NULL for a database that was never written, because it has no pages.
      guard try pageCount() > 0 else { return [] }
      throw SQLiteError(resultCode: SQLITE_NOMEM, database: nil)
    }
    defer { sqlite3_free(bytes) }
    return [UInt8](UnsafeBufferPointer(start: bytes, count: Int(size)))
  }

  /// How long a call waits for another connection's lock before it throws `busy`, in
  /// milliseconds; 0 never waits. <https://sqlite.org/c3ref/busy_timeout.html>
  package func setBusyTimeout(milliseconds: Int32) throws(SQLiteError) {
    try check(sqlite3_busy_timeout(try open, milliseconds))
  }
}
