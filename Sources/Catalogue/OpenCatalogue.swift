import Documents
import Glibc
import Hotels
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
    connection = try CatalogueError.translating {
      let connection = try Connection(path: files.database, mode: .readOnly)
      try connection.setCacheSize(kibibytes: Self.cacheSize)
      try connection.addRelevance()
      return connection
    }
    origin = try Self.origin(of: connection)
  }

  /// Whether the pages, the tables and the count of hotels are sound; reads the whole file.
  func isSound() throws -> Bool {
    guard try connection.integrityCheck(.full).isEmpty else { return false }
    let count = try connection.statement("SELECT count(*) FROM hotel").first {
      row in row.int64(0)
    }
    return count == Int64(origin.rows)
  }

  private static func origin(of connection: Connection) throws(CatalogueError) -> CatalogueOrigin {
    let header = try CatalogueError.translating {
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
    guard let origin = try storedOrigin(kind, in: connection) else {
      throw CatalogueError(.damaged, "The hotel catalogue does not say where it came from.")
    }
    return origin
  }

  /// What the table says; nil if it is empty.
  static func storedOrigin(
    _ kind: CatalogueOrigin.Kind, in connection: Connection
  ) throws(CatalogueError) -> CatalogueOrigin? {
    try CatalogueError.translating {
      try connection.statement("SELECT name, rows, date FROM origin").first {
        row in
        CatalogueOrigin(
          kind: kind, name: try row.string(0), rows: Int(row.int64(1)),
          date: Timestamp(milliseconds: row.int64(2)))
      }
    }
  }
}

extension OpenCatalogue {
  /// A hotel as it is stored.
  struct HotelRow: Sendable {
    /// The canonical id.
    let id: String
    /// The hotel's JSON text.
    let body: [UInt8]
  }

  /// The hotels that match, from the query's offset on, one more than its limit where there are more.
  ///
  /// By words: in the query's order, equal ones in an order that stays the same, so that pages neither repeat nor miss
  /// a hotel; a word in the name counts most. Where few have the words as they are, hotels follow that have what was
  /// probably meant. By phrase: in the catalogue's order.
  func search(_ query: HotelQuery) throws -> CatalogueSearch.Found {
    try CatalogueSearch(connection, query).found(amongAll: origin.rows)
  }

  /// The hotel with a canonical id.
  func row(_ id: String) throws -> HotelRow? {
    try connection.statement("SELECT id, body FROM hotel WHERE id = ?1").first(
      .text(id), row: HotelRow.init)
  }
}

extension OpenCatalogue.HotelRow {
  /// Reads the columns `id` and `body`.
  init(_ row: borrowing Row) throws {
    (id, body) = (try row.string(0), row.bytes(1))
  }
}

/// What tells one file at a path from the next: both a replaced and a rewritten file differ.
struct FileIdentity: Equatable, Sendable {
  private let device: UInt64
  private let inode: UInt64
  private let size: Int64
  private let seconds: Int64
  private let nanoseconds: Int64

  /// The file at `path` as it is now; nil if there is none, or it can't be looked at.
  init?(path: String) {
    var status = stat()
    guard stat(path, &status) == 0 else { return nil }
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
    size = Int64(status.st_size)
    seconds = Int64(status.st_mtim.tv_sec)
    nanoseconds = Int64(status.st_mtim.tv_nsec)
  }
}
