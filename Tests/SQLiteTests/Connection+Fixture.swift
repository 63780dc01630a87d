import SQLite

extension Connection {
  /// A database in memory with the empty table `item(id TEXT UNIQUE, value)`.
  static func withItems() throws -> Connection {
    let connection = try Connection.inMemory()
    try connection.makeItems()
    return connection
  }

  /// Makes the empty table `item(id TEXT UNIQUE, value)`.
  func makeItems() throws {
    try execute("CREATE TABLE item (id TEXT UNIQUE, value)")
  }

  /// Adds an item with this id.
  func add(_ id: String) throws(SQLiteError) {
    try statement("INSERT INTO item (id) VALUES (?)").run(.text(id))
  }

  /// All ids in the order they were added.
  func ids() throws -> [String] {
    try statement("SELECT id FROM item ORDER BY rowid").all { row throws(SQLiteError) in
      try row.string(0)
    }
  }
}

/// The code of the error that `body` throws; nil if it throws none.
func code(_ body: () throws -> Void) -> SQLiteError.Code? {
  do {
    try body()
    return nil
  } catch let error as SQLiteError {
    return error.code
  } catch {
    return nil
  }
}
