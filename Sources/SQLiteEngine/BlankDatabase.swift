import SQLite
import Scheduling
import Stores

/// Makes the files of new stores from one blank database that is kept in memory.
///
/// Creating the tables for each new store would take as long as all the other work for it.
struct NewStores: Sendable {
  private let connection: Confined<Connection>

  /// Creates the blank database in memory.
  init(_ blank: BlankDatabase, on threads: ThreadPool) throws {
    connection = Confined(try blank.inMemory(), to: threads)
  }

  /// The bytes of a new store's file.
  func image(_ header: StoreHeader) async throws -> [UInt8] {
    try await connection.run { connection in
      try connection.begin()
      do {
        try header.write(to: connection)
        let bytes = try BlankDatabase.image(of: connection)
        // The rollback makes sure that no store's file contains data of the previous one.
        try connection.rollback()
        return bytes
      } catch {
        try connection.rollback()
        throw error
      }
    }
  }
}

/// The complete bytes of new database files, and the definitions that each file may have.
///
/// A store's file is never built in place. The engine writes the whole file under another name, so that a crash leaves
/// either no store or a complete one.
struct BlankDatabase: Sendable {
  /// The tables.
  let schema: Schema
  /// The definitions of the tables and indexes.
  let definitions: SchemaDefinitions

  /// Creates the tables once in memory to read their definitions.
  init(_ schema: Schema) throws {
    self.schema = schema
    let connection = try Connection.inMemory()
    try schema.create(in: connection)
    definitions = try SchemaDefinitions(of: schema, droppingDeferredFrom: connection)
  }

  /// A database in memory with the tables of a new file.
  func inMemory() throws -> Connection {
    let connection = try Connection.inMemory()
    try schema.create(in: connection)
    try connection.execute(schema.dropsDeferred)
    return connection
  }

  /// Returns the bytes of a new file.
  /// - Parameter fill: writes the first rows.
  func image(_ fill: (Connection) throws -> Void) throws -> [UInt8] {
    let connection = try inMemory()
    try fill(connection)
    let bytes = try Self.image(of: connection)
    try connection.close()
    return bytes
  }

  /// Returns the bytes of a file with the content of a database in memory.
  static func image(of connection: Connection) throws -> [UInt8] {
    var bytes = try connection.serialize()
    // A database in memory can't have a write-ahead log. These two bytes say that the file has one, so that no later
    // transaction is needed to change that. https://sqlite.org/fileformat.html#file_format_version_numbers
    for index in [18, 19] where bytes.indices.contains(index) { bytes[index] = 2 }
    return bytes
  }
}
