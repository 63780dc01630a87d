import Documents
import SQLite

/// A catalogue's file, open for reading. Not `Sendable`: confined to the reader that opened it.
struct OpenCatalogue {
  /// The connection.
  let connection: Connection
  /// The file it has open.
  let identity: FileIdentity
  /// Where the catalogue came from.
  let origin: CatalogueOrigin

  /// How much of the file each reader keeps in memory, in KiB; the system's page cache has the rest.
  static let cacheSize: Int32 = 8 * 1024

  /// Opens the catalogue's file.
  /// - Throws: `unavailable` if there is none, it can't be opened or it is of another version of the
  ///   program; `damaged` if it is no catalogue.
  init(_ files: CatalogueFiles) throws(CatalogueError) {
    // Before it is opened: a file that takes its place in between is then noticed at the next look.
    guard let identity = FileIdentity(path: files.database) else {
      throw CatalogueError(.unavailable, "There is no hotel catalogue yet.")
    }
    self.identity = identity
    connection = try CatalogueError.translating { () throws(SQLiteError) in
      let connection = try Connection(path: files.database, mode: .readOnly)
      try connection.setCacheSize(kibibytes: Self.cacheSize)
      return connection
    }
    origin = try Self.origin(of: connection)
  }

  /// Whether the pages, the tables and the count of hotels are sound; reads the whole file.
  func isSound() throws(SQLiteError) -> Bool {
    guard try connection.integrityCheck(.full).isEmpty else { return false }
    let count = try connection.statement("SELECT count(*) FROM hotel").first {
      row throws(SQLiteError) in row.int64(0)
    }
    return count == Int64(origin.rows)
  }

  private static func origin(of connection: Connection) throws(CatalogueError) -> CatalogueOrigin {
    let header = try CatalogueError.translating { () throws(SQLiteError) in
      (id: try connection.applicationID(), version: try connection.userVersion())
    }
    guard let kind = CatalogueOrigin.Kind(applicationID: header.id) else {
      throw CatalogueError(.damaged, "The file of the hotel catalogue is something else.")
    }
    guard header.version == CatalogueSchema.version else {
      throw CatalogueError(
        .unavailable, "The hotel catalogue is of another version; import it again.",
        detail: "version \(header.version)")
    }
    let origin = try CatalogueError.translating { () throws(SQLiteError) in
      try connection.statement("SELECT name, rows, date FROM origin").first {
        row throws(SQLiteError) in
        CatalogueOrigin(
          kind: kind, name: try row.string(0), rows: Int(row.int64(1)),
          date: Timestamp(milliseconds: row.int64(2)))
      }
    }
    guard let origin else {
      throw CatalogueError(.damaged, "The hotel catalogue does not say where it came from.")
    }
    return origin
  }
}
