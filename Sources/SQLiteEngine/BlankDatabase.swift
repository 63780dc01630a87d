import SQLite
import Stores

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
  init(_ schema: Schema) throws(SQLiteError) {
    self.schema = schema
    let connection = try Connection.inMemory()
    try schema.create(in: connection)
    definitions = try Schema.definitions(in: connection)
  }

  /// The bytes of a new file.
  /// - Parameter fill: writes the first rows.
  func image(
    _ fill: (Connection) throws(SQLiteError) -> Void
  ) throws(SQLiteError) -> [UInt8] {
    let connection = try Connection.inMemory()
    try schema.create(in: connection)
    try fill(connection)
    let bytes = try Self.image(of: connection)
    try connection.close()
    return bytes
  }

  /// The bytes of a new file that holds what a database in memory does.
  static func image(of connection: Connection) throws(SQLiteError) -> [UInt8] {
    var bytes = try connection.serialize()
    // A database in memory can't have a log; these two bytes say that the file has one, which spares
    // the transaction of a change afterwards. https://sqlite.org/fileformat.html#file_format_version_numbers
    for place in [18, 19] where bytes.indices.contains(place) { bytes[place] = 2 }
    return bytes
  }
}
