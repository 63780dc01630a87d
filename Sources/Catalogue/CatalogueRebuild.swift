import Documents
import Hotels
import SQLite

/// Makes an imported catalogue again from its own hotels when this version indexes more of them: other names of their places,
/// their prices. It has the same hotels in the same order, and the same origin.
enum CatalogueRebuild {
  /// The most hotels of a catalogue that is made again at the start, which takes some ten seconds then. A larger one stays as
  /// it is until its next import.
  static let mostHotels = 20_000
  /// How many hotels are in memory at once.
  private static let batch = 200

  static func isNeeded(for catalogue: OpenCatalogue) throws(CatalogueError) -> Bool {
    guard catalogue.origin.rows <= mostHotels else { return false }
    return try CatalogueError.translating {
      try !CatalogueSchema.hasTexts(catalogue.connection)
    }
  }

  /// Replaces the catalogue's file.
  /// - Throws: `busy` during an import, or after one since the catalogue was opened; `damaged`, `storageFull`, `unavailable`.
  ///   The present file remains then.
  static func run(_ catalogue: OpenCatalogue, in files: CatalogueFiles) throws(CatalogueError) {
    let lock = try ImportLock(files)
    defer { withExtendedLifetime(lock) {} }
    guard FileIdentity(path: files.database) == catalogue.identity else {
      throw CatalogueError(.busy, "The hotel catalogue was just replaced.")
    }
    files.removeDraft()
    do throws(CatalogueError) {
      try CatalogueError.translating { try write(catalogue, to: files.draft) }
      try files.publishDraft()
    } catch {
      files.removeDraft()
      throw error
    }
  }

  private static func write(_ catalogue: OpenCatalogue, to path: String) throws {
    let writer = try CatalogueWriter(path: path)
    var last: Int64 = 0
    while true {
      let rows = try catalogue.connection.statement(
        "SELECT seq, id, body FROM hotel WHERE seq > ?1 ORDER BY seq LIMIT ?2"
      ).all(.integer(last), .integer(batch)) { row in
        (seq: row.int64(0), id: try row.string(1), body: row.bytes(2))
      }
      guard let end = rows.last else { break }
      for row in rows {
        guard let id = HotelID(row.id) else {
          throw SQLiteError(.corrupt, message: "a hotel of the catalogue has no id")
        }
        let root = try ParsedJSON(row.body, limits: .document).root
        let hotel = Hotel(id: id, body: try DocumentBody(parsing: row.body))
        _ = try writer.put(hotel, HotelText(root))
      }
      last = end.seq
    }
    try writer.finish(catalogue.origin)
  }
}
