import Documents
import Glibc
import Hotels
import SQLite

/// A catalogue's file, open for reading. Not `Sendable`: confined to the reader that opened it.
struct OpenCatalogue {
  let connection: Connection
  let identity: FileIdentity
  let origin: CatalogueOrigin
  /// What searches have found about words.
  private let words = Vocabulary.Known()

  /// The size of each reader's page cache, in KiB. The system's page cache holds the rest.
  static let cacheSize: Int32 = 8 * 1024

  /// Opens the catalogue's file.
  /// - Throws: `unavailable` if there is none, if it can't be opened, or if it is of another edition; `damaged` if
  ///   it is not a catalogue.
  init(_ files: CatalogueFiles) throws(CatalogueError) {
    // The identity is read before the file is opened, so that the next check notices a file that replaces it in
    // between.
    guard let identity = FileIdentity(path: files.database) else {
      throw CatalogueError(.unavailable, "There is no hotel catalogue yet.")
    }
    self.identity = identity
    connection = try CatalogueError.translating {
      let connection = try Connection(path: files.database, mode: .readOnly)
      try connection.setCacheSize(kibibytes: Self.cacheSize)
      try connection.addRelevance()
      // The file is never changed, only replaced. So its lock is taken once and not for each statement.
      try connection.execute("PRAGMA locking_mode = EXCLUSIVE")
      return connection
    }
    origin = try Self.origin(of: connection)
  }

  /// Checks that a file is an imported catalogue of this version.
  /// - Throws: `damaged`, `unavailable`.
  static func requireUsable(_ path: String) throws(CatalogueError) { _ = try origin(ofFile: path) }

  /// The origin of a catalogue of this version.
  /// - Throws: `damaged`, `unavailable`.
  static func origin(ofFile path: String) throws(CatalogueError) -> CatalogueOrigin {
    let connection = try CatalogueError.translating { try Connection(path: path, mode: .readOnly) }
    let origin = try origin(of: connection)
    try CatalogueError.translating { try connection.close() }
    return origin
  }

  /// Whether the pages, the tables and the number of hotels are intact. Reads the whole file.
  func isSound() throws -> Bool {
    guard try connection.integrityCheck().isEmpty else { return false }
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
      throw CatalogueError(.damaged, "The file of the hotel catalogue is not a catalogue.")
    }
    guard header.version == CatalogueSchema.version else {
      throw CatalogueError(
        .unavailable, "The hotel catalogue is of another version; import it again.",
        detail: "version \(header.version), this version knows \(CatalogueSchema.version)")
    }
    let origin = try CatalogueError.translating {
      try connection.statement("SELECT name, rows, date FROM origin").first { row in
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

extension OpenCatalogue {
  struct HotelRow: Sendable {
    /// The canonical id.
    let id: String
    /// The hotel's JSON text.
    let body: [UInt8]
  }

  /// The hotels that match, from the query's offset on, and one more than its limit if there are more.
  ///
  /// By words: in the query's order. Equal hotels have a fixed order, so that pages neither repeat nor skip a
  /// hotel. A word in the name counts most. If few hotels have the exact words, hotels with corrected words follow.
  /// By phrase: in the catalogue's order.
  func search(_ query: HotelQuery) throws -> CatalogueSearch.Found {
    try CatalogueSearch(connection, query, words).find(amongAll: origin.rows)
  }

  /// The hotel with a canonical id.
  func row(_ id: String) throws -> HotelRow? {
    try connection.statement("SELECT id, body FROM hotel WHERE id = ?1").first(
      .text(id), row: HotelRow.init)
  }
}

extension OpenCatalogue.HotelRow {
  /// Reads the columns `id` and `body`.
  init(_ row: borrowing Row) throws { (id, body) = (try row.string(0), row.bytes(1)) }
}

/// The identity of the file at a path. It changes when the file is replaced or rewritten.
struct FileIdentity: Equatable, Sendable {
  private let device: UInt64
  private let inode: UInt64
  private let size: Int64
  private let seconds: Int64
  private let nanoseconds: Int64

  /// The identity of the present file at `path`; nil if there is none, or if it can't be examined.
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
