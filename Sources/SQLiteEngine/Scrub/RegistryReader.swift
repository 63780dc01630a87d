import SQLite
import Stores

/// Reads a registry's file without a trace: which stores a directory that nobody uses is said to hold.
struct RegistryReader {
  private let connection: Connection

  /// Opens the file.
  /// - Throws: `damaged`, `unavailable`.
  init(_ file: DatabaseFile) throws(StoreError) {
    connection = try Connection.inspecting(file, as: .registry)
  }

  /// What SQLite finds wrong with it; empty if nothing.
  func findings() throws(StoreError) -> [String] {
    try storing { () throws(SQLiteError) in try connection.integrityCheck(.full) }
  }

  /// How many entries there are.
  func count() throws(StoreError) -> Int {
    let count = try storing { () throws(SQLiteError) in
      try connection.statement("SELECT count(*) FROM stores").first { row throws(SQLiteError) in
        row.int64(0)
      }
    }
    return Int(clamping: count ?? 0)
  }

  /// Visits every entry, by key; one that fails its checksum, or is no store's, is nil.
  func visit(_ body: (_ key: String, Registry.Entry?) -> Void) throws(StoreError) {
    let statement = try storing { () throws(SQLiteError) in
      try connection.statement("SELECT key, epoch, is_erasing, checksum FROM stores ORDER BY key")
    }
    defer { statement.reset() }
    while try storing(statement.step) {
      let row = statement.row
      let (key, epoch) = try storing { () throws(SQLiteError) in
        (try row.string(0), try row.string(1))
      }
      let entry = Registry.Entry(epoch: epoch, isErasing: row.int64(2) != 0)
      let isSound =
        row.int64(3) == Registry.checksum(key, entry) && StoreName(key: key) != nil
      body(key, isSound ? entry : nil)
    }
  }
}
