import Lanes
import SQLite
import Stores

/// Makes the files of new stores from one blank database that is kept in memory, on a lane: making its tables
/// took as long as all that a new store needs besides.
actor NewStores {
  private let lane: Lane
  private let connection: Connection

  nonisolated var unownedExecutor: UnownedSerialExecutor { lane.asUnownedSerialExecutor() }

  /// Makes the blank database.
  init(_ blank: BlankDatabase, lane: Lane) throws {
    self.lane = lane
    connection = try Connection.inMemory()
    try blank.schema.create(in: connection)
  }

  /// The bytes of a new store's file.
  func image(_ header: StoreHeader) throws -> [UInt8] {
    try connection.begin()
    do {
      try header.write(to: connection)
      let bytes = try BlankDatabase.image(of: connection)
      // So that no store's file has anything of the one before.
      try connection.rollback()
      return bytes
    } catch {
      try connection.rollback()
      throw error
    }
  }
}

/// A new database of ours, complete, as the bytes of its file; and what one looks like.
///
/// A store's file is never built up in place: it is written whole under another name, so that a crash
/// leaves either no store or all of it.
struct BlankDatabase: Sendable {
  /// The tables.
  let schema: Schema
  /// Their definitions as SQLite keeps them; every file of this version has the same.
  let definitions: [String]

  /// Makes the tables once to see what they look like.
  init(_ schema: Schema) throws {
    self.schema = schema
    let connection = try Connection.inMemory()
    try schema.create(in: connection)
    definitions = try Schema.definitions(in: connection)
  }

  /// The bytes of a new file.
  /// - Parameter fill: writes the first rows.
  func image(
    _ fill: (Connection) throws -> Void
  ) throws -> [UInt8] {
    let connection = try Connection.inMemory()
    try schema.create(in: connection)
    try fill(connection)
    let bytes = try Self.image(of: connection)
    try connection.close()
    return bytes
  }

  /// The bytes of a new file that holds what a database in memory does.
  static func image(of connection: Connection) throws -> [UInt8] {
    var bytes = try connection.serialize()
    // A database in memory can't have a log; these two bytes say that the file has one, which spares
    // the transaction of a change afterwards. https://sqlite.org/fileformat.html#file_format_version_numbers
    for place in [18, 19] where bytes.indices.contains(place) { bytes[place] = 2 }
    return bytes
  }
}
